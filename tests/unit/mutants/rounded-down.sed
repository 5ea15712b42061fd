# Rounds the reciprocal down: quotients of multiples come out one too small.
s/, ring->nr_slots) + 1;/, ring->nr_slots);/
