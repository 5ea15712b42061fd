# The columns are named only once on a terminal.
# in: begin_line()
# tests: watch.bats once a screen
s/ || (w->lines > 2/ || (0 \&\& w->lines > 2/
