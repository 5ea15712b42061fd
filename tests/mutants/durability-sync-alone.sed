# sync(2) does not report failures: without requests it proves nothing.
# in: sync_all()
# tests: durability.bats each kind of sync
s/ && !d->has_requests/ \&\& !d/
