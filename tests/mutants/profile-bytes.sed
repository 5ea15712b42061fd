# The bytes of a part are its accesses.
# file: tools/profile.c
# tests: profile.bats
s#part->bytes += access->bytes;#part->bytes += access->bytes / 2;#
