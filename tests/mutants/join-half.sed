# Clocks are compared by few of the requests.
# file: tools/join_clock.c
# tests: join.bats guessed
s|2 \* a->peak.votes >= a->voters|1|
