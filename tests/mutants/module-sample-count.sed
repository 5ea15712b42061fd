# One event in N + 1 is recorded.
# in: iot_category_samples()
# tests: category.py sampling: one event
s/if (++shard->passed < sample)/if (++shard->passed <= sample)/
