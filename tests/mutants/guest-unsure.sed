# Maps that contradict each other are not noticed.
# file: tools/guest.c
# tests: guest_terms.bats of an event between two maps
s|if (is_same_place(before, after))|if (before \&\& after)|
