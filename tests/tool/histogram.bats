#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer histogram`: buckets of values that are known. The traces are recorded from a directory
# that looks like /proc/iotracer, so neither root nor the module is needed; histogram.py says what is
# in them, and computes each answer in another way.
#
# bats file_tags=host

load ../lib/known

@test "histogram: each figure of a few events, worked out by hand, in each format" {
	known by_hand
}

@test "histogram: which events have which value, in each category" {
	known values
}

@test "histogram: buckets are those of sqlite3 over the exported rows (Open-CAS: bucket size)" {
	known buckets
}

@test "histogram: a range has its values, and counts the others (Open-CAS: subrange)" {
	known ranges
}

@test "histogram: the size of buckets is the smallest power of two that shows all values" {
	known sizes
}

@test "histogram: the time between the starts of events, which ended in another order" {
	known interarrival
}

@test "histogram: runs of reads and of writes, of files and of devices" {
	known runs
}

@test "histogram: gaps and runs of many accesses are those of a sorted list" {
	known ordered
}

@test "histogram: with any --top, sums stay whole, and a key's histogram is that of its filter" {
	known keys
}

@test "histogram: --heat has each value in its interval, and all of them together" {
	known heat
}

@test "histogram: --heat as text, worked out by hand: shades in UTF-8, characters elsewhere, colours by leave" {
	known heat_text
}

@test "histogram: text takes the width of a wide terminal, and that of a page elsewhere" {
	known terminals
}

@test "histogram -o: each bar of a picture is a bucket of JSON" {
	known bars_of_picture
}

@test "histogram -o: each cell of --heat is one of JSON" {
	known heat_of_picture
}

@test "histogram -o: no name of a trace becomes markup" {
	known names_in_picture
}

@test "histogram -o: a picture is a whole file, replaces a file, follows no link, and has a bound" {
	known picture_files
}

@test "histogram: a sampled trace is scaled; what needs all events is refused" {
	known sampled
}

@test "histogram: lost, missed and unreadable events are counted, and damage is a failure" {
	known missing
}

@test "histogram: text has at most 80 columns, whatever the values and names are" {
	known width
}

@test "histogram: the largest numbers, and more buckets than are kept" {
	known extremes
}

@test "histogram: bars are blocks in UTF-8 and # elsewhere" {
	known bars
}

@test "histogram: two hosts' devices of a merged trace are two" {
	known merged
}

@test "histogram: a mistake has one line" {
	known mistakes
}
