#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What scripts/parts.sh counts of parts that end, that have no time to begin, and that do not end.
#
# bats file_tags=host

# Tests run in subshells.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0

load ../lib/top
load ../lib/wait

setup() {
	logs=$BATS_TEST_TMPDIR
	. "$TOP/scripts/parts.sh"
	cd "$BATS_TEST_TMPDIR" || return
}

two_tests() {
	printf '%s\n' 1..2 'ok 1 - one' 'ok 2 - two'
}

one_fails() {
	printf '%s\n' 1..2 'ok 1 - one' 'not ok 2 - two'
	return 1
}

# endless RESULT...: of two tests these results come, then nothing more; nor does a program end that the
# part has started.
endless() {
	printf '%s\n' 1..2 "$* 1 - one"
	sleep infinity &
	echo $! >>programs
	wait
}

@test "parts: all that ends is counted, and the first that fails is named in the end" {
	parts_at_once 2 <<<$'good two_tests\nbad one_fails\nagain two_tests'
	run verdict good again
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "4 passed, 0 failed" ]
	run verdict good bad again
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "5 passed, 1 failed" ]
	[ "${lines[-2]}" = "bad: not ok 2 - two" ]
}

one_flaky() {
	printf '%s\n' 1..2 'not ok 1 one in 5ms' '#   of no use' 'ok 2 two in 5ms' '# what failed is run once more' '# 1..1' \
		'# ok 1 one in 5ms' "# flaky 1 one"
}

one_flaky_one_fails() {
	one_flaky | sed 's/^ok 2/not ok 2/'
	return 1
}

@test "parts: tests that pass when they are repeated are named and fail no run, but for a third" {
	parts_at_once 1 <<<$'one one_flaky\ntwo one_flaky\nthree one_flaky\nbad one_flaky_one_fails'
	run verdict one two
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "4 passed, 0 failed" ]
	[ "${lines[-2]}" = "flaky, passed when it was repeated: two: not ok 1 one in 5ms | #   of no use" ]
	run verdict bad
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "1 passed, 1 failed" ]
	[ "${lines[-3]}" = "bad: not ok 2 two in 5ms" ]
	run verdict one two three
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "6 passed, 1 failed" ]
}

@test "parts: what failed is run once more by its name and suite, and is flaky if it passes then" {
	. "$TOP/scripts/suites.sh"
	printf '%s\n' '# suite tests/a.bats' 'not ok 1 one (a) in 5ms' 'ok 2 two in 3ms' '# suite tests/b.py' \
		'not ok 3 three in 1ms' >tap
	again() {
		printf '%s\n' "$@" >asked
		printf '%s\n' 'ok 1 one (a) in 2ms' 'not ok 2 three in 1ms' 1..2
		return 1
	}
	run iot_repeat tap again --filter '{}' 6.1
	[ "$status" = 1 ]
	[ "$(grep '^# flaky' <<<"$output")" = "# flaky 1 one (a)" ]
	[ "$(sed 2d asked | paste -sd ' ')" = "--filter 6.1 tests/a.bats tests/b.py" ]
	for name in 'one (a)' three; do
		grep -qE "$(sed -n 2p asked)" <<<"$name"
	done
	run ! grep -qE "$(sed -n 2p asked)" <<<two
}

@test "parts: with a time limit each turn begins with other suites, and has all of them" {
	. "$TOP/scripts/suites.sh"
	seq 12 >suites
	for turn in 0 1 2 500; do
		CHECK_UNTIL=9 CHECK_TURN=$turn iot_rotated <suites >order
		diff <(sort order) <(sort suites)
		head -n 1 order >>firsts
	done
	[ "$(sort -u firsts | wc -l)" = 4 ]
	[ "$(CHECK_UNTIL='' CHECK_TURN=5 iot_rotated <suites)" = "$(cat suites)" ]
}

