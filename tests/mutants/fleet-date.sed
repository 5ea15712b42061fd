# An event is at the date on which it ended.
# in: put_record()
# tests: fleet.bats an event is at
s/pass_wall(x->pass, r->measure.time)/pass_wall(x->pass, r->measure.time + r->measure.latency)/
