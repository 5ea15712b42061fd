# The number of times that a request came back is not counted.
# in: request_requeued()
# tests: block.py the host is busy
/^\tp->e.requeues++;/d
