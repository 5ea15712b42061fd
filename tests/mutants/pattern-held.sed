# What is held at the end is in no share.
# in: patterns_finish()
# tests: profile_trace.bats in which they began
/take_held(p)/d
