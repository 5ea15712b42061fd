# What a process has made dirty is not its own when another task writes it.
# file: module/record/branch.c
# tests: processes.py what was made dirty
s/} else if (who \&\& iot_tasks_had/} else if (0 \&\& iot_tasks_had/
