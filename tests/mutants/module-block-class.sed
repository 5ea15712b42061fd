# A file of exactly 256 KiB is of the next class.
# in: class_of_size()
# tests: block.py block: writeback names the process
s/while (size > limit && class/while (size >= limit \&\& class/
