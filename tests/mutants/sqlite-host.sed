# The name of the host is not hashed.
# in: pass_host()
# tests: sql.bats names are hashed
s/!pass_anonymizer(p)/1/
