#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer watch`: lines of events that are known, in files and on terminals of all widths. The streams are in a
# directory that looks like /proc/iotracer; watch.py says what is in them, and has each line by hand. What is added
# and removed, watch_real.bats sees with the real module.
#
# bats file_tags=host

load ../lib/known

@test "watch: the lines of a file, a directory and a category, worked out by hand" {
	known by_hand
}

@test "watch: only what happens from now on, of other processes, that meets the conditions" {
	known selected
}

@test "watch: each line fits a terminal of any width, no character and no escape is torn" {
	known widths
}

@test "watch: hostile names, numbers and paths that are not there cannot reach the terminal" {
	known hostile
}

@test "watch: colours on a terminal, none with NO_COLOR, TERM=dumb or in a pipe" {
	known colors
}

@test "watch: the columns are named once a screen, and once in a pipe" {
	known heads
}

@test "watch: what is lost or missed meanwhile is said where it was lost" {
	known lost
}

@test "watch: a category that nobody traces is started, and left as it was" {
	known category
}

@test "watch: a mistake has one line" {
	known mistakes
}
