# Minor numbers are cut to 8 bits.
# file: tools/record.c
# tests: columns.bats
s|device \& 0xfffff)|device \& 0xff)|
