# The last page of a file, which is not full, is not counted.
# in: record_as()
# tests: fields.py pages that are read from disk
s/DIV_ROUND_UP_ULL(i_size_read(inode), PAGE_SIZE)/i_size_read(inode) >> PAGE_SHIFT/
