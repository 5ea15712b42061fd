#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer traces merge`: traces of several hosts or times become one. The traces are recorded
# from a directory that looks like /proc/iotracer, so neither root nor the module is needed.

# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TOP/module" \
		-o "$BATS_FILE_TMPDIR/many-events" \
		"$TOP/tests/cost/many-events.c" "$TOP/module/core/schema.c"
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-merge.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept
	idle_category fs
	tool-stream layout=1 event=2 </dev/null >proc/fs/stream
	tool-stream layout=2 </dev/null >proc/paths
}

teardown() {
	[ -z "${recorder:-}" ] || kill -9 "$recorder" 2>/dev/null || true
	cd /
	rm -rf "$work"
}

events() {
	tool-stream layout=1 event=2 "$@" >proc/fs/stream
}

paths() {
	tool-stream layout=2 >proc/paths
}

record() {
	iotracer record -o "$@" -- true 2>summary || { cat summary; return 1; }
}

# begins TRACE SECOND [HOST]: it began then, by the monotonic clock at 1 s, and ended a second later
begins() {
	with_trace_file <<-END
		set_clocks("$1", $2 * 10**9 + 10**9)
		with open("$1/metadata.json", encoding="utf-8") as f:
		    metadata = json.load(f)
		metadata["begin"]["realtime_ns"] = $2 * 10**9
		metadata["host"] = "${3:-$1}"
		with open("$1/metadata.json", "w", encoding="utf-8") as f:
		    json.dump(metadata, f)
		seal_metadata("$1/metadata.json")
	END
}

# check FUNCTION ARGUMENT...: of traces_merge.py
check() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m traces_merge "$@"
}

# column NAME: print that column of the CSV on standard input, without its header.
column() {
	python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row[sys.argv[1]])' "$1"
}

# two: traces a and b, each with paths of its own under the same numbers
two() {
	paths <<-'END'
		id=5 inode=11 text=/srv/a,"1"
		id=6 inode=12 text=/srv/a2
	END
	events <<-'END'
		cpu=0 seq=3 time=1000000000 latency=500 op=4 pid=7 tid=8 comm=cat path=5 result=3 kind=1
		cpu=0 seq=4 time=1000001000 latency=10 op=30 pid=7 tid=8 comm=cat path=6 path2=5
		cpu=3 seq=0 time=1000000700 latency=1 op=0 pid=7 tid=8 comm=cat result=100
	END
	record a
	begins a 1500000000 alpha
	paths <<<"id=5 inode=11 text=/home/b"
	events cpus=2 <<-'END'
		cpu=0 seq=3 time=1000000300 latency=500 op=4 pid=9 tid=9 comm=dog path=5
		cpu=1 seq=0 time=1000001000 latency=10 op=0 pid=9 tid=9 comm=dog path=5
	END
	record b
	begins b 1500000000 beta
}

# many: traces a and b of many frames, and c, which begins when they are over
many() {
	many-events proc 40000 3 100
	record a --compress=never
	begins a 1500000000
	many-events proc 30000 2 70
	record b
	begins b 1500000000
	many-events proc 20000 4 80
	record c
	begins c 1500000100
	[ "$(jq .categories[0].frames a/metadata.json)" -gt 3 ]
}

# nothing_left NAME: there is neither the result nor a part of it
nothing_left() {
	[ ! -e "$1" ]
	[ ! -e ".$1.partial" ]
}

@test "the rows are those of the traces, each with its host and trace, in the order of their ends" {
	two
	iotracer traces merge -o m a b
	iotracer export a >a.csv
	iotracer export b >b.csv
	iotracer export ./m >m.csv
	check merged m.csv a=a.csv=0 b=b.csv=0
	[ "$(column host <m.csv | tr '\n' ' ')" = "alpha alpha beta alpha beta " ]
	[ "$(column path <m.csv | tr '\n' ' ')" = '/srv/a,"1"  /home/b /srv/a2 /home/b ' ]
	[ "$(column path2 <m.csv | sed -n 4p)" = '/srv/a,"1"' ]
	[ "$(column cpu <m.csv | tr '\n' ' ')" = "0 3 0 0 1 " ]
	cmp <(iotracer export -f json ./m | jq -r .host) <(column host <m.csv)
	[ "$(head -n 1 m.csv)" = "$(head -n 1 a.csv),host,trace" ]
}

