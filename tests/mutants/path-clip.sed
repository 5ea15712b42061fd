# A neighbour is counted before the I/O began.
# in: add_neighbour()
# tests: path.bats for whom
s/begin = request->begin > s->subject.begin ?/begin = request->begin ?/
