#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What `iotracer profile` calls sequential within a window, of accesses that are known in advance.
# Needs neither root nor the module.

# shellcheck disable=SC2154 # "run --separate-stderr" sets stderr

bats_require_minimum_version 1.5.0

# bats file_tags=host

load lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	export IOTRACER_PROC=$BATS_TEST_TMPDIR/proc
	mkdir "$IOTRACER_PROC"
	: >"$IOTRACER_PROC/control"
	touch "$BATS_TEST_TMPDIR/f"
	target sda1_1 "$BATS_TEST_TMPDIR/f"
	no_losses sda1_1
}

# reads [PID:]OFFSET+SIZE...: make the target's events reads of these bytes, in this order
reads() {
	local access pid i=0
	for access; do
		pid=1
		[[ $access != *:* ]] || pid=${access%%:*}
		access=${access#*:}
		echo "seq=$i time=$((1000 + i)) pid=$pid level=0 op=0 offset=${access%+*} requested=${access#*+} result=${access#*+}"
		i=$((i + 1))
	done | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
}

# shares KEY [OPTION]...: print two keys of the profile's reads, "strict" or "window"
shares() {
	local keys='[.sequential, .random]'
	[ "$1" = strict ] || keys='[.window_sequential, .window_random]'
	iotracer profile --format=json "${@:2}" sda1_1 | jq -c ".vfs.reads | $keys"
}

@test "streams side by side are random in strict order and sequential in the window" {
	reads 0+4096 1000000+4096 4096+4096 1004096+4096 8192+4096 1008192+4096
	[ "$(shares strict)" = '[0,5]' ]
	[ "$(shares window)" = '[4,1]' ]
}

@test "accesses that overtake each other are sequential in the window" {
	reads 0+4096 8192+4096 4096+4096 16384+4096 12288+4096
	[ "$(shares strict)" = '[0,4]' ]
	[ "$(shares window)" = '[4,0]' ]
}

@test "--window N looks at N accesses before and N behind" {
	# The predecessor of the last is six accesses before it, that of the first three behind it.
	reads 8192+4096 100000+1000 200000+1000 4096+4096 300000+1000 400000+1000 12288+4096
	[ "$(shares window --window=6)" = '[2,5]' ]
	[ "$(shares window --window=3)" = '[1,6]' ]
	[ "$(shares window --window=2)" = '[0,6]' ]
}

@test "the window is 16 by default, and the output says so" {
	local far=(0+4096)
	for ((i = 1; i <= 15; i++)); do
		far+=("$((i * 1000000))+4096")
	done
	reads "${far[@]}" 4096+4096
	[ "$(shares window)" = '[1,15]' ]
	reads "${far[@]}" 99000000+4096 4096+4096
	[ "$(shares window)" = '[0,17]' ]
	[ "$(iotracer profile --format=json sda1_1 | jq .window)" = 16 ]
	[ "$(iotracer profile --format=json --window=3 sda1_1 | jq .window)" = 3 ]
}

@test "probes with which a process begins do not make a log random" {
	reads 1:0+16 1:99968+32 1:0+65536 1:65536+65536
	[ "$(shares strict)" = '[1,2]' ]
	[ "$(shares window)" = '[1,0]' ]
	# each process has its own
	reads 1:0+65536 2:0+16 1:65536+65536 2:65536+65536 1:131072+65536
	[ "$(shares window)" = '[3,0]' ]
}

@test "a process that makes short accesses only is judged by them" {
	reads 500+100 100+100 900+100 200+100
	[ "$(shares window)" = '[1,2]' ]
}

@test "an access is not its own predecessor, nor is one of the other kind" {
	{
		echo "seq=0 time=1 level=1 op=0 sector=8 result=100"
		echo "seq=1 time=2 level=1 op=0 sector=90 result=100"
		echo "seq=2 time=3 level=0 op=0 offset=0 result=4096"
		echo "seq=3 time=4 level=0 op=1 offset=4096 result=4096"
		echo "seq=4 time=5 level=0 op=0 offset=8192 result=4096"
	} | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	[ "$(iotracer profile -f json sda1_1 | jq -c '[.blk.reads, .vfs.reads] | map(.window_sequential, .window_random)')" = '[0,1,0,1]' ]
}

@test "the table shows the share that is sequential in the window" {
	reads 0+4096 1000000+4096 4096+4096 1004096+4096 8192+4096
	run --separate-stderr iotracer profile sda1_1
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "$(grep -A5 '^reads' <<<"$output" | tail -n 3)" = "  sequential                   0.0 %                   -
  random                     100.0 %                   -
  seq in window               75.0 %                   -" ]
}

@test "a window that is no number from 1 to 1000000 is refused" {
	for n in 0 1000001 -1 x 4k ''; do
		run iotracer profile --window="$n" sda1_1
		[ "$status" = 2 ]
		[[ ${lines[0]} == *"--window=$n: say a number from 1 to 1000000" ]]
	done
}
