# A file's data on another device than the superblock's is not the file's.
# in: iot_bio_is_for_other()
# tests: layers.py devices of a file: XFS
s/return true;/return false;/
