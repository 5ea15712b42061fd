# CAP_SYS_PTRACE does not show addresses.
# in: iot_access_addresses()
# tests: hostile_access.py addresses of other processes
/CAP_SYS_PTRACE/d
