# An escape is torn where a text is shortened.
# in: base/fit.c
# tests: watch.bats each line fits
s/if (is_escape(s))/if (0 \&\& is_escape(s))/
