# Who is inside a read of a log is not waited for, nor named.
# file: module/core/visit.c
# tests: hostile_unload.py a read of a category's log never ends
s/^\t\tif (list_empty_careful(&visits))/\t\tif (1 || list_empty_careful(\&visits))/
