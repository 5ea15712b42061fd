#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What `iotracer profile` calls sequential within a window, of accesses that are known in advance.
# Needs neither root nor the module.

# shellcheck disable=SC2154 # "run --separate-stderr" sets stderr

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

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
	local prefix=
	[ "$1" = strict ] || prefix=window_
	iotracer profile --format=json "${@:2}" sda1_1 |
		jq -c ".vfs.reads | [.${prefix}sequential, .${prefix}random]"
}

# bytes KEY: the same of their bytes
bytes() {
	local prefix=
	[ "$1" = strict ] || prefix=window_
	iotracer profile --format=json sda1_1 |
		jq -c ".vfs.reads | [.${prefix}sequential_bytes, .${prefix}random_bytes]"
}

@test "streams side by side are random in strict order and sequential in the window" {
	reads 0+4096 1000000+4096 4096+4096 1004096+4096 8192+4096 1008192+4096
	[ "$(shares strict)" = '[0,5]' ]
	[ "$(shares window)" = '[4,1]' ]
}

@test "eight threads that each read sequentially, at their own pace, are sequential in the window" {
	# Thread t reads from t MB on. Each digit is a thread that makes its next read of 4096 bytes:
	# 40 reads, 5 of each thread, never twice in a row of one thread.
	local order=0123456701234567326015476420137501537624 t at=(0 0 0 0 0 0 0 0) made=()
	for ((i = 0; i < ${#order}; i++)); do
		t=${order:i:1}
		made+=("$((t * 1000000 + at[t]++ * 4096))+4096")
	done
	[ "${at[*]}" = "5 5 5 5 5 5 5 5" ]
	reads "${made[@]}"
	[ "$(shares strict)" = '[0,39]' ]
	# the first read of each thread has no predecessor; that of the log is in neither share
	[ "$(shares window)" = '[32,7]' ]
	[ "$(bytes window)" = "[$((32 * 4096)),$((7 * 4096))]" ]
	run --separate-stderr iotracer profile -f json sda1_1
	[ "$(jq .vfs.reads.sequential_percent <<<"$output")" = 0 ]
	[ "$(jq '.vfs.reads.window_sequential_percent * 100 | round' <<<"$output")" = 8205 ]
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

@test "a log of probes only is not random in the window" {
	reads 1:0+16 1:99968+32 1:4096+100 2:0+16 2:99968+32
	[ "$(shares strict)" = '[0,4]' ]
	[ "$(shares window)" = '[0,0]' ]
	run --separate-stderr iotracer profile -f json sda1_1
	[ "$(jq -c '.vfs.reads | [.window_sequential_percent, .window_sequential_bytes_percent]' <<<"$output")" = '[null,null]' ]
}

@test "a process has eight probes at most, of less than 512 bytes" {
	# the eight, and the one that follows them, are in neither share
	local short=()
	for ((i = 1; i <= 12; i++)); do
		short+=("$((100000 * i))+511")
	done
	reads "${short[@]}"
	[ "$(shares window)" = '[0,3]' ]
	[ "$(bytes window)" = "[0,$((3 * 511))]" ]
	reads "${short[@]/%+511/+512}"
	[ "$(shares window)" = '[0,11]' ]
}

@test "probes that continue each other are sequential" {
	reads 500+100 100+100 900+100 200+100
	[ "$(shares window)" = '[1,0]' ]
}

@test "by bytes, small pieces between long accesses hardly count" {
	# a header and an index again before each of the two pieces of the data
	reads 0+64 900000+36 4096+100000 0+64 900000+36 104096+100000
	[ "$(shares strict)" = '[0,5]' ]
	[ "$(shares window)" = '[1,2]' ]
	[ "$(bytes strict)" = '[0,200136]' ]
	[ "$(bytes window)" = '[100000,100]' ]
	run --separate-stderr iotracer profile sda1_1
	[ "$(grep -A7 '^reads' <<<"$output" | tail -n 5)" = "  sequential                   0.0 %                   -
    by bytes                   0.0 %                   -
  random                     100.0 %                   -
  seq in window               33.3 %                   -
    by bytes                  99.9 %                   -" ]
}

@test "by bytes, requests count their bytes, not their sectors" {
	{
		echo "seq=0 time=1 level=1 op=1 sector=8 result=4096"
		echo "seq=1 time=2 level=1 op=1 sector=16 result=1024"
		echo "seq=2 time=3 level=1 op=1 sector=99 result=3072"
	} | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	[ "$(iotracer profile -f json sda1_1 | jq -c '.blk.writes | [.sequential, .random, .sequential_bytes, .random_bytes, .sequential_bytes_percent, .window_sequential_bytes, .window_random_bytes]')" = '[1,1,1024,3072,25,1024,3072]' ]
}

@test "an access is not its own predecessor, nor is one of the other kind" {
	{
		# of less than a sector: they end where they start; the first nine are, or follow, probes
		for ((i = 1; i <= 12; i++)); do
			echo "seq=$i time=$i level=1 op=0 sector=$((90 * i)) result=100"
		done
		echo "seq=13 time=13 level=0 op=0 offset=0 result=4096"
		echo "seq=14 time=14 level=0 op=1 offset=4096 result=4096"
		echo "seq=15 time=15 level=0 op=0 offset=8192 result=4096"
	} | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	[ "$(iotracer profile -f json sda1_1 | jq -c '[.blk.reads, .vfs.reads] | map(.window_sequential, .window_random)')" = '[0,3,0,1]' ]
}

@test "--map shows where a target is accessed over time, at both levels; failed calls and other operations do not count" {
	{
		echo "seq=0 time=1000000000 level=0 op=0 offset=0 result=4096"
		echo "seq=1 time=1000000064 level=0 op=1 offset=8191 result=4096"
		echo "seq=2 time=1000000064 level=0 op=0 offset=8192 result=-5"
		echo "seq=3 time=1000000064 level=0 op=7 offset=8192 result=1"
		echo "seq=4 time=1000000065 level=1 op=1 sector=16 result=512"
	} | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	# 8192 bytes are 16 rows of 512, 65 ns are 64 columns of 2 ns, two of which are one
	text=$(LC_ALL=C iotracer profile --map sda1_1 | sed -n '/^offset over time/,$p')
	columns='                                '
	[ "$(sed -n 2,7p <<<"$text")" = "  . 1

VFS
          reads: 1                         writes: 1
          a row is 512B, a column 4ns
  7.50KiB|$columns|${columns:16}.${columns:17}|" ]
	[ "$(grep '^       0B' <<<"$text")" = "       0B|.${columns:1}|$columns|" ]
	[ "$(tail -n 4 <<<"$text")" = "          writes: 1
          a row is 1B, a column 1ns
  8.00KiB|.${columns:1}$columns|
$(printf '%10s+6.5e-08s%55s' '' +1.29e-07s)" ]
	map=$(iotracer profile --map -f json sda1_1)
	[ "$(jq -c '[.vfs.map, .blk.map] | map(.row_bytes, .read, .write)' <<<"$map")" = \
		'[512,[{"since_s":0,"from_bytes":0,"count":1}],[{"since_s":6.4e-08,"from_bytes":7680,"count":1}],1,[],[{"since_s":6.5e-08,"from_bytes":8192,"count":1}]]' ]
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr iotracer profile -o x.svg sda1_1
	[ "$status" = 0 ]
	[ -z "$output$stderr" ]
	xmllint --noout x.svg
	[ "$(grep -o 'data-kind="[a-z]*" data-since-s="[0-9.]*" data-from="[0-9]*" data-count="[0-9]*"' x.svg)" = \
		'data-kind="read" data-since-s="0.000000000" data-from="0" data-count="1"
data-kind="write" data-since-s="0.000000064" data-from="7680" data-count="1"
data-kind="write" data-since-s="0.000000065" data-from="8192" data-count="1"' ]
	: | tool-stream >"$IOTRACER_PROC/sda1_1/stream"
	run --separate-stderr iotracer profile --map sda1_1
	[ "$status" = 0 ]
	[[ $output != *'offset over time'* ]]
}

@test "the table shows the share that is sequential in the window" {
	reads 0+4096 1000000+4096 4096+4096 1004096+4096 8192+4096
	run --separate-stderr iotracer profile sda1_1
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "$(grep -A7 '^reads' <<<"$output" | tail -n 5)" = "  sequential                   0.0 %                   -
    by bytes                   0.0 %                   -
  random                     100.0 %                   -
  seq in window               75.0 %                   -
    by bytes                  75.0 %                   -" ]
}

@test "a window that is no number from 1 to 1000000 is refused" {
	for n in 0 1000001 -1 x 4k ''; do
		run iotracer profile --window="$n" sda1_1
		[ "$status" = 2 ]
		[[ ${lines[0]} == *"--window=$n: say a number from 1 to 1000000" ]]
	done
}
