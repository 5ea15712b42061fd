# A path that leads nowhere is not marked.
# in: print_text()
# tests: tool.bats status and list
s#target->deleted\[i\] ? " (deleted)" : ""#""#
