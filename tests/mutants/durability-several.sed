# A flush of one of the disks of a filesystem does not prove what another one has.
# in: durable_disk_learn()
# tests: durability.bats writeback
s/disk->several |=/disk->several \&=/