# What scripts/check-vm says where several machines share a queue.
none_left() {
	printf '%s\n' '# no suite was left: other machines have taken all' 1..0
}

out_of_time() {
	printf '%s\n' '# suite a' 'not ok 1 one in 5ms' '# why' '# another machine goes on' '# suite b' 'ok 2 two in 5ms' \
		'# no time for other suites' 1..2
	return 1
}

@test "parts: machines that share a queue: one that finds it empty, and one that has no time for the rest" {
	parts_at_once 1 <<<$'whole two_tests\nempty none_left\nlate out_of_time'
	run verdict whole empty
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "2 passed, 0 failed" ]
	CHECK_LIMIT=9 run verdict whole late
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "3 passed, 1 failed, parts not to their end: 1" ]
	[ "${lines[-2]}" = "ended before their last test, after 9 s: late" ]
	[ "${lines[-3]}" = "late: not ok 1 one in 5ms | # why" ]
}

group() {
	ps -o pgid= -p "$BASHPID"
}

# A part that runs a part of its own, and reports whether that is in its process group.
nested() {
	logs=inner
	mkdir "$logs"
	. "$TOP/scripts/parts.sh"
	part inside group
	printf '%s\n' 1..1 "$([ "$(cat "$logs/inside")" = "$(group)" ] || echo 'not ')ok 1 - one group"
}

@test "parts: one that has fewer tests than it planned is a failure" {
	short() { printf '%s\n' 1..2 'ok 1 - one'; }
	parts_at_once 1 <<<"short short"
	run verdict short
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "1 passed, 1 failed" ]
}

@test "parts: after CHECK_SECONDS none begins, and those are named" {
	CHECK_SECONDS=0
	started=$((SECONDS - 1))
	parts_at_once 1 <<<$'one two_tests\ntwo two_tests'
	[ ! -e one ]
	part three two_tests
	run verdict one two three
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "2 passed, 0 failed, parts not run: 2" ]
	[ "${lines[-2]}" = "not run, as they had not begun after 0 s: one two" ]
}

# until_said TEXT: a part that ends when this was said
until_said() {
	wait_for grep -qF "$*" said
	two_tests
}

@test "parts: while they run it is said which have ended, which run, which are left, and how many tests passed" {
	PROGRESS=1 parts_at_once 1 <<-'END' >said
		one one_fails
		two until_said 1 parts done, 1 left, now two; 1 tests passed, 1 failed
		three until_said 2 parts done, 0 left, now three; 3 tests passed, 1 failed
	END
	run verdict one two three
	[ "${lines[-1]}" = "5 passed, 1 failed" ]
}

@test "parts: after CHECK_LIMIT a part is killed with its programs, named, and its failures count" {
	CHECK_LIMIT=2
	parts_at_once 2 <<<$'good two_tests\nlong endless ok\nbad endless not ok'
	[ "$(wc -l <programs)" = 2 ]
	# shellcheck disable=SC2046 # several words
	while kill -0 $(cat programs) 2>/dev/null; do sleep 0.1; done
	run verdict good long
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "3 passed, 0 failed, parts not to their end: 1" ]
	[ "${lines[-2]}" = "ended before their last test, after 2 s: long" ]
	run verdict good bad
	[ "$status" = 1 ]
	[ "${lines[-1]}" = "2 passed, 1 failed, parts not to their end: 1" ]
}

@test "parts: what a part runs as parts of its own is in its group, and so is killed with it" {
	CHECK_LIMIT=600
	part outer nested
	run verdict outer
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "1 passed, 0 failed" ]
}

