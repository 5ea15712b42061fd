# Only the rights of the opener count for a write.
# in: iot_access_write()
# tests: hostile_access.py a descriptor that is handed on
s/return current_may() && iot_access_open(file);/return iot_access_open(file);/
