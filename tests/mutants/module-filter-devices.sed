# Of several devices only the first counts.
# file: module/record/filter.h
# tests: category.py filters: by file
s/i < f->nr_devs; i++/i < 1; i++/
