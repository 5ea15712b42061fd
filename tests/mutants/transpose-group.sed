# Groups of 16 records are written one step short.
# in: group_forth()
# tests: frames.bats blocks of any length
s|for (i = 0; i < 4; i++)|for (i = 0; i < 3; i++)|
