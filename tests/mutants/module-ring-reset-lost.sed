# Reset leaves the count of lost records.
# file: module/core/ring.c
# tests: category.py modes: the newest
/^\t\tatomic64_set(&ring->lost\[class\], 0);/d
