# Records that a smaller max_events has dropped come back with a larger one.
# file: module/core/ring.c
# tests: interface.py bounds: ring_memory_limit
s/^\tiot_ring_hide(ring, from);/\tiot_ring_hide(ring, 0 * from);/
