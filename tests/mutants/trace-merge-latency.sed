# The latency of a merged event is counted twice.
# in: move_record()
# tests: traces_merge.bats the rows are those
s|end - get(record + m->latency)|end|
