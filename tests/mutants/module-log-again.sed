# A log that is read on shows again what it has shown.
# in: take_view()
# tests: category.py log: the same in any chunk
s/^\t\tif (!again)$/\t\tif (1)/
