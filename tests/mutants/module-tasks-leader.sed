# A thread of another name than its process is not of that process.
# in: have_name()
# tests: processes.py by name: of the process
s/is_name_of(t, leader)/is_name_of(t, task)/
