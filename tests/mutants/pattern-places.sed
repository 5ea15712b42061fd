# What has no positions is random.
# in: position_of()
# tests: profile_trace.bats in no share
s/!has_positions(/0 * has_positions(/
