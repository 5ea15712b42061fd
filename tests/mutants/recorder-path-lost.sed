# Of several paths that were forgotten in a row one is counted.
# in: add_path()
# tests: export.bats several paths that were forgotten
s#lost += p.id - s->next_path;#lost++;#
