# Reset leaves the count of lost records.
# in: iot_ring_reset()
# tests: category.py modes: the newest
/^\t\tatomic64_set(&ring->lost\[class\], 0);/d
