# Requests belong to calls that are not selected.
# in: add_to_waits()
# tests: waits.bats belong
s/&& !pass_wants(r, record)/\&\& !record/
