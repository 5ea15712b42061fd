# In mode discard one record too many is taken.
# file: module/record/category.c
# tests: category.py modes: the newest
s/READ_ONCE(ring->base) < ring->keep)/READ_ONCE(ring->base) <= ring->keep)/
