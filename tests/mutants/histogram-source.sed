# Devices of two hosts are one.
# in: add_access()
# tests: histogram.bats two hosts
s/a.owner.source = .*/a.owner.source = 0;/