# all_of: a tree whose parts are "good" and "bad", and a third that says on which commit it ran
all_of() {
	mkdir -p tree/scripts
	cp "$TOP"/scripts/{check-all,parts.sh,lib.sh} tree/scripts
	printf '#!/bin/sh\n' >tree/scripts/install-deps
	chmod +x tree/scripts/install-deps
	cat >tree/scripts/plan.sh <<-'END'
		IOT_DEBUG_KERNELS=''
		build_tap() { printf '%s\n' 1..1 'ok 1 - built'; }
		list_first() { printf '%s\n' 'good said ok' "bad said ${BAD:-not ok}"; }
		list_second() { :; }
		list_third() { echo 'last said ok'; }
		said() { echo "$name" >>../ran; printf '%s\n' 1..1 "$* 1 - test"; }
	END
	cd tree || return
	printf '%s\n' build >.gitignore
	git init -q .
	git add -A
	git -c user.name=x -c user.email=x@x commit -qm one
}

# ran: which parts have run since the last time
ran() {
	sort ../ran | paste -sd ' '
	: >../ran
}

@test "check-all: what has passed with the tree as it is is not repeated, what failed is" {
	all_of
	run -1 scripts/check-all
	[ "$(ran)" = "bad good last" ]
	grep -E '^good +passed +[0-9]+ +[0-9TZ:-]+ +[0-9a-f]+ +1 passed, 0 failed$' <<<"$output"
	grep -E '^bad +failed .* 0 passed, 1 failed$' <<<"$output"
	run -1 scripts/check-all
	[ "$(ran)" = bad ]
	run -0 scripts/check-all good
	[ "$(ran)" = good ]
	echo changed >file
	run -1 scripts/check-all
	[ "$(ran)" = "bad good last" ]
	run -0 scripts/check-all --list
	[ -z "$(ran)" ]
	grep -E '^good +passed .*-[0-9a-f]{6} ' <<<"$output"
	# once all have passed there is nothing to do, until a file changes that git does not know
	BAD=ok run -0 scripts/check-all
	[ "$(ran)" = bad ]
	run -0 scripts/check-all
	[ -z "$(ran)" ]
	echo again >>file
	BAD=ok run -0 scripts/check-all
	[ "$(ran)" = "bad good last" ]
	run -2 scripts/check-all none
	[ "${lines[-1]}" = "check-all: no part 'none': see --list" ]
}

# tree_of_stubs: a tree in which building notes for which kernel, and a machine wants its kernel's module
tree_of_stubs() {
	local name
	mkdir -p tree/scripts tree/built stubs
	cp "$TOP"/scripts/{plan.sh,lib.sh} tree/scripts
	for name in lint check-host check-deb check-dkms check-fields mutate kernel-get; do
		printf '#!/bin/sh\nexit 0\n' >"tree/scripts/$name"
	done
	cp tree/scripts/lint stubs/make
	cat >tree/scripts/build-all <<-'END'
		#!/bin/sh
		: >"built/$1"
		echo "ok 1 - $1"
	END
	cat >tree/scripts/check-vm <<-'END'
		#!/bin/bash
		for kernel; do [[ ! $kernel =~ ^[0-9]+\.[0-9]+(-|$) ]] || break; done
		echo "$kernel" >>machines
		[ -e "built/$kernel" ] || echo "nobody has built the module for $kernel"
	END
	chmod +x tree/scripts/* stubs/*
}

@test "plan: each part that starts a machine builds the module for its kernel before, whatever ran before it" {
	local name part parts
	tree_of_stubs
	cd tree || return
	logs=$PWD/logs
	. scripts/lib.sh
	. scripts/plan.sh
	# it works in a clone of the tree
	parts=$({ list_first; list_second; list_third; } | grep -v '^loop ')
	while read -r name part; do
		rm -rf logs built machines
		mkdir logs built
		# shellcheck disable=SC2086 # they are several words
		PATH=../stubs:$PATH run -0 $part
		[[ $output != *"nobody has built"* ]] || { echo "$name: $output"; return 1; }
		[[ $part != *check-vm* && $part != dkms_tap* ]] || [ -s machines ] || { echo "$name started no machine"; return 1; }
	done <<<"$parts"
}
