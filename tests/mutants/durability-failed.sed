# Pages whose writeback failed are clean: the next sync proves nothing.
# in: add_sync()
# tests: durability.bats each kind of sync
s/if (may_have_failed(fs->result))/if (!fs->time)/
