# A flush that was given to the device before it had the data proves nothing.
# in: durable_flushed()
# tests: durability.bats writeback
s/s->at\[middle\]\.issued >= at/s->at[middle].end >= at/
