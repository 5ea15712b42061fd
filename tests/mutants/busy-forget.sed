# Periods that are not kept any more were not busy.
# in: forget()
# tests: stats.bats device time
s/d->before +=/d->before -=/
