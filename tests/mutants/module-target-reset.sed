# Reset leaves the count of what was overwritten before a resize.
# file: module/proc/target.c
# tests: interface.py reset: what it empties
/^\tt->carried = 0;/d
