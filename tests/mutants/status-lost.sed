# The lost events of a target are those that were overwritten.
# in: json_counts()
# tests: tool.bats status: 
s#json_put(level, "lost", json_integer(c->lost));#json_put(level, "lost", json_integer(c->overwritten));#
