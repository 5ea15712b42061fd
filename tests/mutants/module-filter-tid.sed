# tid= is compared with the process.
# file: module/record/filter.h
# tests: category.py filters: by process
s/f->tid != current->pid)/f->tid != current->tgid)/
