# Calls that are not listed are not counted.
# in: waiting_read()
# tests: waiting_calls.bats of very many calls
s/json_put(\*found, "calls", json_integer(n));/json_put(*found, "calls", json_integer(n < most ? n : most));/
