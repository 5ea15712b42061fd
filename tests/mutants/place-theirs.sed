# A symbolic link is followed in a directory that another user made in one of all.
# file: tools/place.c
# tests: export.bats no link
s/return !w->theirs \&\& /return /
