# A write with O_APPEND is where the position of the file is.
# in: probe_write()
# tests: cache.py HIT and MISS of writes
s/u64 from = iocb->ki_flags & IOCB_APPEND ?/u64 from = 0 ?/
