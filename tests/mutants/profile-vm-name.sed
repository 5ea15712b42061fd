# The trace of any machine will do.
# in: machine_of()
# tests: profile_vm.bats mistake
s/!vm_is(machine, name)/false/
