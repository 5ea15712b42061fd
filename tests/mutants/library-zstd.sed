# A lack of memory while a frame is unpacked is taken for damage.
# in: unpack()
# tests: library.bats each allocation may fail
s|ZSTD_error_memory_allocation|ZSTD_error_maxCode|
