# Buckets keep their numbers when the size is doubled.
# in: halve()
# tests: histogram.bats smallest power
s|place.bucket /= 2|place.bucket /= 1|
