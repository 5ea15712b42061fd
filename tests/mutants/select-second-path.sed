# The second path of an event does not count.
# in: meets_path()
# tests: export.bats export --filter: each key
s/ || meets_path_at(c, &c->other, record)//
