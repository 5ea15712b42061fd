# A directory that was renamed has its old path only.
# in: open_lines()
# tests: directory.bats renamed
s#add_resolved(lines, list, target, env->file);#(void)env;#
