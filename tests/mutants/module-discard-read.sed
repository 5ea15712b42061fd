# In mode discard records that were read make no room.
# in: has_room()
# tests: category.py modes: the newest
s/READ_ONCE(ring->base) < ring->keep)/READ_ONCE(ring->first) < ring->keep)/
