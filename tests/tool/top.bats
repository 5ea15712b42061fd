#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer top`: intervals of traces whose events are known, as tables and on a screen, which tmux has. The
# traces, and the streams that are read live, are in a directory that looks like /proc/iotracer; top.py says what is
# in them, and works out each answer by hand.
#
# bats file_tags=host

load ../lib/known

@test "top: the rows of an interval, worked out by hand, in each format" {
	known by_hand
}

@test "top: each view has what its key has in each category" {
	known views
}

@test "top: an interval of a trace has the rows that stats has of the same time" {
	known as_stats
}

@test "top: rows are sorted by each column, and those that do not fit are counted" {
	known sorted_rows
}

@test "top: intervals of a trace follow one another until its end, without a gap" {
	known intervals
}

@test "top: a sampled record counts as its events, and what is missing is counted" {
	known basis
}

@test "top: hostile names, numbers that cannot be, and events without a file" {
	known hostile
}

@test "top: a name can neither hide nor turn the line around, on a screen or in a table" {
	known marks
}

@test "top: of a million files, 65536 have rows, and the others are summed up" {
	known many_files
}

@test "top: a process that renames itself keeps its one row" {
	known renamed
}

@test "top: when one event in twice or half as many is recorded" {
	gcc -O2 -Wall -Wextra -Werror -I"$TOP/module" -I"$TOP/tools" -o limit-laws "$TOP/tests/unit/limit-laws.c" \
		"$TOP/tools/top/limit.c"
	./limit-laws
}

@test "top: live, the streams are read as they grow, and the categories are as before" {
	known live
}

@test "top: live, the module gets the conditions that a category has" {
	known filtered
}

@test "top: live, a category that is traced already is only read" {
	known shared
}

@test "top: live, a category that somebody stops, and a clock that is set back" {
	known disturbed "$BATS_FILE_TMPDIR/tool-preload.so"
}

@test "top: live, a virtual machine has a row for each drive, and one for its other files" {
	known vms
}

@test "top: a mistake has one line" {
	known mistakes
}

@test "top: keys of the screen: views, sorting, filter, freeze, a row, help, the end" {
	known keys
}

@test "top: the screen follows the size of the terminal, whatever it is" {
	known resize
}

@test "top: NO_COLOR and 16 colours; LANG=C has no byte beyond ASCII" {
	known colors
}

@test "top: a screen that has nothing to show yet, or nothing at all, says so" {
	known nothing_yet
}

@test "top: a signal or a fault leaves the terminal as it was" {
	known ends
}
