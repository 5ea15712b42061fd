# --partial is ignored.
# file: tools/command_export.c
# tests: export.bats no failure with --partial
s#!env->check.damaged || env->partial#!env->check.damaged#
