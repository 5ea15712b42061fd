# A frame that is damaged ends the compression without an error.
# file: tools/trace_compress.c
# tests: export.bats cannot be compressed
s#return !err \&\& r->damaged ? -EBADMSG : err;#return err;#
