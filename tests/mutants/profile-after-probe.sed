# The access after a probe is random.
# file: tools/profile.c
# tests: profile.bats
s#access->has_no_past = probing \&\& i > first;#access->has_no_past = false;#
