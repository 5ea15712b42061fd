# Bios that a device mapper makes are a process's own.
# in: bio_queued()
# tests: processes.py what a process submits
s/in_task() \&\& !current->bio_list/in_task()/
