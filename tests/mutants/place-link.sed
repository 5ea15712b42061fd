# A symbolic link of another user is followed in a directory of all.
# in: may_follow()
# tests: export.bats no link
s/(!(dir.st_mode \& S_IWOTH) || dir.st_uid == link->st_uid)/true/
