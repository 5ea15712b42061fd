# The number of the operation is 0.
# in: record()
# tests: fields.py queued requests
s/e->op_code = .*;/e->op_code = 0;/
