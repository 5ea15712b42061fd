# Pages that were in memory are misses, too.
# in: top_feed_add()
# tests: top.bats worked
s/ \&\& op != IOT_CACHE_MISS)/ \&\& op == 999)/
