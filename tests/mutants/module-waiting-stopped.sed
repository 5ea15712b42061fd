# A thread that is stopped waits.
# in: is_asleep()
# tests: waiting.py a stopped thread
s/return (state & TASK_NORMAL) && !(state & others);/return state;/
