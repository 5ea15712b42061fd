# A target goes on with a file that may not be read.
# in: may_read()
# tests: names.py a successor that may not be read
s/^\treturn !err;/\treturn !err || err;/
