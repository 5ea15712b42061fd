# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# How scripts/check, check-debug and check-fields run their parts and judge what the parts
# report. Sourced in the top directory, never executed. The caller sets logs, the directory
# in which the parts' output is kept.

: "${logs:?}"
passed=0 failed=0 skipped=0
# Parts for which there was no time, and parts that were ended at their limit.
late=() cut=()
# A line for each failed test, to be repeated at the end with the last lines that the test
# printed: some readers see the end only.
failures=()
# A line for each test that failed and then passed when it was run once more, as scripts/check-vm and
# scripts/check-host say. As long as they are few, they fail no run: a landing is not refused for a test
# that failed by chance.
flaky=()
FLAKY_MOST=2
started=$SECONDS

# part NAME COMMAND...: run a part. Each line of its output is shown after its name, and kept. A
# part that runs when CHECK_LIMIT seconds have passed is killed with all that it has started.
part() {
	local name=$1 began=$SECONDS TIMEFORMAT='%U %S'
	shift
	printf '[%4d s] %s: %s\n' $((SECONDS - started)) "$name" "$*"
	{ time within_limit "$@" </dev/null 2>&1; } 2>"$logs/$name.processor" | tee "$logs/$name" | sed -u "s/^/[$name] /"
	echo "${PIPESTATUS[0]}" >"$logs/$name.status"
	echo "$((SECONDS - began))" >"$logs/$name.seconds"
}

# within_limit COMMAND...: run a command of part $name, and with a limit in a process group of its
# own, which SIGINT from a terminal does not reach.
within_limit() {
	local group watch status
	if [ -z "${CHECK_LIMIT:-}" ]; then
		"$@"
		return
	fi
	set -m
	# What runs parts itself leaves them in this group.
	CHECK_LIMIT='' "$@" &
	group=$!
	{
		sleep $((CHECK_LIMIT > SECONDS - started ? CHECK_LIMIT - SECONDS + started : 0))
		: >"$logs/$name.cut"
		kill -KILL -- "-$group"
	} >/dev/null 2>&1 &
	watch=$!
	set +m
	trap 'kill -KILL -- "-$group" "-$watch"' INT TERM HUP
	wait "$group" 2>/dev/null
	status=$?
	kill -KILL -- "-$watch" 2>/dev/null
	return "$status"
}

# Print how long each of the parts took, and how much of that the processors, the longest first.
say_times() {
	local name
	printf '%8s %12s\n' seconds 'of processors'
	for name; do
		[ -e "$logs/$name.late" ] || printf '%8d %12d  %s\n' "$(cat "$logs/$name.seconds")" \
			"$(awk '{ sum += $1 + $2 } END { print int(sum) }' "$logs/$name.processor")" "$name"
	done | sort -rn
}

# parts_at_once WORKERS [FUNCTION]: run the parts on standard input in their order, by part() or another
# function. Each line has its arguments. WORKERS parts run at a time, or fewer if there is no memory for their
# virtual machines. With the longest parts first, the processors end together. A part, and a suite of
# scripts/check-vm, that has not begun after CHECK_SECONDS is not run, which the verdict says; by
# default there is no limit.
parts_at_once() {
	local workers=$1 run=${2:-part} memory list running=() reporter
	[ -z "${CHECK_SECONDS:-}" ] || export CHECK_UNTIL=$(($(date +%s) + CHECK_SECONDS - SECONDS + started))
	memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576 / 3) }' /proc/meminfo)
	[ "$workers" -le "$memory" ] || workers=$((memory > 0 ? memory : 1))
	list=$(mktemp) || return 1
	cat >"$list"
	while [ "$workers" -gt 0 ]; do
		while take_part; do
			if [ $((SECONDS - started)) -gt "${CHECK_SECONDS:-$SECONDS}" ]; then
				: >"$logs/${line%% *}.late"
				continue
			fi
			# shellcheck disable=SC2086 # they are several words
			"$run" $line
		done 9<"$list" &
		running+=($!)
		workers=$((workers - 1))
	done 8<"$list"
	cut -d " " -f 1 "$list" | say_progress &
	reporter=$!
	# Not for what else its caller has started.
	wait "${running[@]}"
	kill "$reporter"
	rm -f "$list"
}

# Once a minute (PROGRESS seconds), say how far the parts are whose names are on standard input.
say_progress() {
	local names name now left ended never counts
	mapfile -t names
	# Nothing is ever read from this, so that a read of it is a sleep that ends with its shell.
	exec {never}<> <(:)
	while ! read -rt "${PROGRESS:-60}" -u "$never"; do
		[ -d /proc/$$ ] || return
		now='' left=0 ended=0
		for name in "${names[@]}"; do
			if [ -e "$logs/$name.status" ] || [ -e "$logs/$name.late" ]; then
				ended=$((ended + 1))
			elif [ -e "$logs/$name" ]; then
				now+=" $name"
			else
				left=$((left + 1))
			fi
		done
		counts=$(cd "$logs" && cat "${names[@]}" 2>/dev/null |
			awk '/^ok / { good++ } /^not ok / { bad++ } END { printf "%d tests passed, %d failed", good, bad }')
		printf '[%4d s] %d parts done, %d left, now%s; %s\n' $((SECONDS - started)) $ended $left "${now:- none}" "$counts"
	done
}

# Read the next line into $line. The workers share descriptor 8, and with it the position in
# the list. Each has a descriptor 9 of its own to lock the list.
take_part() {
	local status
	flock 9
	IFS= read -r line <&8
	status=$?
	flock -u 9
	return "$status"
}

