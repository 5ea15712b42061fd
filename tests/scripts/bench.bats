#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests how scripts/bench compares what it measures with tests/cost/expected.

# shellcheck disable=SC2016 # programs of sed

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/top

setup() {
	cd "$TESTS/cost" || return
	new=$BATS_TEST_TMPDIR/new
}

# worse PATTERN LINE: with one change of the expected tables there is one line more, of this form
worse() {
	sed -E "$1" expected >"$new"
	run ! cmp -s expected "$new"
	run ./compare expected "$new"
	[ "$status" = 1 ]
	# shellcheck disable=SC2053 # a pattern
	[[ ${lines[0]} == $2 ]]
	[[ ${lines[-1]} == *" figures compared, 1 worse" ]]
	[ "${#lines[@]}" = 2 ]
}

@test "bench: the same figures, lower ones, and those within 12 instructions are no failure" {
	run ./compare expected expected
	[ "$status" = 0 ]
	figures=${output%% *}
	[ "$figures" -gt 400 ]
	sed -E 's/\+0 \|/+12 |/g; s/\+1[0-9]{3} \|/+900 |/g' expected >"$new"
	run ./compare expected "$new"
	[ "$status" = 0 ]
	[ "$output" = "$figures figures compared, 0 worse" ]
}

@test "bench: a figure that is more than 5 % higher is named, wherever it is" {
	worse '0,/^\| category fs, all recorded \| \+[0-9]+/s/^(\| category fs, all recorded \| \+)/\19/' \
		'6.1: category fs, all recorded (traced file, read, *): figure 1 was *, is 9*'
	worse '/^Kernel 7/,$s/^(\| category block, all recorded( \| [^ ]+){3} \| \+)/\19/' \
		'7.3: category block, all recorded (cached read, *): figure 4 was *, is 9*'
}

@test "bench: rows that are in one table only are named" {
	run ./compare expected <(grep -v '^| loaded, no target' expected)
	[ "$status" = 1 ]
	[[ ${lines[0]} == '6.1: loaded, no target '*': not measured' ]]
	[ "${#lines[@]}" = 4 ]
	run ./compare <(grep -v '^| loaded, no target' expected) expected
	[ "$status" = 1 ]
	[[ ${lines[0]} == '6.1: loaded, no target '*': not in the table' ]]
	# a kernel that was not measured is not missing
	run ./compare expected <(sed '/^Kernel 7/,$d' expected)
	[ "$status" = 0 ]
}

@test "bench: a kernel of another release is named" {
	sed 's/^Kernel 6\.12[^ ]*/Kernel 6.12.999-test,/' expected >"$new"
	run ./compare expected "$new"
	[ "$status" = 0 ]
	[[ ${lines[0]} == '6.12: the kernel is 6.12.999-test, and the table is of 6.12.'* ]]
}
