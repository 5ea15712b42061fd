# Reset leaves the count of what the ring had before it was resized.
# file: module/core/ring.c
# tests: interface.py reset: what it empties
/^\t\tWRITE_ONCE(ring->earlier\[class\], 0);/d
