# A target goes on with a file that may not be read.
# file: module/proc/follow.c
# tests: names.py a successor that may not be read
s/^\treturn !err;/\treturn !err || err;/
