# A line ends at a NUL byte.
# in: run_lines()
# tests: interface.py control: a NUL byte
s/err = -EINVAL; .*/err = in->run(in->data, line);/
