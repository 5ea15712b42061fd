# The bytes of a part are its accesses.
# in: add()
# tests: profile.bats
s#part->bytes += access->bytes;#part->bytes += access->bytes / 2;#
