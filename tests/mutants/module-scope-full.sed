# There may be one group of processes too many.
# in: enlist()
# tests: processes.py what is refused
s/nr_of_tasks == IOT_SCOPES_OF_TASKS_MAX)/nr_of_tasks > IOT_SCOPES_OF_TASKS_MAX)/
