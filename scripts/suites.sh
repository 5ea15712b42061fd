# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What scripts/check-vm and scripts/check-host share: the queue of suites, and the second run of
# tests that failed. Sourced in the top directory, never executed.

# Debian's programs come first. The python3 of a version manager (pyenv) may be a script that takes ten
# times as long to start, and has none of Debian's modules.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

# The lines of standard input. Where the time ends before all are run, each CHECK_TURN begins with another
# one, so that the last ones are not always the same.
iot_rotated() {
	awk -v "turn=${CHECK_UNTIL:+${CHECK_TURN:-0}}" '
		{ line[NR - 1] = $0 }
		END { for (i = 0; i < NR; i++) print line[(i + turn * 7) % NR] }'
}

# iot_suites SUITE...: print where these suites are. Each is named by its file name, with its ending or
# without, or by its path. Fails if there is no such suite.
iot_suites() {
	local suite path
	for suite; do
		# Beside x.bats there may be a file x.py that it runs.
		path=$(find tests -path tests/lib -prune -o \( -name "${suite##*/}" -o -name "${suite##*/}.py" -o \
			-name "${suite##*/}.bats" \) -print | grep -E '\.(py|bats)$' | sort | head -n 1)
		[ -n "$path" ] || { echo "no suite '$suite' in tests" >&2; return 1; }
		echo "$path"
	done
}

# iot_queue_fill QUEUE TIMES SUITE...: make the queue of the suites, unless another run has, as
# tests/lib/runner.py describes it. Those that took longest, as file TIMES or tests/seconds says, come
# first.
iot_queue_fill() {
	local queue=$1 times=$2 made suite order=100
	shift 2
	[ ! -d "$queue" ] || return 0
	made=$(mktemp -d "$queue.XXXXXX") && mkdir "$made/todo" || return
	while read -r suite; do
		: >"$made/todo/$order $suite"
		order=$((order + 1))
	done < <({ cat tests/seconds "$times" 2>/dev/null; printf '%s\n' "${@##*/}"; } | awk '
		NF == 2 { seconds[$1] = $2 }
		NF == 1 { print ($1 in seconds ? seconds[$1] : 60), $1 }' | sort -k1,1nr -k2 | cut -d " " -f 2 | iot_rotated)
	mv -T "$made" "$queue" 2>/dev/null || rm -rf "$made"
}

# iot_queue_times QUEUE TIMES: keep in file TIMES how long each suite took.
iot_queue_times() {
	[ -e "$1/seconds" ] || return 0
	awk '{ sum[$1] += $2 } END { for (suite in sum) print suite, sum[suite] }' "$1/seconds" >"$2.$$" && mv "$2.$$" "$2"
}

# Print a regular expression that only the tests whose names are the lines of standard input match. bats
# compares it with the names as they are written in the suite, with their backslashes.
iot_only() {
	sed -E 's/[^[:alnum:] ]/.?[&]/g; s/\[\^\]/\\^/g' | paste -sd '|' | sed 's/.*/^(&)$/'
}

# iot_repeat TAP COMMAND...: run the tests that failed in file TAP once more, by a command of which {} is
# replaced by a regular expression for their names, and to which their suites are added. Behind what it
# prints there is a line `# flaky NUMBER NAME` for each test that passed now. Fails if one did not.
iot_repeat() {
	local tap=$1 names second status of=()
	shift
	# A suite's own set-up has no name to run it by.
	names=$(sed -nE '/^not ok [0-9]+ (setup|teardown)_file failed/!s/^not ok [0-9]+ (- )?(.*) in [0-9]+ms( # timeout.*)?$/\2/p' "$tap")
	[ -n "$names" ] || return
	names=$(iot_only <<<"$names")
	mapfile -t of < <(awk '/^# suite / { suite = $3 } /^not ok [0-9]/ && !seen[suite]++ { print suite }' "$tap")
	second=$(mktemp) || return
	echo "# what failed is run once more"
	CHECK_UNTIL='' "${@//'{}'/$names}" "${of[@]}" >"$second"
	status=$?
	sed 's/^/# /' "$second"
	if [ "$status" -gt 1 ]; then
		echo "not ok - what failed could be run once more (exit status $status)"
	else
		awk '
			function name() { sub(/ in [0-9]+ms( # timeout.*)?$/, ""); return $0 }
			NR == FNR { if (!/# skip/ && sub(/^ok [0-9]+ (- )?/, "")) passed[name()]; next }
			{ number = $3 }
			sub(/^not ok [0-9]+ (- )?/, "") && name() in passed { print "# flaky", number, $0 }' "$second" "$tap"
	fi
	rm -f "$second"
	return "$status"
}
