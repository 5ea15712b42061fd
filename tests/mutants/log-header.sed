# --no-header is ignored.
# file: tools/command_log.c
# tests: tool.bats log: CSV
s# \&\& !env->no_header##
