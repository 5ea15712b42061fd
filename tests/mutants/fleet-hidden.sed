# Hidden files stay where an export failed.
# in: fleet_close()
# tests: fleet.bats is ended
s/if (file->made)/if (0)/
