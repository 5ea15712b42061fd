# Clocks are compared by few of the requests.
# in: is_good()
# tests: join.bats guessed
s|2 \* a->peak.votes >= a->voters|1|
