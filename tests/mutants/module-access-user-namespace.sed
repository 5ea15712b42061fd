# A member of the group may be in a user namespace.
# in: is_named()
# tests: hostile_access.py the group that root named
s/current_user_ns() != &init_user_ns ||/0 ||/
