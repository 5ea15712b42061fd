# A reader takes over a category that was started by hand.
# in: start_for()
# tests: record_ends.bats killed while recording all
s/} else if (!err && reader && reader != c->while_read) {/} else if (0) {/
