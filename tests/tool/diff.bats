#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer diff`: pairs of traces that are alike but for noise, or but for one change that is known. The
# traces are recorded from a directory that looks like /proc/iotracer; diff.py says what is in them,
# and computes each figure in another way. Its random numbers are the same in each run.
#
# bats file_tags=host

load ../lib/known

@test "diff: traces that are alike but for noise have no change" {
	known noise
}

@test "diff: a change that was planted is reported, and it alone" {
	known planted
}

@test "diff: each figure is what Python computes in another way" {
	known figures
}

@test "diff: noise that comes in waves is no change" {
	known waves
}

@test "diff: keys of one trace only" {
	known only
}

@test "diff: the largest change first, and --top, --change, --by" {
	known order
}

@test "diff: --from, --to and --filter are of both traces" {
	known selected
}

@test "diff: what is missing is counted for each trace" {
	known missing
}

@test "diff: a sampled trace is scaled" {
	known sampled
}

@test "diff: CSV has the figures of JSON" {
	known formats
}

@test "diff: any values do no harm, and text has at most 80 columns" {
	known hostile
}

@test "diff: a mistake has one line" {
	known mistakes
}
