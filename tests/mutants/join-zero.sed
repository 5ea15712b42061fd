# A read of zeros needs a call.
# in: map_needs()
# tests: join.bats backing
s|if (p.kind == IMAGE_DATA \|\| p.kind == IMAGE_COMPRESSED)$|if (1)|
