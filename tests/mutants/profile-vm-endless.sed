# A range of a map may be of any length.
# in: is_data()
# tests: profile_vm.bats hostile
s/part->guest_length > CALL_MOST ||$/false ||/
