# The kernel takes half of the second word of a timeout from a 32-bit program.
# in: read_words()
# tests: epoll.py calls of 32-bit programs
s/if (f->is_32)/if (0)/
