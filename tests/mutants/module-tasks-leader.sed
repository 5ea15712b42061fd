# A thread of another name than its process is not of that process.
# file: module/record/tasks.c
# tests: processes.bats by name: of the process
s/return is_name_of(t, task) || is_name_of(t, task->group_leader);/return is_name_of(t, task);/
