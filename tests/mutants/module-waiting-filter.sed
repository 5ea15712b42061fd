# The filter's conditions on the socket are not checked.
# in: is_wanted()
# tests: waiting.py the filter of the category
s/ops->rejects(c, record)/!record/
