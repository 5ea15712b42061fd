# A category's memory is shown as its size.
# in: print_category()
# tests: tool.bats status: 
# tests: tool.bats system-wide categories after
s|control_stat(c, "size"))|control_stat(c, "memory_bytes"))|
