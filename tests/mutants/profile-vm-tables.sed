# An access to a table is one to all that the table describes.
# in: is_data()
# tests: profile_vm.bats hand
s/return !part->whole || .*;/return true;/
