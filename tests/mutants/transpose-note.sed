# A note may be longer than what is left.
# in: rewrite()
# tests: export.bats compressed frames
s/ || head > size - at / /
