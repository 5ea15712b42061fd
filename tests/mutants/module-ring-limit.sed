# Records that a smaller max_events has dropped come back with a larger one.
# in: iot_ring_limit()
# tests: interface.py bounds: ring_memory_limit
s/^\tiot_ring_hide(ring, from);/\tiot_ring_hide(ring, 0 * from);/
