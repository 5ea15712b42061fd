# Accesses follow each other in the order in which they ended.
# in: patterns_open_placed()
# tests: profile_vm.bats began
s/\.held = xreallocarray.*sizeof(\*p->held)) /.held = NULL /
