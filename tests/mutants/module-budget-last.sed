# The last byte of ring_memory_limit cannot be used.
# file: module/core/budget.c
# tests: interface.py bounds: ring_memory_limit
s/old > limit - bytes)/old >= limit - bytes)/
