# A pipe does not report what is gone.
# in: iot_merge_catch_up()
# tests: pipe.py gone before they were read is reported: a slow
/^\t\tat->gap += from - at->next;/d
