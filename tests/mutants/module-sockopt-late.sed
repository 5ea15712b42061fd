# A value that was not in memory is read after the call.
# in: note_given_late()
# tests: sockopt.py arrives during the call
s|if (!f->is_whole|if (f->is_whole|
