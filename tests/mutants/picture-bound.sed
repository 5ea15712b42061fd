# A picture has no bound.
# in: svg_mark()
# tests: histogram.bats a picture is a whole file
s/if (s->marks == SVG_MARKS)/if (0)/
