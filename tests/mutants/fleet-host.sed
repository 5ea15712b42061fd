# A percent sign in the name of a host stays.
# in: name_host()
# tests: fleet.bats called anything
s/0123456789-/0123456789%-/
