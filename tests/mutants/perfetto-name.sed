# A thread keeps its first name.
# in: perfetto_thread()
# tests: perfetto.bats takes another name
s/new || memcmp(.*PERFETTO_COMM)/new/
