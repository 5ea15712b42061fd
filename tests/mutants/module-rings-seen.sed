# Of the two counts of a ring only the first is added to seen.
# in: count_shard()
# tests: category.py modes: the newest
s/stats->seen += iot_ring_seen(ring, 0) + iot_ring_seen(ring, 1);/stats->seen += iot_ring_seen(ring, 0);/
