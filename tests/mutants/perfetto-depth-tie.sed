# A request that follows another one is there at the same time.
# in: is_before()
# tests: perfetto.bats as many lanes
s/!a->begins \&\& b->begins/a->begins \&\& !b->begins/
