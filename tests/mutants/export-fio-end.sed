# A replay has operations in the order in which they end.
# in: take_fs()
# tests: export_formats.bats export fio: fio moves
s/\.key\.time = fs->time/.key.time = fs->time + fs->latency/
