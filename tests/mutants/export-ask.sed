# Rows of several categories are mixed.
# file: tools/command_export.c
# tests: export.bats a trace of several categories
s#!metadata_category(\&env->check.metadata, 1)#1#
