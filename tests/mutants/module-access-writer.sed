# Only the rights of the opener count for a write.
# file: module/proc/access.c
# tests: hostile_access.py a descriptor that is handed on
s/return current_may() && iot_access_open(file);/return iot_access_open(file);/
