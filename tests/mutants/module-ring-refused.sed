# What mode discard refuses is not counted as seen.
# file: module/core/ring.h
# tests: category.py modes: the newest
/^\tatomic64_inc(&ring->refused\[class\]);/d
