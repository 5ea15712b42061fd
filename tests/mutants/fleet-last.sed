# The file of _trace gets its name first.
# in: fleet_publish()
# tests: fleet.bats is ended
s/give_name(f, f->files\[i\])/give_name(f, f->files[f->nr - 1 - i])/