@test "the rows of an ordinary trace have no host" {
	two
	iotracer export a | head -n 1 >header
	run ! grep -qE '(^|,)(host|trace)(,|$)' header
}

@test "many frames: each row once, in order, whatever the order of the traces" {
	many
	for t in a b c; do
		iotracer export $t >$t.csv
	done
	for order in "a b c" "c b a" "b c a"; do
		# shellcheck disable=SC2086
		iotracer traces merge -o m $order
		iotracer export ./m >m.csv
		[ "$(check merged m.csv a=a.csv=0 b=b.csv=0 c=c.csv=0)" = 90000 ]
		iotracer traces verify ./m
		rm -r m
	done
}

@test "offsets are added to the times of their trace" {
	many
	iotracer export a >a.csv
	iotracer export b >b.csv
	for offset in 0.25 -0.000000001 3600 -86400; do
		iotracer traces merge -o m --offset="b=$offset" a b
		iotracer export ./m >m.csv
		check merged m.csv a=a.csv=0 "b=b.csv=$(python3 -c 'import sys; print(round(float(sys.argv[1]) * 1e9))' "$offset")"
		[ "$(jq '.sources[1].offset_s' m/metadata.json | jq ". == ($offset)")" = true ]
		rm -r m
	done
}

@test "clocks of different rates: the rows are in the order in which they ended" {
	many
	with_trace_file <<-'END'
		set_clocks("a", 1500000001000900000)
	END
	iotracer traces merge -o m a b
	iotracer export ./m >m.csv
	[ "$(check ordered m.csv)" = 70000 ]
	# the clock of a gained 0.9 ms a second
	iotracer export a >a.csv
	paste -d, <(column timestamp <a.csv) <(column latency_ns <a.csv) <(grep ',a$' m.csv | cut -d, -f1) |
		python3 -c 'import sys
for line in sys.stdin:
    before, latency, after = line.strip().split(",")
    assert abs(int(before[20:29]) - int(after[20:29])) <= 1 + int(latency) / 1000, line'
}

@test "a category that only some have is there with their rows" {
	two
	idle_category block
	tool-stream layout=1 event=4 <<<"cpu=1 seq=0 time=1000000900 latency=7 op=1 pid=3 comm=disk path=5" >proc/block/stream
	paths <<<"id=5 text=/srv/c"
	events <<<"cpu=0 seq=0 time=1000000950 op=0 comm=cat path=5"
	record c -c fs,block
	begins c 1500000000 gamma
	iotracer traces merge -o m a b c
	[ "$(jq -c '[.categories[] | .name, .events]' m/metadata.json)" = '["fs",6,"block",1]' ]
	iotracer export --category=block ./m >block.csv
	[ "$(column host <block.csv)" = gamma ]
	[ "$(column path <block.csv)" = /srv/c ]
	iotracer traces verify ./m
}

@test "lost and missed events, and forgotten paths, are added up" {
	paths <<-'END'
		id=5 text=/srv/a
		id=8 text=/srv/d
	END
	events <<-'END'
		cpu=0 seq=3 time=1000000000 op=4 path=5
		cpu=0 seq=9 gap=5 time=1000000100 op=4 path=7
		cpu=1 seq=4 time=1000000200 op=4 path=8
		cpu=1 seq=6 gap=1
		cpu=1 seq=6 time=1000000300 op=4 path=100
	END
	for t in a b; do
		record $t
		begins $t 1500000000
	done
	iotracer traces merge -o m a b
	jq -e '.state == "LOSSY" and .categories[0].lost == 12 and .categories[0].events == 8 and .paths.lost == 4
		and .categories[0].lost_by_cpu == {"0": 5, "1": 1, "4": 5, "5": 1}
		and .lost_share == 0.6' m/metadata.json
	[ "$(iotracer export ./m 2>/dev/null | column path | sort | uniq -c | tr -s ' \n' ' ')" = " 2 /srv/a 2 /srv/d 4 ? " ]
	run --separate-stderr iotracer traces verify ./m
	[ "$status" = 0 ]
	[[ $stderr == *"fs: 12 events (60.00 %) are missing"* ]]
}

