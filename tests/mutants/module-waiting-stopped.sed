# A thread that is stopped waits.
# in: is_asleep()
# tests: waiting.py a stopped thread
s/(state & TASK_NORMAL) && !(state & others)/(state | others) \&\& state/
