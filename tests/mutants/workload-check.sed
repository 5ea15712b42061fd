# A directory is taken for a program.
# in: workload_check()
# tests: export.bats of a command that cannot be run
s/return S_ISREG(st.st_mode) ? 0 : cannot_run(name, EACCES)/return 0/
