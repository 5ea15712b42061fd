# Only the first of several files has the names of the columns.
# file: tools/command_export.c
# tests: export.bats export -o --rotate
s#	if (env->format == FORMAT_CSV \&\& !env->fuse)#	if (env->format == FORMAT_CSV \&\& !env->fuse \&\& !p->second)#
