# A database has its name before it is complete.
# in: name_hidden()
# tests: sql.bats leave no file
s/"%s\/.%s.%d", f->directory, last, (int)getpid()/"%s\/%s", f->directory, last/
