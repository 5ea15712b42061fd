# A page number counts pages of 512 bytes.
# file: tools/category_fault.c
# tests: columns.bats
s|PAGE_BYTES 4096|PAGE_BYTES 512|
