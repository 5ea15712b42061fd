# The accesses of the keys are not divided: a key has those of the one before it.
# in: divide()
# tests: profile_trace.bats reuse: each
s/keys\[i\].begin = sum;/keys[i].begin = 0;/
