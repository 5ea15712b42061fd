# A write with O_APPEND is where the position of the file is.
# file: module/probe/cache.c
# tests: cache.py HIT and MISS of writes
s/u64 from = iocb->ki_flags & IOCB_APPEND ?/u64 from = 0 ?/
