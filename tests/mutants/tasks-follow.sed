# --follow is ignored.
# in: text_of()
# tests: tasks_host.bats each option as often
s#? "tree"#? "pid"#