complain() {
	failed=$((failed + 1))
	failures+=("not ok - $*")
	printf 'not ok - %s\n' "$*"
}

# Whether tests/skips allows part $1 to skip test $2. Its lines are PART|TEST|REASON, of which
# the first two are patterns of the shell.
planned() {
	local part test reason
	while IFS='|' read -r part test reason; do
		case $part in '' | '#'*) continue ;; esac
		# shellcheck disable=SC2053 # patterns are meant
		[[ $1 == $part && $2 == $test && -n $reason ]] && return 0
	done < <(cat tests/skips 2>/dev/null)
	return 1
}

judge_skips() {
	local name=$1 line test
	while read -r line; do
		test=$(sed -E 's/^ok [0-9]+ (- )?//; s/( in [0-9]+ms)? # skip.*$//' <<<"$line")
		if planned "$name" "$test"; then
			skipped=$((skipped + 1))
		else
			complain "$name: a skip that tests/skips does not plan: $line"
		fi
	done < <(grep -aE '^ok .*# skip' "$logs/$name")
}

# The failed tests of part $1, a line each, with the last three lines that each printed. With a second
# argument those that passed when they were repeated, else the others.
failures_in() {
	awk -v "part=$1" -v "flaky=$(($# == 2))" '
		NR == FNR { if (/^# flaky [0-9]/) passed[$3]; next }
		/^# what failed is run once more/ { exit }
		function say(i, said) {
			if (failed)
				for (i = lines > 3 ? lines - 2 : 1; i <= lines; i++)
					said = said " | " substr(line[i], 1, 300)
			if (failed)
				print part ": " failed said
			failed = ""
		}
		/^(not )?ok |^# suite |^# another machine goes on/ { say(); lines = 0 }
		/^not ok / && ($3 in passed) == flaky { failed = $0 }
		/^#/ { line[++lines] = $0 }
		END { say() }' "$logs/$1" "$logs/$1"
}

# Count what part $1 reported, print what failed and why, and compare the number of tests with
# the plan, unless the part was ended. A test that passed when it was repeated has passed. A result without a number is a test outside of the plan.
judge() {
	local name=$1 good bad again plan numbered status
	status=$(cat "$logs/$name.status")
	good=$(grep -aE '^ok ' "$logs/$name" | grep -acvE '# skip')
	again=$(grep -acE '^# flaky [0-9]' "$logs/$name")
	bad=$(($(grep -acE '^not ok ' "$logs/$name") - again)) good=$((good + again))
	passed=$((passed + good)) failed=$((failed + bad))
	awk '/^not ok / { shown = 1 } /^ok / || /^[^#n]/ { shown = 0 } shown && !/^ok /' "$logs/$name" |
		sed "s/^/$name: /"
	mapfile -t -O ${#failures[@]} failures < <(failures_in "$name")
	mapfile -t -O ${#flaky[@]} flaky < <(failures_in "$name" flaky)
	judge_skips "$name"
	plan=$(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$logs/$name" | tail -n 1)
	numbered=$(grep -acE '^(not )?ok [0-9]' "$logs/$name")
	if [ -e "$logs/$name.cut" ]; then
		cut+=("$name")
		printf '%s: ended after %d s: %s tests planned, %d run\n' "$name" "$CHECK_LIMIT" "${plan:-not known how many}" "$numbered"
	elif grep -q '^# no time for other suites' "$logs/$name"; then
		cut+=("$name")
	elif [ -z "$plan" ] || { [ "$plan" -eq 0 ] && ! grep -q '^# no suite was left' "$logs/$name"; } || [ "$plan" -ne "$numbered" ]; then
		complain "$name: ${plan:-no number of} tests planned, $numbered run"
	elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
		complain "$name: ended with status $status (see ${logs#"$PWD"/}/$name)"
	fi
}

# verdict PART...: judge all parts and print the last lines of a run. Fails if a test failed or
# none was run.
verdict() {
	local name
	echo
	for name in "$@"; do
		if [ -e "$logs/$name.late" ]; then
			late+=("$name")
		else
			judge "$name"
		fi
	done
	[ "${#flaky[@]}" -le "$FLAKY_MOST" ] || complain "${#flaky[@]} tests failed and passed when they were repeated, more than $FLAKY_MOST"
	echo
	say_times "$@"
	printf '[%4d s] the logs are in %s\n' $((SECONDS - started)) "${logs#"$PWD"/}"
	[ ${#failures[@]} -eq 0 ] || printf '%s\n' "${failures[@]:0:10}"
	[ "${#failures[@]}" -le 10 ] || echo "... and $((${#failures[@]} - 10)) more"
	[ "${#flaky[@]}" -eq 0 ] || printf 'flaky, passed when it was repeated: %s\n' "${flaky[@]}"
	[ "${#late[@]}" -eq 0 ] || echo "not run, as they had not begun after $CHECK_SECONDS s: ${late[*]}"
	[ "${#cut[@]}" -eq 0 ] || echo "ended before their last test, after ${CHECK_LIMIT:-$CHECK_SECONDS} s: ${cut[*]}"
	printf '%d passed, %d failed' "$passed" "$failed"
	[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
	[ "${#late[@]}" -eq 0 ] || printf ', parts not run: %d' "${#late[@]}"
	[ "${#cut[@]}" -eq 0 ] || printf ', parts not to their end: %d' "${#cut[@]}"
	echo
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
