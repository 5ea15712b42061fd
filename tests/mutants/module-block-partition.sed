# The partition is always the whole disk.
# file: module/probe/block.c
# tests: fields.py second partition
s/^\te->partition = .*;/\te->partition = 0;/
