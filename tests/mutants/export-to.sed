# --to includes the time that it names.
# in: is_wanted()
# tests: export.bats export --from, --to
s/time >= env->end/time > env->end/
