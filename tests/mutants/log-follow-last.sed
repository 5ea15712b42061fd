# A signal ends a followed log without a last read.
# in: follow_wait()
# tests: tool.bats log --follow
/^bool follow_wait/,/^}/s#return true;#return !interrupted;#
