# Reset leaves the count of what the ring had before it was resized.
# in: iot_ring_reset()
# tests: interface.py reset: what it empties
/^\t\tWRITE_ONCE(ring->earlier\[class\], 0);/d
