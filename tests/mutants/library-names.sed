# After a lack of memory the paths that could be loaded are taken for all.
# in: trace_load_names()
# tests: library.bats each allocation may fail
s|!status \&\& !xalloc_failed()|true|
