#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Where traces are kept, and `iotracer traces`: list, show, path, verify, remove. The traces are
# recorded from a directory that looks like /proc/iotracer, so neither root nor the module is
# needed.

# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-traces.XXXXXX)
	cd "$work" || return
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept/here
	idle_category fs
	tool-stream layout=1 event=2 >proc/fs/stream <<-'END'
		cpu=0 seq=3 time=1000000000 latency=500 op=4 pid=7 tid=8 comm=cat path=1 result=3 kind=1
		cpu=0 seq=4 time=1000001000 latency=10 op=0 pid=7 tid=8 comm=cat path=1 result=100 kind=1
	END
	echo 'id=1 inode=11 text=/srv/a' | tool-stream layout=2 >proc/paths
}

teardown() {
	[ -z "${recorder:-}" ] || kill -9 "$recorder" 2>/dev/null || true
	cd /
	rm -rf "$work"
}

# record NAME [OPTION]...: make a trace in the place where they are kept
record() {
	mkdir -p "$IOTRACER_TRACES"
	iotracer record -o "$IOTRACER_TRACES/$1" "${@:2}" -- true 2>/dev/null
}

# start_recorder NAME: record until killed
start_recorder() {
	mkdir -p "$IOTRACER_TRACES"
	iotracer record -o "$IOTRACER_TRACES/$1" 2>/dev/null &
	recorder=$!
	until [ "$(stat -c %s "$IOTRACER_TRACES/$1/fs.iot" 2>/dev/null || echo 0)" -gt 4096 ]; do
		kill -0 "$recorder" || return 1
		sleep 0.1
	done
}

kill_recorder() {
	kill -9 "$recorder"
	wait "$recorder" || true
	recorder=
}

names() {
	iotracer traces list --json "$@" | jq -r '.[] | "\(.name) \(.state)"'
}

@test "a trace without a directory of its own is kept with the others, under its date" {
	iotracer record -- true 2>summary
	name=$(basename "$(head -n 1 summary)")
	[[ $name =~ ^[0-9]{8}-[0-9]{6}$ ]]
	[ "$(head -n 1 summary)" = "$IOTRACER_TRACES/$name" ]
	[ "$(names)" = "$name COMPLETE" ]
	[ "$(stat -c %a "$IOTRACER_TRACES" "$IOTRACER_TRACES/$name" | sort -u)" = 700 ]
}

@test "traces of one second have names of their own" {
	for i in 1 2 3; do
		iotracer record -- true 2>/dev/null
	done
	[ "$(names | wc -l)" = 3 ]
	# all seconds of an hour have two traces already
	mkdir -p "$work/taken"
	(
		cd "$work/taken" || return
		now=$(date +%s)
		seq "$now" $((now + 3600)) | sed 's/^/@/' | date -f - '+%Y%m%d-%H%M%S' | xargs -I{} echo {} {}_2 | xargs mkdir
	)
	IOTRACER_TRACES=$work/taken iotracer record -- true 2>summary
	[[ $(head -n 1 summary) =~ /[0-9]{8}-[0-9]{6}_3$ ]]
}

@test "root's traces are in /var/lib/iotracer, a user's in XDG_DATA_HOME or ~/.local/share" {
	unset IOTRACER_TRACES
	chmod 755 .
	mkdir -p data/iotracer/t home/.local/share/iotracer/u
	touch data/iotracer/t/metadata.json home/.local/share/iotracer/u/metadata.json
	[ "$(XDG_DATA_HOME=$work/data unprivileged iotracer traces path t)" = "$work/data/iotracer/t" ]
	[ "$(XDG_DATA_HOME='' HOME=$work/home unprivileged iotracer traces path u)" = "$work/home/.local/share/iotracer/u" ]
	[ "$(XDG_DATA_HOME=data HOME=$work/home unprivileged iotracer traces path u)" = "$work/home/.local/share/iotracer/u" ]
	run -1 --separate-stderr unprivileged env -u HOME -u XDG_DATA_HOME iotracer traces list
	[ "$stderr" = "iotracer: there is no place for traces: set HOME, XDG_DATA_HOME or IOTRACER_TRACES, or name a directory" ]
	[ "$(id -u)" = 0 ] || return 0
	run -1 --separate-stderr iotracer traces path missing
	[[ $stderr == *"nor in /var/lib/iotracer (iotracer traces list)" ]]
}

