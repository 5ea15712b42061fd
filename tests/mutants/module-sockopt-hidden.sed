# Keys are not recorded.
# in: note_value()
# tests: sockopt.py each kind of value
s|f->kind == IOT_OPTION_hidden|f->kind > IOT_OPTION_bytes|
