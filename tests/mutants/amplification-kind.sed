# Writes to pipes are writes of files.
# in: amplification_add()
# tests: stats.bats amplification
s/call->kind == IOT_KIND_FILE/call->kind/
