# uid= is compared with the real user, not the effective one.
# file: module/record/filter.c
# tests: category.py filters: by process
s/current_euid()/current_uid()/
