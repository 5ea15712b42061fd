# Hides the records that were put below the first index.
s/base = READ_ONCE(ring->base)/base = ring->first/
