# User 0 has access without a capability if no user was named.
# file: module/proc/access.c
# tests: hostile_access.py no access without a capability
s/!uid_eq(uid, GLOBAL_ROOT_UID) && //
