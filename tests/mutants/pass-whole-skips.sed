# A reader of all events skips frames that have none that is selected.
# in: pass_reader_open_whole()
# tests: slowest.bats selected call
s|r->merge.wants = NULL;|;|
