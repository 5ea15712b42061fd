# Of a list of numbers only the first counts.
# in: has_number()
# tests: export.bats export --filter: each key
s/i < c->nr; i++/i < 1; i++/
