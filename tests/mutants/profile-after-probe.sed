# The access after a probe is random.
# in: mark_probes()
# tests: profile.bats
s#access->has_no_past = probing \&\& i > first;#access->has_no_past = false;#
