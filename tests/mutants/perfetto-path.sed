# A path is written with the number of another one.
# in: put_field()
# tests: perfetto.bats each row of CSV
s/n - p->paths->base + 1)/n - p->paths->base)/
