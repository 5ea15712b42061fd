# A call that crosses another one is in the lane of it.
# in: take_first()
# tests: perfetto.bats calls nest
s/if (begin < (nr ?.*/if (false)/
