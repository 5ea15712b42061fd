# The next process with the number of an exited one is taken for it.
# in: iot_tasks_have()
# tests: processes.py a process has ended
s/return task_tgid(task) == t->pid;/return task->tgid == pid_nr(t->pid);/
