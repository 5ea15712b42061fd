# Damage is reported by each query.
# in: cursor_filter()
# tests: sql.bats _trace has
s/c->quiet = t->counts.*/c->quiet = false;/
