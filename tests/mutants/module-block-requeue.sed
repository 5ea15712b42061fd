# The number of times that a request came back is not counted.
# file: module/probe/block.c
# tests: block.py the host is busy
/^\tp->e.requeues++;/d
