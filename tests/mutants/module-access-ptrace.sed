# CAP_SYS_PTRACE does not show addresses.
# file: module/proc/access.c
# tests: hostile_access.py addresses of other processes
/CAP_SYS_PTRACE/d
