# The log of a target is in the order in which calls ended.
# file: module/proc/view.c
# tests: interface.bats log: events of several writers
s/j && r\[order/j \&\& 0 \&\& r\[order/
