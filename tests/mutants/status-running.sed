# A stopped category is shown as running.
# in: cmd/status.c
# tests: tool.bats status: 
# tests: tool.bats system-wide categories after
s|running ? "running" : "stopped"|running ? "running" : "running"|
