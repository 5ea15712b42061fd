# Reset leaves the count of what was overwritten before a resize.
# in: reset_locked()
# tests: interface.py reset: what it empties
/^\tt->carried = 0;/d
