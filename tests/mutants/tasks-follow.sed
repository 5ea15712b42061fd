# --follow is ignored.
# file: tools/tasks.c
# tests: tasks_host.bats each option as often
s#? "tree"#? "pid"#
