# A signal ends a followed log without a last read.
# file: tools/command_log.c
# tests: tool.bats log --follow
/^static bool follow_wait/,/^}/s#return true;#return !interrupted;#
