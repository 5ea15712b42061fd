# A twentieth of the time is worth a row.
# in: is_row()
# tests: waits.bats tenth
s/WAITS_PERCENT)/WAITS_PERCENT \/ 2)/
