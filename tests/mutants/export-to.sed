# --to includes the time that it names.
# in: is_wanted()
# tests: export.bats export --from, --to
s/time >= time_of(env, &env->to)/time > time_of(env, \&env->to)/
