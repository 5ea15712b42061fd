# Requests that are not selected belong to the calls.
# in: waits_request()
# tests: waits.bats belong
s/!(wanted \&\& belongs(/!((wanted || row < w->nr) \&\& belongs(/
