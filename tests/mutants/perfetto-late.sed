# The count of a request that lasts goes back in time.
# in: push()
# tests: perfetto.bats very many others
s/time < d->time ? d->time : time/time/
