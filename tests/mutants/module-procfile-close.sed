# A line that closing the file ends is not carried out.
# file: module/proc/procfile.c
# tests: interface.bats control: lines cut anywhere
s/^\tif (in->tail)$/\tif (0 \&\& in->tail)/
