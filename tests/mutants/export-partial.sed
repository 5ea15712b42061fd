# --partial is ignored.
# in: judge()
# tests: export.bats no failure with --partial
s#!env->check.damaged || env->partial#!env->check.damaged#
