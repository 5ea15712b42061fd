# There may be one group of processes too many.
# file: module/record/branch.c
# tests: processes.py what is refused
s/nr_of_tasks == IOT_BRANCHES_OF_TASKS_MAX)/nr_of_tasks > IOT_BRANCHES_OF_TASKS_MAX)/
