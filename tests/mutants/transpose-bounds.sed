# A head may say that a block has more records than are there.
# in: rewrite()
# tests: export.bats compressed frames
s/ || count > (size - at - head) \/ record)/)/
