# Missed calls are not in the share.
# file: tools/report.c
# tests: export.bats record: what is lost
s#sum_of(s, "lost") + sum_of(s, "missed")#sum_of(s, "lost")#
