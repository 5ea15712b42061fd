# Bios that a device mapper makes are a process's own.
# file: module/probe/branch_bio.c
# tests: processes.py what a process submits
s/in_task() \&\& !current->bio_list/in_task()/
