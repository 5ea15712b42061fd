# The name of the host is not hashed.
# in: put_host()
# tests: sql.bats names are hashed
s/host && pass_anonymizer(p)/0/
