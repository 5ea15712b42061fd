# The map from before an event does not count.
# file: tools/guest.c
# tests: guest_terms.bats of an event between two maps
s|	if (i)$|	if (!image)|
