# Paths whose numbers are far apart are stored.
# file: tools/names.c
# tests: export.bats a path whose number
s#i >= names->nr + NAMES_GAP#0#