@test "list: no traces is an empty list" {
	[ -z "$(iotracer traces list)" ]
	[ "$(iotracer traces list --json)" = "[]" ]
}

@test "list: names in order, of a prefix only; what is no trace is left out" {
	record b1
	record a
	record b2
	mkdir "$IOTRACER_TRACES/other"
	touch "$IOTRACER_TRACES/file"
	[ "$(names)" = "a COMPLETE
b1 COMPLETE
b2 COMPLETE" ]
	[ "$(names b)" = "b1 COMPLETE
b2 COMPLETE" ]
}

@test "list: one line a trace, with what was recorded and how it ended" {
	record first --label "two words"
	run iotracer traces list
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} == NAME*STATE*BEGAN*DURATION*EVENTS*GONE*MiB*CATEGORIES*LABEL ]]
	[[ ${lines[1]} == "first  COMPLETE "*" s "*" 2 "*" 0 "*"fs "*"two words" ]]
}

@test "list --json: metadata.json, and what only the directory shows" {
	record t --label nightly --tag os=debian
	iotracer traces list --json >shown
	jq -e --arg path "$IOTRACER_TRACES/t" '.[0] | .name == "t" and .path == $path and .label == "nightly"
		and .tags.os == "debian" and .command == ["true"] and .categories[0].events == 2' shown
	disk=$(du -s --block-size=1 "$IOTRACER_TRACES/t" | cut -f 1)
	directory=$(stat -c '%b*%B' "$IOTRACER_TRACES/t")
	[ "$(jq '.[0].bytes_on_disk' shown)" = $((disk - directory)) ]
}

@test "a trace that is being recorded is RUNNING, that of a killed recorder INTERRUPTED" {
	start_recorder t
	[ "$(names)" = "t RUNNING" ]
	kill_recorder
	[ "$(names)" = "t INTERRUPTED" ]
	[ "$(iotracer traces show --json t | jq -r '.[0].state')" = INTERRUPTED ]
}

@test "many that look at a trace do not take it for one that is being recorded" {
	start_recorder t
	kill_recorder
	local looking=()
	for ((i = 0; i < 20; i++)); do
		names >"look$i" &
		looking+=($!)
	done
	wait "${looking[@]}"
	[ "$(cat look* | sort -u)" = "t INTERRUPTED" ]
}

@test "a damaged metadata.json is DAMAGED, and the others are listed" {
	record bad
	record good
	sed -i 's/"host"/"hose"/' "$IOTRACER_TRACES/bad/metadata.json"
	[ "$(names 2>/dev/null)" = "bad DAMAGED
good COMPLETE" ]
	echo '{' >"$IOTRACER_TRACES/bad/metadata.json"
	run --separate-stderr iotracer traces list
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 3 ]
	[[ ${lines[1]} == "bad   DAMAGED"* ]]
	[[ $stderr == *"bad/metadata.json: is damaged"* ]]
}

@test "show: label, tags, command, filter, host and kernel" {
	printf '%s\n' stop 'size 16384' 'sample 1' 'mode overwrite' 'filter op=READ,WRITE' >proc/fs/control
	record t --label nightly --tag os=debian --tag n=3
	iotracer traces show t >shown
	for line in "t" "  path        $IOTRACER_TRACES/t" "  state       COMPLETE" "  label       nightly" \
		"  tags        os=debian n=3" "  command     true" "  host        $(uname -n)" \
		"  kernel      $(uname -r)"; do
		grep -Fx "$line" shown
	done
	grep -E '^  fs +2 events, 0 lost, 0 missed; filter ' shown
	run -1 iotracer traces show t missing
	[[ $output == *"missing: no such trace"* ]]
}

@test "show: what another host recorded cannot control the terminal" {
	record t
	python3 - "$IOTRACER_TRACES/t" <<-'END'
		import json, sys
		name = sys.argv[1] + '/metadata.json'
		document = json.load(open(name))
		document['label'] = document['host'] = 'a\x1b[2J'
		document['command'] = ['b\x1b[2J']
		document['categories'][0]['filter'] = 'c\x1b[2J'
		json.dump(document, open(name, 'w'))
	END
	run ! grep -q $'\x1b' <(iotracer traces show t 2>&1; iotracer traces list 2>&1)
}

