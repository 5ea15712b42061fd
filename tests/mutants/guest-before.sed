# The map from before an event does not count.
# in: part_at()
# tests: guest_terms.bats of an event between two maps
s|	if (i)$|	if (!image)|
