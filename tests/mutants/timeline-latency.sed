# The latency of a merged event is counted twice.
# file: tools/timeline_move.c
# tests: traces_merge.bats the rows are those
s|end - get(record + m->latency)|end|
