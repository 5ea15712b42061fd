# A power of ten has a digit less.
# in: put_digits()
# tests: frames.bats rows: numbers
s|return some + (n >= put_powers|return some + (n > put_powers|
