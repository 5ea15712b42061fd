# A read of zeros needs a call.
# file: tools/join_image.c
# tests: join.bats backing
s|if (p.kind == IMAGE_DATA \|\| p.kind == IMAGE_COMPRESSED)$|if (1)|
