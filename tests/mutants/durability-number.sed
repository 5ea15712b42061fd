# A file that is created is another one, whatever number it has.
# in: add_open()
# tests: durability.bats truncations
s/f = made ? durable_file_make(/f = made \&\& !d->nr ? durable_file_make(/
