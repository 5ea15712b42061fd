# A FIFO is traced.
# in: check_file()
# tests: interface.py errors: each has its errno
s/if (!S_ISREG(inode->i_mode) && !S_ISBLK(inode->i_mode))/if (S_ISSOCK(inode->i_mode))/
