# What is slow in B is what is slow in B.
# in: take_key()
# tests: diff.bats a change that was planted
/if (side == DIFF_A)/d
