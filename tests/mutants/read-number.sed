# A frame that is there twice is shown twice.
# file: tools/trace_read.c
# tests: export.bats a frame that is there twice
s#	       frame->number >= r->number;#	       frame->number < ~0ULL;#
