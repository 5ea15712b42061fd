# msync without MS_SYNC starts nothing.
# in: add_sync()
# tests: durability.bats each kind of sync
s/fs->flags & MS_SYNC && //
