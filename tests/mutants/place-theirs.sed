# A symbolic link is followed in a directory that another user made in one of all.
# in: may_follow()
# tests: export.bats no link
s/return !w->theirs \&\& /return /
