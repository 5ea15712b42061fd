#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer export --format=perfetto`: traces whose events are known, decoded by protoc and python3-protobuf, with
# slices as Perfetto's trace processor makes them of events. perfetto.py says what is in the traces.
#
# bats file_tags=host

load ../lib/known

@test "perfetto: each track, slice, argument, flow and counter of a few events, worked out by hand" {
	known by_hand
}

@test "perfetto: each row of CSV is a slice with its time, duration, thread and fields" {
	known rows
}

@test "perfetto: a thread's calls nest as they did, and what crosses another one is in a lane of its own" {
	known nests
}

@test "perfetto: a thread that takes another name has its last one" {
	known renamed
}

@test "perfetto: a disk has as many lanes as it had requests at one moment, and its counter is their number" {
	known lanes
}

@test "perfetto: a request that lasts while very many others come" {
	known outlasts
}

@test "perfetto: what is missing is in the trace, and on standard error" {
	known missing
}

@test "perfetto: --filter, --from, --to and --category select as they do for CSV" {
	known selected
}

@test "perfetto: --anonymize hides what it hides in CSV" {
	known anonymized
}

@test "perfetto: hostile names, ids and times" {
	known hostile
}

@test "perfetto: the time of day is that of CSV" {
	known clocks
}

@test "perfetto: to a file, and compressed" {
	known files
}

@test "perfetto: a mistake has one line" {
	known mistakes
}
