# One event in N + 1 is recorded.
# file: module/record/category.h
# tests: category.py sampling: one event
s/if (++shard->passed < sample)/if (++shard->passed <= sample)/
