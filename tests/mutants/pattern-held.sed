# What is held at the end is in no share.
# in: patterns_finish()
# tests: profile_trace.bats in which they began
s/take_held(p);/if (!p->nr) take_held(p);/
