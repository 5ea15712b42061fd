# A page that was asked for counts as read ahead.
# in: read_page()
# tests: cache_sim.bats page cache
s/if (page->missed)/if (0)/
