# Rows of several categories are mixed.
# in: check_one_category()
# tests: export.bats a trace of several categories
s#!metadata_category(\&env->check.metadata, 1)#1#
