# A file of exactly 256 KiB is of the next class.
# file: module/probe/block.c
# tests: block.py block: writeback names the process
s/while (size > limit && class/while (size >= limit \&\& class/
