# Events whose path is not below the directory are left out of its log.
# file: tools/command_log.c
# tests: directory.bats not below
s#lines->whole = true;##
