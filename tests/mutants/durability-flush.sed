# Data in a volatile cache is not durable without a flush.
# in: durable_flushed()
# tests: durability.bats writeback
s/if (d->no_cache)/if (d->no_cache || d)/
