# The share of lost events is that of the recorded ones.
# in: happened()
# tests: export.bats record: what is lost
s#return sum_of(s, "events") + gone(s);#return sum_of(s, "events");#
