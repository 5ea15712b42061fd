# Only the first of several files has the names of the columns.
# in: begin_output()
# tests: export.bats export -o --rotate
s#	if (env->format == FORMAT_CSV \&\& !env->fuse)#	if (env->format == FORMAT_CSV \&\& !env->fuse \&\& !p->second)#
