# A line that closing the file ends is not carried out.
# in: release_shown()
# tests: interface.py control: lines cut anywhere
s/^\t\tif (in->tail)$/\t\tif (0 \&\& in->tail)/
