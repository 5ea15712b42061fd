# A line ends at a NUL byte.
# file: module/proc/procfile.c
# tests: interface.py control: a NUL byte
s/err = -EINVAL; .*/err = in->run(in->data, line);/
