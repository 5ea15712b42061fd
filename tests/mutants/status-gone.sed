# A target that is removed meanwhile is an error.
# in: status_target()
# tests: tool.bats status: 
s#env->files.all \&\& (err == -ENOENT .. err == -EIO)#0#
