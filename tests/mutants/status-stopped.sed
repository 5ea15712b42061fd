# Without --all, stopped targets are shown.
# in: status_target()
# tests: tool.bats status
s#env->files.all \&\& !env->stopped \&\& !state.running#0#
