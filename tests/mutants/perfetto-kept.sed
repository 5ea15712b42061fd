# Of what lies in a call nothing is forgotten.
# in: take_first()
# tests: perfetto.bats calls nest
s/l->forgotten = l->kept\[0\].end/l->forgotten = 0/
