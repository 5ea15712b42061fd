# A mark that belongs to a letter is left without it.
# in: fit_print_end()
# tests: watch.bats each line fits
s/ \&\& unit.columns)/)/
