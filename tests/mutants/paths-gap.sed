# Paths whose numbers are far apart are stored.
# in: make_place()
# tests: export.bats a path whose number
s#i >= names->nr + PATHS_GAP#0#
