# A target that is removed meanwhile is an error.
# file: tools/command_status.c
# tests: tool.bats status: 
s#env->files.all \&\& (err == -ENOENT .. err == -EIO)#0#