@test "export takes the name of a trace that is kept; a directory here comes first" {
	record t
	[ "$(iotracer export t | wc -l)" = 3 ]
	mkdir t
	run -1 iotracer export t
	[[ $output == *"t/metadata.json: cannot read"* ]]
}

@test "verify: a whole trace is read to its end" {
	record t
	run --separate-stderr iotracer traces verify t
	[ "$status" = 0 ]
	[ "$output" = "t
  fs          2 events can be read
  receipt     its sums are those of the events
  verdict     whole" ]
	[ -z "$stderr" ]
}

@test "verify: says what is damaged and what can be read" {
	record t --compress=never
	printf 'x' | dd of="$IOTRACER_TRACES/t/fs.iot" bs=1 seek=4200 conv=notrunc status=none
	run --separate-stderr iotracer traces verify t
	[ "$status" = 1 ]
	[[ $stderr == *"events are missing from the file: cpu 0, seq 3 to 4"* ]]
	[ "$output" = "t
  fs          0 events can be read
  verdict     not whole" ]
}

@test "verify: each flipped bit of a trace is found" {
	record t --compress=never
	for file in metadata.json schema.json paths.iot fs.iot; do
		size=$(stat -c %s "$IOTRACER_TRACES/t/$file")
		# bytes all over the content; zeroes fill the rest of a frame
		for at in 1 100 $((size > 4200 ? 4200 : size / 2)); do
			cp -r "$IOTRACER_TRACES/t" flipped
			python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)[0]
    f.seek(int(sys.argv[2]))
    f.write(bytes([byte ^ 4]))' "flipped/$file" "$at"
			run -1 timeout 20 iotracer traces verify ./flipped
			rm -r flipped
		done
	done
}

@test "verify: a trace without an end is not whole, and its events are counted" {
	start_recorder t
	run -1 --separate-stderr iotracer traces verify t
	[[ $stderr == *"has no end yet: it is being recorded"* ]]
	kill_recorder
	run -1 --separate-stderr iotracer traces verify t
	[[ $stderr == *"has no end: its recorder was killed"* ]]
	[[ $output == *"  fs          2 events can be read"* ]]
}

@test "remove: deletes traces, and nothing else" {
	record a
	record b
	record c
	touch "$IOTRACER_TRACES/b/notes.txt"
	run -1 --separate-stderr iotracer traces remove a b
	[[ $stderr == *"b: has files that no recorder made: "* ]]
	[ "$(ls "$IOTRACER_TRACES")" = "b
c" ]
	[ "$(ls -A "$IOTRACER_TRACES/b")" = notes.txt ]
	[ "$(names)" = "c COMPLETE" ]
}

@test "remove: refuses a trace that is being recorded" {
	start_recorder t
	run -1 --separate-stderr iotracer traces remove t
	[ "$stderr" = "iotracer: t: is being recorded: end iotracer record first" ]
	[ "$(names)" = "t RUNNING" ]
	kill_recorder
	iotracer traces remove t
	[ -z "$(names)" ]
}

@test "remove: a directory that is no trace stays as it is" {
	mkdir -p other
	touch other/a.iot
	run -1 --separate-stderr iotracer traces remove ./other
	[ -e other/a.iot ]
	[[ $stderr == *"./other: is not a trace: it has no metadata.json" ]]
}

@test "a wrong command line is refused with one line that says what to say" {
	for arguments in "" "frob" "show" "verify" "remove" "path" "list a b" "verify -f json t" "list -f csv"; do
		# shellcheck disable=SC2086
		run iotracer traces $arguments
		echo "$arguments: $output"
		[ "$status" = 2 ]
		[ "$(grep -c '^iotracer traces: ' <<<"$output")" = 1 ]
	done
}

@test "bash completes actions and the names of traces" {
	record aa
	record ab
	record b
	[ "$(completed iotracer traces re)" = "remove " ]
	[ "$(completed iotracer traces show a)" = "aa ab " ]
	[ "$(completed iotracer traces remove aa b)" = "b " ]
	[ "$(completed iotracer export a)" = "aa ab " ]
}
