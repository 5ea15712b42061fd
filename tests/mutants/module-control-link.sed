# A hard link stays listed if the number of events behind it is refused.
# in: add_to()
# tests: interface.py paths: hard links
/^static int add_to(/,/^}/s/^\tif (err)$/\tif (err \&\& old)/
