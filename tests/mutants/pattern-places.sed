# What has no positions is random.
# in: patterns_add()
# tests: profile_trace.bats in no share
s/!has_positions(p, record)/0 * has_positions(p, record)/
