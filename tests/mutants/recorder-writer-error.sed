# An error of the writer is not that of the recording.
# in: recorder_finish()
# tests: export.bats a full disk
# tests: export.bats a file that may not grow
s#r->writer.error \&\& !r->error#0#