@test "list, show and verify take a merged trace as any other" {
	two
	iotracer traces merge a b >out
	name=$(head -n 1 out)
	[[ $name == "$IOTRACER_TRACES"/* ]]
	[ "$(iotracer traces list --json | jq -c '.[] | [.path, .state, .host]')" = "[\"$name\",\"COMPLETE\",\"alpha, beta\"]" ]
	iotracer traces show "$(basename "$name")" >shown
	grep -Fx '  source      a: COMPLETE, host alpha, offset +0 s' shown
	grep -Fx '  source      b: COMPLETE, host beta, offset +0 s' shown
	[ "$(iotracer traces verify "$name" | tail -n 1)" = "  verdict     whole" ]
	iotracer traces remove "$name"
	[ "$(ls -A "$IOTRACER_TRACES")" = "" ]
}

@test "command lines stay with their events" {
	two
	# the first record of CPU 0 of b has the note; a has records of the same seq and CPU
	with_trace_file <<-'END'
		from lib.trace_file import *
		for trace in "a", "b":
		    text = ("of " + trace).encode().ljust(8, b"!")
		    one_frame(trace, lambda size: block(0, 2, 1, first=0) + record(size, 0) +
		              struct.pack("<IIQQ", 0x45544f4e, len(text), 0, 0) + text, events=1)
	END
	iotracer traces merge -o m a b
	[ "$(iotracer export ./m | column cmdline | sort | tr '\n' ' ')" = "of a!!!! of b!!!! " ]
	[ "$(iotracer export ./m | column trace | sort | tr '\n' ' ')" = "a b " ]
	[ "$(iotracer export ./m -f json | jq -r 'select(.cmdline != "of " + .trace + "!!!!")')" = "" ]
}

@test "a merged trace can be merged, and its traces stay apart" {
	many
	iotracer traces merge -o ab a b
	iotracer traces merge -o m --offset=ab=1.5 c ab
	for t in a b c; do
		iotracer export $t >$t.csv
	done
	iotracer export ./m >m.csv
	check merged m.csv a=a.csv=1500000000 b=b.csv=1500000000 c=c.csv=0
	jq -e '[.sources[] | .trace, .offset_s, .first_cpu] == ["c", 0, 0, "a", 1.5, 4, "b", 1.5, 7]' m/metadata.json
}

@test "the same trace twice is refused: by its name, as a copy, in a merged trace" {
	two
	cp -r a copy
	iotracer traces merge -o ab a b
	for again in a ./a copy ab; do
		run -1 --separate-stderr iotracer traces merge -o m b a $again
		echo "$again: $stderr"
		[[ $stderr == "iotracer: $again: is the same trace as "*", or contains it" ]]
		[ -z "$output" ]
		nothing_left m
	done
}

@test "the trace of a killed recorder is merged up to its last frame, and the result says so" {
	two
	iotracer record -o k 2>/dev/null &
	recorder=$!
	wait_for has_frames k
	run -1 --separate-stderr iotracer traces merge -o m a k
	[ "$stderr" = "iotracer: k: is being recorded: end iotracer record first" ]
	nothing_left m
	kill -9 "$recorder"
	wait "$recorder" || true
	run -1 --separate-stderr iotracer traces merge -o m a k
	[[ $stderr == *"k: has no end: its recorder was killed"*"m: has only the readable part of traces that are not whole"* ]]
	[[ ${stderr_lines[-1]} == *"so the exit status is 1 (with --partial: 0)" ]]
	jq -e '.state == "ERROR" and .reason == "merged from traces that are not whole: k" and
		[.sources[].state] == ["COMPLETE", "INTERRUPTED"] and .categories[0].events == 5' m/metadata.json
	[ "$(iotracer export --partial ./m 2>/dev/null | column trace | sort | uniq -c | tr -s ' \n' ' ')" = " 3 a 2 k " ]
	run -1 iotracer traces verify ./m
	rm -r m
	iotracer traces merge --partial -o m a k
	[ "$(iotracer export --partial ./m 2>/dev/null | wc -l)" = 6 ]
}

has_frames() {
	[ "$(stat -c %s "$1/fs.iot" 2>/dev/null || echo 0)" -gt 4096 ]
}

@test "events of a damaged frame count as lost, and no row of another trace is" {
	many
	iotracer export b >b.csv
	damage() { printf 'xxxxxxxx' | dd of="$1/fs.iot" bs=1 seek="$2" conv=notrunc status=none; }
	size=$(stat -c %s a/fs.iot)
	for at in 4200 $((size / 2)) $((size - 200000)); do
		cp -r a d
		damage d "$at"
		iotracer export --partial d >d.csv 2>err
		rows=$(($(wc -l <d.csv) - 1))
		[ "$rows" -lt 40000 ]
		iotracer traces merge --partial -o m d b 2>err
		grep -q 'd: fs: events are missing from the file' err
		iotracer export --partial ./m >m.csv 2>/dev/null
		check merged m.csv d=d.csv=0 b=b.csv=0
		jq -e ".state == \"ERROR\" and .categories[0].events == $rows + 30000 and
			.categories[0].lost == 40000 - $rows" m/metadata.json
		rm -r m d
	done
}

@test "each flipped bit of a trace is noticed, and the result is not whole or not there" {
	two
	record z --compress=never
	begins z 1500000000 zeta
	for file in metadata.json schema.json paths.iot fs.iot; do
		size=$(stat -c %s "z/$file")
		# bytes all over the content; zeroes fill the rest of a frame
		for at in 1 20 50 100 $((size > 4200 ? 4100 : size / 3)) $((size > 4200 ? 4200 : size / 2)); do
			cp -r z d
			python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)[0]
    f.seek(int(sys.argv[2]))
    f.write(bytes([byte ^ 4]))' "d/$file" "$at"
			run -1 timeout 20 iotracer traces merge -o m a d
			echo "$file $at: $output"
			if [ -e m ]; then
				[ "$(jq -r .state m/metadata.json)" = ERROR ]
				[ "$(iotracer export --partial ./m 2>/dev/null | column trace | grep -c a)" = 3 ]
			fi
			rm -rf m d
		done
	done
}

@test "a trace that exists is refused, and stays as it is" {
	two
	mkdir m
	for there in m a; do
		find $there -type f -exec sha256sum {} + | sort >before
		run -1 --separate-stderr iotracer traces merge -o $there a b
		[ "$stderr" = "iotracer: $there: exists already: name another directory (-o), or remove it" ]
		find $there -type f -exec sha256sum {} + | sort | cmp - before
		[ ! -e ".$there.partial" ]
	done
	run -1 --separate-stderr iotracer traces merge -o missing/m a b
	[[ $stderr == "iotracer: missing/m: cannot be made: No such file or directory" ]]
}

@test "a trace of another schema is refused with one line, and nothing is left" {
	two
	printf '\xff' | dd of=b/fs.iot bs=1 seek=17 conv=notrunc status=none
	seal_header b/fs.iot
	run -1 --separate-stderr iotracer traces merge -o m a b
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == "iotracer: b/fs.iot: the trace has stream version "*": use the tool that recorded it" ]]
	nothing_left m
}

@test "what cannot be merged is refused with one line" {
	two
	with_trace_file <<-'END'
		with open("b/metadata.json", encoding="utf-8") as f:
		    metadata = json.load(f)
		del metadata["begin"], metadata["end"]
		with open("b/metadata.json", "w", encoding="utf-8") as f:
		    json.dump(metadata, f)
		seal_metadata("b/metadata.json")
	END
	run -1 --separate-stderr iotracer traces merge -o m a b
	[ "$stderr" = "iotracer: b: cannot be merged: metadata.json does not say when it began" ]
	run -1 --separate-stderr iotracer traces merge -o m missing a
	[[ $stderr == "iotracer: missing: no such trace: "* ]]
	begins a 1000
	run -1 --separate-stderr iotracer traces merge -o m --offset a=-2000 a b
	[ "$stderr" = "iotracer: a: begins before 1970 with this offset" ]
	nothing_left m
}

@test "a full disk is an error of one line, and nothing is left" {
	many
	for blocks in 1 8 64 512; do
		run -1 --separate-stderr bash -c "ulimit -f $blocks; exec iotracer traces merge -o m a b c"
		echo "$blocks: $stderr"
		[ "${#stderr_lines[@]}" = 1 ]
		[[ $stderr == "iotracer: m: "*" cannot be written: File too large (the merged trace is deleted)" ]]
		[ -z "$output" ]
		nothing_left m
	done
}

@test "one that is interrupted leaves nothing; one that is killed leaves no trace" {
	many
	for signal in TERM INT HUP KILL; do
		for delay in 0.005 0.01 0.02 0.05; do
			env --default-signal=INT iotracer traces merge -o m a b c >out 2>err &
			sleep "$delay"
			kill -s "$signal" $! 2>/dev/null || true
			wait $! 2>/dev/null && code=0 || code=$?
			echo "$signal $delay: $code"
			if [ -e m ]; then
				iotracer traces verify ./m
			else
				[ "$code" -gt 128 ]
			fi
			[ "$signal" = KILL ] || [ ! -e .m.partial ]
			[ "$(IOTRACER_TRACES=$work iotracer traces list --json | jq -r '.[].name' | grep -vx '[abc]')" = "$([ ! -e m ] || echo m)" ]
			rm -rf m .m.partial
		done
	done
}

@test "what a killed one left is named" {
	two
	mkdir .m.partial
	run -1 --separate-stderr iotracer traces merge -o m a b
	[ "$stderr" = "iotracer: .m.partial: cannot be made: File exists (another merge is writing it, or was killed: then remove it)" ]
}

@test "memory does not grow with the traces" {
	peak() {
		python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' iotracer traces merge -o "$1" "${@:2}"
	}
	for n in 100000 400000; do
		for t in a b; do
			many-events proc $n 2 1000
			record $t$n --compress=never
			begins $t$n 1500000000
		done
	done
	small=$(peak small a100000 b100000)
	large=$(peak large a400000 b400000)
	echo "$small KiB, $large KiB"
	[ "$large" -lt $((small + small / 4)) ]
	[ $((large * 1024)) -lt "$(stat -c %s a400000/fs.iot)" ]
}

@test "snapshots stay with their trace, which is said" {
	two
	mkdir tree
	record s --snapshots --snapshot-root=tree
	begins s 1500000000
	run --separate-stderr iotracer traces merge -o m s a
	[ "$status" = 0 ]
	[ "$stderr" = "iotracer: s: its snapshots are not copied: the merged trace has none" ]
	[ "$(jq .snapshots m/metadata.json)" = null ]
	[ ! -e m/snapshots ]
}

@test "anonymize: host and trace are hashed, too" {
	two
	head -c 32 /dev/zero >key
	iotracer traces merge -o m a b
	iotracer export -a --key-file=key ./m >m.csv
	run ! grep -qE 'alpha|beta|srv|home' m.csv
	[ "$(column host <m.csv | sort -u | wc -l)" = 2 ]
	[ "$(column trace <m.csv | sort -u | wc -l)" = 2 ]
	# the host as iotracer record --anonymize has it
	record h --anonymize --key-file=key
	iotracer traces merge -o n h b 2>err
	[ "$(jq .anonymized n/metadata.json)" = false ]
}

@test "a wrong command line is refused with one line" {
	for arguments in "merge" "merge a" "merge -o '' a b" "merge --offset=a a b" "merge --offset=a=x a b" \
		"merge --offset=c=1 a b" "merge --offset=a=1 --offset=a=2 a b" "merge --offset==1 a b" \
		"merge --offset=a=1e10 a b" "merge --offset=a=nan a b" "list -o x" "verify --partial t" \
		"show --offset=t=1 t" "merge --json a b"; do
		run eval "iotracer traces $arguments"
		echo "$arguments: $output"
		[ "$status" = 2 ]
		[ "$(grep -c '^iotracer traces: ' <<<"$output")" = 1 ]
	done
}

@test "bash completes merge and its traces" {
	mkdir -p "$IOTRACER_TRACES"
	two
	mv a b "$IOTRACER_TRACES"
	[ "$(completed iotracer traces me)" = "merge " ]
	[ "$(completed iotracer traces merge b)" = "b " ]
	[[ $(completed iotracer traces merge --) == *"--offset --output --partial "* ]]
}
