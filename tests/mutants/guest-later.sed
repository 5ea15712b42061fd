# A map counts as one from before events that began while it was read.
# in: part_at()
# tests: guest_terms.bats of an event between two maps
s|image->maps\[i\].end <= time|image->maps[i].begin - 1000 <= time|
