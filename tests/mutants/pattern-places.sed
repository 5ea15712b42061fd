# What has no positions is random.
# in: position_of()
# tests: profile_trace.bats in no share
s/to->kind = POSITION_MISSING/to->kind += 0/
