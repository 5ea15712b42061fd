# The flag ORIGINATOR is missing.
# in: set_originator()
# tests: processes.py what was made dirty
/e->flags |= IOT_REQ_ORIGINATOR;/d
