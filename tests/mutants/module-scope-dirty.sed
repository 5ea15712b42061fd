# What a process has made dirty is not its own when another task writes it.
# in: record_of_tasks()
# tests: processes.py what was made dirty
s/} else if (who \&\& iot_tasks_had/} else if (0 \&\& iot_tasks_had/
