# The last byte of ring_memory_limit cannot be used.
# in: iot_budget_try()
# tests: interface.py bounds: ring_memory_limit
s/old > limit - bytes)/old >= limit - bytes)/
