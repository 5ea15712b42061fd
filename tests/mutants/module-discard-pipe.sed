# In mode discard records that a pipe has shown make no room.
# file: module/proc/category_pipe.c
# tests: pipe.py mode discard
s/^\t\tmake_room(cp);/\t\t(void)make_room;/
