# A panel lacks its last columns.
# in: put_row()
# tests: histogram.bats heat as text
s|column < m->columns|column < m->columns - 7|
