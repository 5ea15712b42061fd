# A path that leads nowhere is not marked.
# file: tools/command_status.c
# tests: tool.bats status and list
s#target->deleted\[i\] ? " (deleted)" : ""#""#
