# In mode discard one record too many is taken.
# in: has_room()
# tests: category.py modes: the newest
s/READ_ONCE(ring->base) < ring->keep)/READ_ONCE(ring->base) <= ring->keep)/
