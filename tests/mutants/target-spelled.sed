# A file that is called as processes are listed is taken for them.
# in: target_spelled()
# tests: tasks_host.bats sent with ./
s#tasks_is_text(file) ? "./" : ""#""#
