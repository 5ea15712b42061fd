# A request gets any lane that is free.
# in: take_free()
# tests: perfetto.bats as many lanes
s/free - 1\]/0]/; s/l->lanes + free - 1, l->lanes + free, (l->nr - free + 1)/l->lanes, l->lanes + 1, l->nr/
