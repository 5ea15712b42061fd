# What mode discard refuses is not counted as seen.
# in: iot_ring_refuse()
# tests: category.py modes: the newest
/^\tatomic64_inc(&ring->refused\[class\]);/d
