# The first of several closes ends the use of a file.
# in: put_item()
# tests: export_formats.bats export fio: a log
s/--f->opens ||/(f->opens = 0) ||/
