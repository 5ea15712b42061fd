# Without --all, stopped targets are shown.
# file: tools/command_status.c
# tests: tool.bats status
s#env->files.all \&\& !env->stopped \&\& !state.running#0#
