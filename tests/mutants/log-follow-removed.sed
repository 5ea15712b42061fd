# With --follow a target that is removed is an error.
# file: tools/command_log.c
# tests: tool.bats log --follow
s#	if (!env->follow || err != -EIO)#	if (1)#
