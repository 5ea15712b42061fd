#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=host
#
# tests/lib/runner.py, which runs the suites of a machine, with suites made for this that need no
# module: what it says of tests that pass, fail, are skipped, do not end, or leave something behind,
# and how machines share a queue.

bats_require_minimum_version 1.5.0

load ../lib/top

setup() {
	[ "$(id -u)" -eq 0 ] || skip "only root reads the kernel's log"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p tests/lib queue/todo
	unset PYTHONPATH
	# Of processes the runner sees its own alone.
	runner=(unshare --pid --fork --mount-proc --kill-child python3 -S -s tests/lib/runner.py run "$PWD/queue")
	cp "$TESTS"/lib/{runner,suite}.py tests/lib/
	cat >tests/lib/iot.py <<-'END'
		def run(function, reloads):
		    function()
	END
}

# a_suite NAME LINE...: write a suite whose tests are these lines, and put it into the queue
a_suite() {
	local name=$1
	shift
	{
		printf '%s\n' 'import os, subprocess, time' 'from lib.suite import Suite, Skip' 'SUITE = Suite()'
		printf '%s\n' "$@"
	} >"tests/$name.py"
	: >"queue/todo/100 $name.py"
}

# results OPTION...: run the queue, and print its results without their times; the status is in $ended
results() {
	ended=0
	"${runner[@]}" "$@" >said || ended=$?
	sed -nE 's/^((not )?ok [0-9]+ .*) in [0-9]+ms/\1/p' said
}

@test "runner: tests that pass, fail and are skipped; what a failed one printed" {
	a_suite one "@SUITE.test('good')" 'def good(): print("quiet")' \
		"@SUITE.test('bad')" 'def bad():' '    print("before", flush=True)' '    raise ValueError("why")' \
		"@SUITE.test('cannot')" 'def cannot(): raise Skip("no such kernel")' \
		"SUITE.add('two functions', good, good)"
	results >is
	[ "$ended" = 1 ]
	diff - is <<-'END'
		ok 1 good
		not ok 2 bad
		ok 3 cannot # skip no such kernel
		ok 4 two functions
	END
	grep -qx '# before' said
	grep -qx '# ValueError: why' said
	run ! grep quiet said
	[ -z "$(ls queue/todo)$(ls queue/now)" ]
}

@test "runner: a test that does not end is killed with all that it has started, and fails" {
	a_suite one "@SUITE.test('endless')" 'def endless():' '    subprocess.Popen(["sleep", "4711"])' '    time.sleep(4711)' \
		"@SUITE.test('next')" 'def next_(): pass'
	results --seconds 1 >is
	[ "$ended" = 1 ]
	diff - is <<-'END'
		not ok 1 endless
		ok 2 next
	END
	grep -q 'has not ended after 1 seconds' said
	run ! pgrep -f 'sleep 4711'
}

@test "runner: after a test that left a process behind another machine runs the rest of its suite" {
	a_suite one "@SUITE.test('tidy')" 'def tidy(): pass' \
		"@SUITE.test('leaves')" 'def leaves(): subprocess.Popen(["sleep", "4712"], start_new_session=True)' \
		"@SUITE.test('rest')" 'def rest(): pass'
	results >is
	[ "$ended" = 75 ]
	diff - is <<-'END'
		ok 1 tidy
		not ok 2 leaves
	END
	grep -q 'left behind: processes: .* sleep' said
	results --first 3 >is
	[ "$ended" = 0 ]
	[ "$(cat is)" = "ok 3 rest" ]
}

@test "runner: what comes after a test finds its processes and descriptors gone, also if it failed" {
	a_suite one 'def after(): assert not os.path.exists("/proc/self/fd/77") and os.path.exists("begun")' \
		'SUITE = Suite(after=after)' "@SUITE.test('leaves a descriptor')" \
		'def leaves():' '    open("begun", "w").close()' '    os.dup2(1, 77)' "@SUITE.test('fails, too')" \
		'def fails():' '    os.dup2(1, 77)' '    raise ValueError("own")'
	results >is
	[ "$ended" = 1 ]
	diff - is <<-'END'
		ok 1 leaves a descriptor
		not ok 2 fails, too
	END
	run ! grep AssertionError said
}

@test "runner: if a set-up fails, all tests of its suite do, and other suites run" {
	a_suite one 'def broken(): raise ValueError("no disk")' 'SUITE = Suite(setup=broken)' \
		"@SUITE.test('first')" 'def first(): pass' "@SUITE.test('second')" 'def second(): pass'
	a_suite two "@SUITE.test('other')" 'def other(): pass'
	results >is
	[ "$ended" = 75 ]
	diff - is <<-'END'
		not ok 1 first
		not ok 2 second
	END
	grep -q 'the set-up of one failed' said
	results --first 3 >is
	[ "$(cat is)" = "ok 3 other" ]
}

@test "runner: a suite's process that dies is not taken for one that has ended" {
	a_suite one 'import signal' "@SUITE.test('first')" 'def first(): os.kill(os.getppid(), signal.SIGKILL)' \
		"@SUITE.test('second')" 'def second(): pass'
	results >is
	[ "$ended" = 75 ]
	[ "$(ls queue/todo)" = "000 one.py" ]
}

@test "runner: names are chosen by a regular expression, and tests for one kernel left out" {
	a_suite one "@SUITE.test('read a', once=True)" 'def a(): pass' "@SUITE.test('read b')" 'def b(): pass' \
		"@SUITE.test('write')" 'def c(): pass'
	cp "queue/todo/100 one.py" saved
	results --filter ^read >is
	[ "$(cat is)" = "ok 1 read b" ]
	cp saved "queue/todo/100 one.py"
	results --once --filter ^read >is
	[ "$(wc -l <is)" = 2 ]
}

@test "runner: machines that share a queue run each suite once" {
	for n in {1..20}; do
		a_suite "suite_$n" "@SUITE.test('test $n')" 'def test(): pass'
	done
	for machine in 1 2 3; do
		"${runner[@]}" --machine $machine >said-$machine &
		machines+=($!)
	done
	# Not for what limits the time of this test.
	wait "${machines[@]}"
	[ "$(sed -nE 's/^ok [0-9]+ test ([0-9]+) in.*/\1/p' said-* | sort -n | paste -sd ' ')" = "$(seq -s ' ' 20)" ]
}

@test "runner: no suite is begun after the time that is given" {
	a_suite one "@SUITE.test('late')" 'def late(): pass'
	results --until 1 >is
	[ ! -s is ]
	grep -qx '# no time for other suites' said
	[ "$(ls queue/todo)" = "100 one.py" ]
}

@test "runner: every suite of the tree has tests, each with a name of its own" {
	cd "$TOP"
	python3 -S -s tests/lib/runner.py tests >"$BATS_TEST_TMPDIR/names"
	[ -s "$BATS_TEST_TMPDIR/names" ]
	[ -z "$(sort "$BATS_TEST_TMPDIR/names" | uniq -d)" ]
	for suite in $(python3 -S -s tests/lib/runner.py suites --kernel 6.12); do
		grep -q "^$suite " "$BATS_TEST_TMPDIR/names"
	done
}
