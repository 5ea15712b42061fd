# User 0 has access without a capability if no user was named.
# in: is_named()
# tests: hostile_access.py no access without a capability
s/!uid_eq(uid, GLOBAL_ROOT_UID) && //
