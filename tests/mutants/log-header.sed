# --no-header is ignored.
# in: print_all()
# tests: tool.bats log: CSV
s# \&\& !env->no_header##
