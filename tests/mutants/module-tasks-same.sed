# Processes of two names are the same target.
# in: iot_tasks_are_same()
# tests: processes.py what is refused
s/memcmp(a->comm, b->comm, sizeof(a->comm)))/0)/
