# Processes keep as many events as files.
# in: cmd/add.c
# tests: tasks_host.bats without one the module
s#add_command(text, env->max_events, env->network#add_command(text, env->max_events ? env->max_events : default_events(), env->network#
