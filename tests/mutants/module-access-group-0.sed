# Group 0 has access if no group was named.
# in: is_named()
# tests: hostile_access.py the group that root named
s/!gid_eq(gid, GLOBAL_ROOT_GID) && //
