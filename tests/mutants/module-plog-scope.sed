# A log with the network has the sockets of all processes.
# in: has_sockets()
# tests: process_network.py who: threads
s/ && iot_tasks_have(&s->tasks, current)//
