# All keys share one cache.
# in: reuse_add()
# tests: profile_trace.bats reuse: distances
s/&key, sizeof(key))/\&(__u32){ 0 }, sizeof(key))/
