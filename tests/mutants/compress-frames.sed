# A frame that is damaged ends the compression without an error.
# in: copy_frames()
# tests: export.bats cannot be compressed
s#return !err \&\& r->damaged ? -EBADMSG : err;#return err;#
