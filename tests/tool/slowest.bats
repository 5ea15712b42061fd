#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer slowest`: where the time of the slowest calls went. The traces are recorded from a directory that
# looks like /proc/iotracer, so neither root nor the module is needed; slowest.py says what is in them, and
# computes each answer in another way.
#
# bats file_tags=host

load ../lib/known

@test "slowest: the parts of a few calls, worked out by hand, in each format" {
	known by_hand
}

@test "slowest: each way in which a request belongs to a call, and what belongs to none" {
	known relations
}

@test "slowest: the parts are those that counting each nanosecond gives" {
	known counted
}

@test "slowest: the N slowest are those that sorting finds, of each category" {
	known ranked
}

@test "slowest: requests of other threads explain a selected call, and are not listed" {
	known selected
}

@test "slowest: calls of one machine do not wait for requests of another" {
	known merged
}

@test "slowest: what is missing is counted, and said" {
	known missing
}

@test "slowest: numbers that cannot be, and names that control a terminal" {
	known hostile
}

@test "slowest: a mistake has one line" {
	known mistakes
}
