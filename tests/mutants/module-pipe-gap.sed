# The pipe of a category does not report what is gone.
# in: next_index()
# tests: pipe.py gone before they were read is reported: a slow
/^\t\tposition->gap += from - position->next;/d
