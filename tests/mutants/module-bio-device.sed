# A file's data on another device than the superblock's is not the file's.
# file: module/file/bio.c
# tests: layers.py devices of a file: XFS
s/return true;/return false;/
