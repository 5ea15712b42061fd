# A sampled error counts once.
# in: stats_add()
# tests: stats.bats a sampled trace
s/add_error(row, m->error, m->weight)/add_error(row, m->error, 1)/
