# Events whose path is not below the directory are left out of its log.
# in: open_lines()
# tests: directory.bats not below
s#lines->whole = true;##
