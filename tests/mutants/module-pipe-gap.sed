# The pipe of a category does not report what is gone.
# file: module/proc/category_pipe.c
# tests: pipe.py gone before they were read is reported: a slow
/^\t\tposition->gap += from - position->next;/d
