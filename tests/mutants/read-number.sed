# A frame that is there twice is shown twice.
# in: read_frame()
# tests: export.bats a frame that is there twice
s#	       frame->number >= r->number;#	       frame->number < ~0ULL;#
