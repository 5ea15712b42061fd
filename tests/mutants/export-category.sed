# --category is ignored.
# in: export_all()
# tests: export.bats --per-category has
s#		if (env->category \&\& category != env->category)#		if (0)#
