# begin_ns is of the monotonic clock.
# in: begin_of()
# tests: sql.bats that export shows
s/pass_wall(table->tables->pass, \(.*\));/\1;/
