# --category is ignored.
# file: tools/command_export.c
# tests: export.bats --per-category has
s#		if (env->category \&\& category != env->category)#		if (0)#
