# A file that is created is another one, whatever number it has.
# in: add_open()
# tests: durability.bats truncations
s/f = made ? make(/f = made \&\& !d->nr ? make(/
