# A part that begins within a region is where that begins.
# in: part_of()
# tests: guest_terms.bats each part of events all over
s|(part.whole ? 0 : host - r->host)|0|
