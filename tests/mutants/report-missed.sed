# Missed calls are not in the share.
# in: gone()
# tests: export.bats record: what is lost
s#sum_of(s, "lost") + sum_of(s, "missed")#sum_of(s, "lost")#
