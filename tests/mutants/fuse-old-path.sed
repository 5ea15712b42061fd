# A directory that was renamed has its old path only.
# file: tools/command_log.c
# tests: directory.bats renamed
s#add_resolved(lines, list, target, env->file);#(void)env;#
