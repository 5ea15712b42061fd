# A log that cannot be read to its end is no error.
# in: log_text()
# tests: tool.bats log: without --follow a target
s#err = n < 0 ? -errno : 0;#err = 0;#
