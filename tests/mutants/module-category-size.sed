# A size that memory does not allow is refused at start only.
# in: resize_nothing()
# tests: category.py memory: a size above a limit
s/^\tif (!iot_budget_fits(bytes))/\tif (0 \&\& !iot_budget_fits(bytes))/
