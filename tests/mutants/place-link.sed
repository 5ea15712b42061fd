# A symbolic link of another user is followed in a directory of all.
# file: tools/place.c
# tests: export.bats no link
s/(!(dir.st_mode \& S_IWOTH) || dir.st_uid == link->st_uid)/true/
