# The log of a target is in the order in which calls ended.
# file: module/proc/view.c
# tests: completions.bats log: a request is where it began
s/j && r\[order/j \&\& 0 \&\& r\[order/
