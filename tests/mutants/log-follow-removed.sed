# With --follow a target that is removed is an error.
# in: ended()
# tests: tool.bats log --follow
s#	if (err \&\& (!env->follow || err != -EIO))#	if (err)#
