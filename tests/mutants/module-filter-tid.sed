# tid= is compared with the process.
# in: iot_filter_task()
# tests: category.py filters: by process
s/&f->tids, current->pid)/\&f->tids, current->tgid)/
