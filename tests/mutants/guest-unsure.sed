# Maps that contradict each other are not noticed.
# in: is_same_place()
# tests: guest_terms.bats of an event between two maps
s|return a->guest - a->host == b->guest - b->host;|return true;|
