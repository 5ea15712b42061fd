#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# "log --guest" and "export --guest": what events on a disk image are to the guest. Images are made
# by qemu-img and qemu-io, events by tool-stream, and what is expected is by qemu-img map. Needs
# neither root nor the module.

# Tests run in subshells, and "run --separate-stderr" sets stderr.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool
load ../lib/images

setup_file() {
	build_tool
}

setup() {
	use_tool
	unset NO_COLOR IOTRACER_ROOT
	work=$(mktemp -d /tmp/iotracer-guest.XXXXXX)
	chmod 755 "$work"
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept
	mkdir "$IOTRACER_PROC"
	: >"$IOTRACER_PROC/control"
	cd "$work" || return
}

teardown() {
	kill_qemus
	rm -rf "$work"
}

terms() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m guest_terms "$@"
}

# traced FILE: a target whose log has the events on standard input
traced() {
	target "t_$1" "$work/$1"
	no_losses "t_$1"
	tool-stream t0=1000 >"$IOTRACER_PROC/t_$1/stream"
}

# cells COLUMN...: these columns of the CSV in file rows, a line a row
cells() {
	terms columns rows "$@"
}

# --- log --guest ------------------------------------------------------------------------

# same_as_qemu FILE: the log of events all over the file is as qemu-img map says; print the kinds
same_as_qemu() {
	rm -rf proc
	mkdir proc
	: >proc/control
	terms events "$1" | traced "$1"
	iotracer log --guest -f json "$1" >rows
	terms same "$1" rows
}

@test "log --guest: each part of events all over an image is where qemu-img map says" {
	qemu-img create -q -f raw raw 1M
	io raw raw 'write -P 1 64k 300k'
	[ "$(same_as_qemu raw)" = data ]
	for options in compat=0.10 cluster_size=4K extended_l2=on; do
		rm -f q
		qcow2 q 8M -o $options
		io qcow2 q 'write -P 1 1M 300k' 'write -P 2 0 64k' 'write -P 3 900k 100k' 'write -P 4 5M 1M'
		[[ $(same_as_qemu q) == *data*header*l1*l2* ]]
	done
}

@test "log --guest: so it is with a backing file, of which the overlay has a copy of whole clusters" {
	qemu-img create -q -f raw base 4M
	io raw base 'write -P 1 0 4M'
	qcow2 top 4M -b base -F raw
	io qcow2 top 'write -P 2 1028k 4k' 'write -P 2 3M 512'
	[[ $(same_as_qemu top) == *data* ]]
	# 4 KiB of the guest, and a cluster of the file
	host=$(terms place top 1M)
	rm -rf proc/*
	: >proc/control
	echo "time=2000 offset=$host requested=65536 result=65536 op=1" | traced top
	[ "$(iotracer log --guest top)" = "0.000001000;W;$host;65536;VFS;;0;$host;65536;data;1048576;65536" ]
	same_as_qemu base >kinds
}

@test "log --guest: so it is after discards, with zeros, and after a snapshot in the image" {
	qcow2 q 8M
	io qcow2 q 'write -P 1 0 2M' 'discard 512k 256k' 'write -z 1M 128k' 'write -P 2 4M 64k'
	was=$(terms place q 1600k)
	qemu-img snapshot -c kept q
	io qcow2 q 'write -P 3 1600k 64k'
	kinds=$(same_as_qemu q)
	[[ $kinds == *data*snapshot-data*snapshot-table*zero* ]] || { echo "$kinds"; false; }
	# what was written before the snapshot is the guest's data as it was
	[ "$(terms place q 1600k)" != "$was" ]
	rm -rf proc/*
	: >proc/control
	echo "time=2000 offset=$was requested=4096 result=4096 op=1" | traced q
	[ "$(iotracer log --guest q | cut -d ";" -f 8-)" = "$was;4096;snapshot-data;$((1600 * 1024));4096" ]
}

@test "log --guest: compressed clusters and tables have the range that they are for" {
	qemu-img create -q -f raw source 1M
	io raw source 'write -P 1 0 1M'
	qemu-img convert -c -O qcow2 source q
	host=$(iotracer map --json q 64K | jq .host)
	echo "time=2000 offset=$host requested=1 result=1" | traced q
	[ "$(iotracer log --guest q | cut -d ";" -f 8-)" = "$host;1;compressed;65536;65536" ]
	l2=$(iotracer map --host --json q | jq 'select(.kind == "l2").host')
	echo "time=2000 offset=$((l2 + 8)) requested=8 result=8 op=1" | tool-stream >proc/t_q/stream
	[ "$(iotracer log --guest q | cut -d ";" -f 8-)" = "$((l2 + 8));8;l2;0;$((512 << 20))" ]
}

# some_events: a qcow2 image q with data at 0, and events of all sorts
some_events() {
	qcow2 q 8M
	io qcow2 q 'write -P 1 64k 64k' 'write -P 1 0 64k' 'write -P 1 1M 1M'
	first=$(terms place q 64k) second=$(terms place q 0)
	[ "$second" = $((first + 65536)) ]
	traced q <<-END
		seq=0 time=2000 latency=9 offset=$((first + 60000)) requested=10000 result=10000 op=1 pid=5 comm=a;b
		seq=1 time=3000 offset=$first op=3
		seq=2 time=4000 offset=$first requested=4096 result=-5 op=0
		seq=3 time=5000 offset=$first requested=4096 result=0 op=0
		seq=4 time=6000 offset=$first requested=65536 result=0 op=7
		seq=5 time=7000 offset=$first requested=999 op=4
		seq=6 time=8000 offset=$((1 << 40)) requested=512 result=512 op=1
	END
}

@test "log --guest: an event has a row for each part, and one row if it has no range" {
	some_events
	iotracer log --guest q >text
	diff text - <<-END
		0.000001000;W;$((first + 60000));10000;VFS;a\\073b;5;$((first + 60000));5536;data;125536;5536
		0.000001000;W;$((first + 60000));10000;VFS;a\\073b;5;$second;4464;data;0;4464
		0.000002000;F;$first;0;VFS;;0;-;-;-;-;-
		0.000003000;R;$first;0;VFS;;0;$first;4096;data;65536;4096
		0.000004000;R;$first;0;VFS;;0;-;-;-;-;-
		0.000005000;P;$first;65536;VFS;;0;$first;65536;data;65536;65536
		0.000006000;T;$first;999;VFS;;0;-;-;-;-;-
		0.000007000;W;$((1 << 40));512;VFS;;0;$((1 << 40));512;unused;-;-
	END
	iotracer log --guest --format=csv q >rows
	[[ $(head -n 1 rows) == since_t0_s,seq,*,origin_comm,part,part_offset_bytes,part_length_bytes,guest_kind,guest_offset_bytes,guest_length_bytes ]]
	cells seq part part_offset_bytes part_length_bytes guest_kind guest_offset_bytes guest_length_bytes | diff - <(cat <<-END
		0 0 $((first + 60000)) 5536 data 125536 5536
		0 1 $second 4464 data 0 4464
		1 0 - - - - -
		2 0 $first 4096 data 65536 4096
		3 0 - - - - -
		4 0 $first 65536 data 65536 65536
		5 0 - - - - -
		6 0 $((1 << 40)) 512 unused - -
	END
	)
	[ "$(iotracer log --guest -f json q | jq -c '[.seq, .part, .part_offset_bytes, .guest_kind, .guest_offset_bytes, .guest_length_bytes]' | sed -n '3p;8p')" = \
		"[1,0,null,null,null,null]
[6,0,$((1 << 40)),\"unused\",null,null]" ]
	iotracer log --guest -H -f csv q | diff - <(sed 1d rows)
}

@test "log --guest: a bio of direct I/O is the guest's only if it is all of its call" {
	qcow2 q 8M
	io qcow2 q 'write -P 1 0 1M'
	host=$(terms place q 0)
	# 9 and 10 make calls at the same place; the second call of 9 has two bios; 11 is in the page cache
	traced q <<-END
		seq=0 time=2000 level=0 op=1 flags=1 tid=9 offset=$host requested=4096 result=4096
		seq=1 time=2001 level=0 op=1 flags=1 tid=10 offset=$host requested=8192 result=8192
		seq=2 time=2002 level=1 op=1 flags=1 tid=9 offset=$host requested=4096 result=4096
		seq=3 time=2003 level=0 op=1 flags=1 tid=9 offset=$host requested=8192 result=8192
		seq=4 time=2004 level=1 op=1 flags=1 tid=9 offset=$host requested=4096 result=4096
		seq=5 time=2005 level=1 op=1 flags=1 tid=9 offset=$host requested=4096 result=4096
		seq=6 time=2006 level=1 op=1 tid=11 offset=$((host + 512)) requested=4096 result=4096
		seq=7 time=2007 level=1 op=0 flags=1 tid=9 offset=$host requested=8192 result=8192
		seq=8 time=2008 level=1 op=14 flags=0 tid=9 offset=$host requested=0 result=0
	END
	iotracer log --guest -f csv q >rows
	cells seq part part_length_bytes guest_kind guest_offset_bytes | diff - <(cat <<-END
		0 0 4096 data 0
		1 0 8192 data 0
		2 0 4096 data 0
		3 0 8192 data 0
		4 0 4096 unsure -
		5 0 4096 unsure -
		6 0 4096 data 512
		7 0 8192 unsure -
		8 0 - - -
	END
	)
}

@test "log --guest --vm: the rows of all drives, each with its drive, by the formats that QEMU has" {
	local t
	qemu-img create -q -f raw base 1M
	qcow2 a 1M -b base -F raw
	qcow2 e 1M -o data_file=d
	io qcow2 a 'write -P 1 64k 64k'
	io qcow2 e 'write -P 1 64k 64k'
	start_qemu terms -drive file=a,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0 -drive file=e,if=none,id=d1,format=qcow2
	host=$(iotracer map --json a 64K | jq .host)
	# the guest has written to its raw disk what makes it look like a qcow2 image
	qcow2 evil 1M
	dd if=evil of=base conv=notrunc status=none
	t=$(now)
	processes "$(cat terms.pid)" <<-END
		cpu=0 seq=0 time=$((t + 1)) op=1 offset=$host requested=512 result=512 pid=7 tid=7 path=1 comm=worker $(of a)
		cpu=0 seq=1 time=$((t + 2)) op=1 offset=65536 requested=512 result=512 pid=7 tid=7 path=2 comm=worker $(of base)
		cpu=0 seq=2 time=$((t + 3)) op=1 offset=0 requested=512 result=512 pid=7 tid=7 path=3 comm=worker $(of e)
		cpu=0 seq=3 time=$((t + 4)) op=1 offset=65536 requested=512 result=512 pid=7 tid=7 path=4 comm=worker $(of d)
	END
	tool-stream layout=2 >proc/paths <<-END
		id=1 text=$work/a
		id=2 text=$work/base
		id=3 text=$work/e
		id=4 text=$work/d
	END
	iotracer log --guest --vm "terms-$$" | cut -d ";" -f 8,13- | diff - <(cat <<-END
		disk0;$host;512;data;65536;512
		disk0;65536;512;data;65536;512
		d1;0;512;header;-;-
		d1;65536;512;data;65536;512
	END
	)
	iotracer log --guest --vm "terms-$$" -f csv >rows
	[[ $(head -n 1 rows) == timestamp,*,drive,file,part,part_offset_bytes,part_length_bytes,guest_kind,guest_offset_bytes,guest_length_bytes ]]
	cells drive file guest_kind | diff - <(printf '%s\n' "disk0 $work/a data" "disk0 $work/base data" "d1 $work/e header" "d1 $work/d data")
	follow_lines 4 --guest --vm "terms-$$" | diff - <(iotracer log --guest --vm "terms-$$")
	follow_lines 5 --guest --vm "terms-$$" -f csv | cut -d , -f 2- | diff - <(cut -d , -f 2- rows)
	# one that cannot be mapped does not hide the others
	printf 'QFI\373\0\0\0\011' | dd of=e conv=notrunc status=none
	run --separate-stderr iotracer log --guest --vm "terms-$$"
	[ "$status" = 1 ]
	[ "$stderr" = "iotracer: $work/e: has qcow2 version 9; only 2 and 3 can be read" ]
	[ "$(cut -d ";" -f 15 <<<"$output" | xargs)" = "data data unsure data" ]
	echo "time=2001 offset=65536 requested=512 result=512 op=1" | traced base
	# without a machine the format of base is a guess, which --image-format ends
	[ "$(iotracer log --guest base | cut -d ";" -f 10)" = l1 ] || [ "$(iotracer log --guest base | cut -d ";" -f 10)" != data ]
	[ "$(iotracer log --guest --image-format=raw base | cut -d ";" -f 10)" = data ]
}

# kinds ARGUMENT...: the kinds and the guest's offsets of the rows that iotracer ARGUMENT... prints
kinds() {
	iotracer "$@" -f json 2>said | jq -r '[.guest_kind, .guest_offset_bytes // "-"] | map(tostring) | join(" ")' | xargs
}

@test "--guest: what the guest has written and not flushed is pending, and a line says so" {
	local place lines
	qcow2 q 64M
	io qcow2 q 'write -P 1 0 64k'
	place=$(terms place q 0)
	start_qemu live -drive file=q,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	hmp live 'qemu-io d0 \"write 1M 128k\"'
	traced q <<-END
		seq=0 time=2000 offset=$place requested=4096 result=4096 op=1
		seq=1 time=2001 offset=$((place + 65536)) requested=4096 result=4096 op=1
		seq=2 time=2002 offset=$((place + 131072)) requested=4096 result=4096 op=1
		seq=3 time=2003 offset=$((1 << 40)) requested=4096 result=4096 op=1
	END
	lines="iotracer: $work/q: 3 events are pending: QEMU had not yet written the tables for their ranges: run sync in the guest and print the log again"
	[ "$(kinds log --guest q)" = 'data 0 pending - pending - pending -' ]
	[ "$(cat said)" = "$lines" ]
	event_of q "time=2500 op=1 path=1 offset=$((place + 65536)) requested=4096 result=4096" >events
	sed "s/time=2500/time=$(now) kind=1/" events | processes "$(cat live.pid)"
	idle_category fs
	tool-stream layout=1 event=2 <events >proc/fs/stream
	printf 'id=1 text=%s/q\n' "$work" | tool-stream layout=2 >proc/paths
	[ "$(kinds log --guest --vm "live-$$")" = 'pending -' ]
	[ "$(cat said)" = "${lines/3 events/1 events}" ]
	iotracer record -o t --time=0.1 --vm "live-$$" 2>summary
	times
	[ "$(kinds export --guest t)" = 'pending -' ]
	[ "$(cat said)" = "iotracer: $work/q: 1 events are pending: QEMU had not yet written the tables for their ranges: run sync in the guest before recording ends" ]
	hmp live 'qemu-io d0 flush'
	[ "$(kinds log --guest q)" = 'data 0 data 1048576 data 1114112 pending -' ]
	[ "$(kinds log --guest --vm "live-$$")" = 'data 1048576' ]
	[ ! -s said ]
	rm -r t
	iotracer record -o t --time=0.1 --vm "live-$$" 2>summary
	times
	[ "$(kinds export --guest t)" = 'data 1048576' ]
	[ ! -s said ]
	# when no machine has it open any more, there is nothing more to come
	stop_qemu live
	[ "$(kinds log --guest q)" = 'data 0 data 1048576 data 1114112 unused -' ]
	[ ! -s said ]
}

@test "--guest: so it is if QEMU holds no locks" {
	qcow2 q 64M
	start_qemu free -drive file=q,if=none,id=d0,file.locking=off -device virtio-blk-pci,drive=d0,id=disk0
	event_of q "time=$(now) op=1 path=1 offset=$((1 << 30)) requested=4096 result=4096 kind=1" | processes "$(cat free.pid)"
	printf 'id=1 text=%s/q\n' "$work" | tool-stream layout=2 >proc/paths
	[ "$(kinds log --guest --vm "free-$$")" = 'pending -' ]
}

# has_lines FILE N
has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# follow_lines N ARGUMENT...: run log --follow until it has printed N lines, end it, and print them
follow_lines() {
	local nr=$1 pid
	shift
	iotracer log --follow "$@" >followed 2>err 3>&- &
	pid=$!
	wait_for has_lines followed "$nr"
	kill -INT "$pid"
	wait "$pid"
	cat followed
}

@test "log --guest --follow: the rows, in each format, are those of log afterwards" {
	local file format
	qemu-img create -q -f raw raw 4M
	qcow2 q 4M
	io qcow2 q 'write -P 1 1M 300k' 'write -P 2 0 64k'
	for file in raw q; do
		rm -rf proc
		mkdir proc
		: >proc/control
		terms events "$file" | traced "$file"
		for format in text csv json; do
			iotracer log --guest -f "$format" "$file" >afterwards
			[ "$(wc -l <afterwards)" -gt 9 ]
			follow_lines "$(wc -l <afterwards)" --guest -f "$format" "$file" | diff - afterwards
		done
	done
}

@test "log --guest --follow: an event is printed when it comes, by the tables that the image has then" {
	local pid
	qcow2 q 4M
	io qcow2 q 'write -P 1 0 64k'
	echo "time=2001 offset=0 requested=512 result=512 op=1" | traced q
	iotracer log --follow --guest q >followed 2>err 3>&- &
	pid=$!
	wait_for has_lines followed 1
	# the tables first: QEMU has written to the new place when the event is there
	io qcow2 q 'write -P 1 1M 64k'
	host=$(iotracer map --json q 1M | jq .host)
	echo "seq=1 time=$(now) offset=$host requested=512 result=512 op=1" | tool-stream continue >>proc/t_q/stream
	wait_for has_lines followed 2
	kill -TERM "$pid"
	wait "$pid"
	[ "$(tail -n 1 followed | cut -d ";" -f 8-)" = "$host;512;data;1048576;512" ]
}

@test "log --guest --follow: a bio finds its call, though it is read after the call was printed" {
	qemu-img create -q -f raw raw 1G
	# the last call is the last event of the first 65,536, which are read and printed together
	{
		echo "seq=0 time=1999 op=2"
		awk 'BEGIN { for (i = 0; i < 33000; i++) for (level = 0; level < 2; level++)
			print "seq=" 2 * i + level + 1, "time=" 2000 + 4 * i + level, "offset=" i * 4096,
				"requested=4096 result=4096 op=1 flags=1 pid=7 tid=7 level=" level }'
	} | traced raw
	iotracer log --guest raw >afterwards
	[ "$(cut -d ";" -f 10 afterwards | sort | uniq -c | xargs)" = "1 - 66000 data" ]
	follow_lines 66001 --guest raw | cmp - afterwards
}

@test "log --guest --follow: a target that is removed ends it with 0" {
	qemu-img create -q -f raw raw 1M
	echo "time=2001 offset=0 requested=512 result=512 op=1" | traced raw
	preloaded TOOL_GONE="$work/gone" iotracer log --follow --guest raw >followed 2>err 3>&- &
	pid=$!
	wait_for has_lines followed 1
	touch gone
	wait "$pid"
	[ "$(head -n 1 err)" = "iotracer: $work/raw: target was removed" ]
	run --separate-stderr timeout 60 bash -c "set -o pipefail; rm -f gone; iotracer log --follow --guest raw | head -n 1"
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
}

@test "log --guest: what is wrong is one line" {
	qemu-img create -q -f vmdk v 1M
	traced v </dev/null
	while IFS='|' read -r expected arguments words; do
		# shellcheck disable=SC2086
		run --separate-stderr iotracer log $arguments
		[ "$status" = "$expected" ] || { echo "$arguments: $status"; false; }
		[ "${stderr_lines[0]}" = "$words" ] || { echo "$arguments: $stderr"; false; }
		[ -z "$output" ]
	done <<-END
		1|--guest v|iotracer: $work/v: has format vmdk; only raw and qcow2 can be mapped
		1|--guest --image-format=qcow2 v|iotracer: $work/v: is not a qcow2 image
		1|--guest --follow v|iotracer: $work/v: has format vmdk; only raw and qcow2 can be mapped
		2|--guest --format=fuse v|iotracer log: --guest goes without --sync and --format=fuse
		2|--image-format=raw v|iotracer log: --image-format goes with --guest and FILE
		2|--guest --image-format=vmdk v|iotracer log: --image-format=vmdk: say raw or qcow2
		2|--guest fs|iotracer: fs: --guest is for files, and for a machine (--vm); of a trace: iotracer export --guest
	END
	rm v
	run iotracer log --guest t_v
	[ "$status" = 1 ]
	[ "$output" = "iotracer: $work/v: cannot be opened: No such file or directory" ]
	sed -i 's/$/ (deleted)/' proc/control
	run iotracer log --guest t_v
	[ "$status" = 1 ]
	[ "$output" = 'iotracer: t_v: was deleted, so its tables cannot be read' ]
}

# --- export --guest ---------------------------------------------------------------------

# a_trace NAME: a trace of the events on standard input; path 1 is q, path 2 is other
a_trace() {
	idle_category fs
	tool-stream layout=1 event=2 >proc/fs/stream
	printf 'id=1 text=%s/q\nid=2 text=%s/other\n' "$work" "$work" | tool-stream layout=2 >proc/paths
	iotracer record -o "$1" -- true 2>summary || { cat summary; return 1; }
}

@test "export --guest-image: each part of events all over an image is where qemu-img map says" {
	qcow2 q 8M
	io qcow2 q 'write -P 1 1M 300k' 'write -P 2 0 64k' 'discard 1M 64k' 'write -P 4 5M 1M'
	terms fs_events q | a_trace t
	iotracer export --guest-image=q -f json t >rows
	[[ $(terms same q rows) == *data*header*l1*l2* ]]
	# the other columns are those without it
	iotracer export -f json t | diff - <(jq -c 'select(.part == 0) | del(.drive, .part, .part_offset_bytes, .part_length_bytes, .guest_kind, .guest_offset_bytes, .guest_length_bytes)' rows)
}

# event_of FILE FIELD...: the fields of an event of category fs of this file
event_of() {
	local ids major minor
	ids=$(stat -L -c 'inode=%i %Hd %Ld' "$1")
	read -r ids major minor <<<"$ids"
	shift
	echo "$ids device=$((major << 20 | minor)) $*"
}

@test "export --guest-image: an image with its backing files, by device and inode, or by path" {
	qemu-img create -q -f raw base 1M
	qcow2 q 8M -b base -F raw
	io qcow2 q 'write -P 1 64k 64k'
	touch other
	host=$(terms place q 64k)
	{
		event_of q "seq=0 time=1000 op=1 path=1 offset=$host requested=4096 result=4096"
		event_of base "seq=1 time=2000 op=2 path=9 offset=512 requested=4096 result=512"
		event_of other "seq=2 time=3000 op=1 path=2 offset=$host requested=4096 result=4096"
		event_of q "seq=3 time=4000 op=4 path=1 offset=0 requested=1 result=3"
		event_of q "seq=4 time=5000 op=36 path=1 offset=$host requested=65536 result=0 flags=3"
		# a filesystem whose records have another device than stat(2)
		event_of q "seq=5 time=6000 op=3 path=1 offset=$host requested=4096 result=-28" | sed 's/device=[0-9]*/device=1/'
		event_of q "seq=6 time=7000 op=1 path=2 offset=$host requested=4096 result=4096" | sed 's/device=[0-9]*/device=1/'
	} | a_trace t
	iotracer export --guest-image=q t >rows
	[[ $(head -n 1 rows) == *,cmdline,drive,part,part_offset_bytes,part_length_bytes,guest_kind,guest_offset_bytes,guest_length_bytes ]]
	cells seq drive part part_offset_bytes part_length_bytes guest_kind guest_offset_bytes guest_length_bytes | diff - <(cat <<-END
		0 - 0 $host 4096 data 65536 4096
		1 - 0 512 512 data 512 512
		2 - 0 - - - - -
		3 - 0 - - - - -
		4 - 0 $host 65536 data 65536 65536
		5 - 0 $host 4096 data 65536 4096
		6 - 0 - - - - -
	END
	)
	cp q copy
	run --separate-stderr iotracer export --guest-image=copy --guest-image=base t
	[ "$status" = 0 ]
	[[ $stderr == "iotracer: $work/copy: the trace has no event "* ]]
}

@test "export --guest: what is wrong is one line" {
	qcow2 q 8M
	event_of q "time=1000 op=1 path=1 requested=4096 result=4096" | a_trace t
	while IFS='|' read -r expected arguments words; do
		# shellcheck disable=SC2086
		run --separate-stderr iotracer export $arguments t
		[ "$status" = "$expected" ] || { echo "$arguments: $status"; false; }
		[ "${stderr_lines[0]}" = "$words" ] || { echo "$arguments: $stderr"; false; }
		[ -z "$output" ]
	done <<-'END'
		1|--guest|iotracer: t: has no maps of disk images, as record --vm stores them: name the image with --guest-image=IMAGE
		1|--guest-image=none|iotracer: none: cannot be opened: No such file or directory
		2|--guest-image=|iotracer export: the name of an image is empty
		2|--guest --columns=io-tracer|iotracer export: --guest has columns of its own: leave --columns=io-tracer and --format=fuse away
		2|--guest --format=fuse|iotracer export: --guest has columns of its own: leave --columns=io-tracer and --format=fuse away
		2|--guest-image=q --anonymize|iotracer export: --guest goes without --anonymize
		2|--guest --category=block|iotracer export: --guest is for category fs
		2|--guest --image-format=raw|iotracer export: --image-format goes with --guest-image
		2|--image-format=raw|iotracer export: --image-format goes with --guest-image
	END
	[ "$(iotracer export --guest-image=q --image-format=raw -f json t | jq -c '[.guest_kind, .guest_offset_bytes]')" = '["data",0]' ]
	event_of q "time=1000 op=1 path=1 requested=4096 result=4096" | a_trace t2
	iotracer traces merge -o m t t2 2>/dev/null
	run iotracer export --guest-image=q m
	[[ "$status $output" == "1 iotracer: m: is a merged trace: "* ]]
}

# --- maps that record --vm keeps ----------------------------------------------------------

# hmp NAME COMMAND...: have the machine do these
hmp() {
	local name=$1 command asked=()
	shift
	for command in "$@"; do
		asked+=("human-monitor-command {\"command-line\": \"$command\"}")
	done
	images ask "$name.qmp" "${asked[@]}"
}

# times: give the two maps of the trace t the times 1000 to 2000, and 4000 to 5000
times() {
	local file n=0
	for file in t/snapshots/guest_*/snapshot.json; do
		n=$((n + 1))
		jq ".images |= map(if .begin_monotonic_ns then .begin_monotonic_ns = $n * 3000 - 2000 | .end_monotonic_ns = $n * 3000 - 1000 else . end)" \
			"$file" >new
		mv new "$file"
	done
	[ "$n" = 2 ]
}

# while_recorded NAME COMMAND...: record a machine into t, which QEMU has do these, and ends
while_recorded() {
	local name=$1 stopper
	shift
	(
		wait_for [ -e t/snapshots ]
		wait_for grep -q '^start' proc/fs/control
		[ $# = 0 ] || hmp "$name" "$@"
		stop_qemu "$name"
	) >work.log 2>&1 3>&- &
	stopper=$!
	iotracer record -o t --vm "$name-$$" 2>summary
	wait "$stopper"
	! grep -i error work.log
}

@test "record --vm: of an event between two maps is said what both say, or the one that knows, else unsure" {
	qcow2 q 8M
	io qcow2 q 'write -P 1 0 256k'
	both=$(terms place q 0) freed=$(terms place q 64k) moved=$(terms place q 128k) kept=$(terms place q 192k)
	new=$((kept + 65536))
	i=0
	for at in 500 2500 6500; do
		for host in "$both" "$new" "$freed" "$moved" "$kept"; do
			event_of q "seq=$i time=$at op=1 path=1 offset=$host requested=4096 result=4096"
			i=$((i + 1))
		done
	done >events
	# a range over all of them is cut where they differ
	event_of q "seq=$i time=2500 op=1 path=1 offset=$both requested=$((5 * 65536)) result=$((5 * 65536))" >>events
	idle_category fs
	tool-stream layout=1 event=2 <events >proc/fs/stream
	printf 'id=1 text=%s/q\n' "$work" | tool-stream layout=2 >proc/paths
	start_qemu law -drive file=q,if=none,id=d0,discard=unmap -device virtio-blk-pci,drive=d0,id=disk0
	# 128k is freed and its place becomes that of 1M, 2M gets a new place, 64k is freed
	while_recorded law 'qemu-io d0 \"discard 128k 64k\"' 'qemu-io d0 flush' 'qemu-io d0 \"write 1M 64k\"' \
		'qemu-io d0 \"write 2M 64k\"' 'qemu-io d0 \"discard 64k 64k\"' 'qemu-io d0 flush'
	# that it went so is QEMU's word
	[ "$(terms place q 1M) $(terms place q 2M) $(terms place q 0)" = "$moved $new $both" ]
	[ "$(terms place q 64k) $(terms place q 128k)" = "- -" ]
	qemu-img check -q q
	times
	iotracer export --guest t >rows
	cells seq part part_offset_bytes part_length_bytes guest_kind guest_offset_bytes | grep '^15 ' | diff - <(cat <<-END
		15 0 $both 131072 data 0
		15 1 $moved 65536 unsure -
		15 2 $kept 65536 data 196608
		15 3 $new 65536 data 2097152
	END
	)
	cells seq time_ns drive offset_bytes guest_kind guest_offset_bytes | grep -v '^15 ' | cut -d ' ' -f 2- | diff - <(cat <<-END
		500 disk0 $both data 0
		500 disk0 $new data 2097152
		500 disk0 $freed data 65536
		500 disk0 $moved data 131072
		500 disk0 $kept data 196608
		2500 disk0 $both data 0
		2500 disk0 $new data 2097152
		2500 disk0 $freed data 65536
		2500 disk0 $moved unsure -
		2500 disk0 $kept data 196608
		6500 disk0 $both data 0
		6500 disk0 $new data 2097152
		6500 disk0 $freed unused -
		6500 disk0 $moved data 1048576
		6500 disk0 $kept data 196608
	END
	)
	# maps of the trace count, not those of now
	io qcow2 q 'discard 2M 64k'
	iotracer export --guest --guest-image=q t | diff - rows
}

@test "record --vm: a snapshot in the image that is made meanwhile makes no guess necessary" {
	qcow2 q 8M
	io qcow2 q 'write -P 1 0 128k'
	host=$(terms place q 64k)
	event_of q "time=2500 op=1 path=1 offset=$host requested=4096 result=4096" >events
	event_of q "seq=1 time=6500 op=0 path=1 offset=$host requested=4096 result=4096" >>events
	idle_category fs
	tool-stream layout=1 event=2 <events >proc/fs/stream
	printf 'id=1 text=%s/q\n' "$work" | tool-stream layout=2 >proc/paths
	start_qemu snap -drive file=q,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	(
		wait_for grep -q '^start' proc/fs/control
		images ask snap.qmp 'blockdev-snapshot-internal-sync {"device": "d0", "name": "s"}'
		hmp snap 'qemu-io d0 \"write 64k 64k\"'
		stop_qemu snap
	) >work.log 2>&1 3>&- &
	stopper=$!
	iotracer record -o t --vm "snap-$$" 2>summary
	wait "$stopper"
	[ "$(terms place q 64k)" != "$host" ]
	times
	iotracer export --guest t >rows
	[ "$(cells time_ns guest_kind guest_offset_bytes)" = "2500 data 65536
6500 snapshot-data 65536" ]
}

@test "record --vm: the maps are whole snapshots, of all layers, and go with the trace" {
	qemu-img create -q -f raw base 1M
	qcow2 q 8M -b base -F raw
	io qcow2 q 'write -P 1 0 128k'
	qemu-img create -q -f vmdk v 1M
	ln q again
	# a sparse file, which says that it has 17 million clusters
	qcow2 huge 1M -o cluster_size=512
	truncate -s 9G huge
	fake_fs
	start_qemu kept -drive file=q,if=none,id=d0,read-only=on -device virtio-blk-pci,drive=d0,id=disk0 \
		-drive file=again,if=none,id=d1,read-only=on,format=qcow2 -drive file=v,if=none,id=d2,format=vmdk \
		-drive file=huge,if=none,id=d3,format=qcow2
	while_recorded kept
	[ "$(find t/snapshots/guest_* -name 'part*' | wc -l)" = 2 ]
	jq -c '.images[] | [.file, .drives, .same_offsets, .problem, (.begin_monotonic_ns == null)]' t/snapshots/guest_*/snapshot.json | sort -u | diff - <(sort <<-END
		["$work/q","disk0",false,null,false]
		["$work/base","disk0,d1",true,null,true]
		["$work/again","d1",false,"is the same file as another image",true]
		["$work/huge","d3",false,"has 18874368 clusters, too many to read its map in time",true]
		["$work/v","d2",false,"has format vmdk; only raw and qcow2 can be mapped",true]
	END
	)
	jq -e '.snapshot == "guest" and .images[0].begin_monotonic_ns <= .images[0].end_monotonic_ns and
		.images[0].end_monotonic_ns <= .begin_monotonic_ns' t/snapshots/guest_*/snapshot.json
	# the first one was read before the first event could be, the last one after the last
	[ "$(jq -s '.[0].images[0].end_monotonic_ns < .[2].begin.monotonic_ns and
		.[1].images[0].begin_monotonic_ns > .[2].end.monotonic_ns' t/snapshots/guest_*/snapshot.json t/metadata.json)" = true ]
	run --separate-stderr iotracer traces verify t
	[ "$status" = 0 ]
	[[ $output == *"snapshots   2 are whole"* ]]
	# the last one has what iotracer map has
	zcat "$(find t/snapshots/guest_* -name 'part*' | sort | tail -n 1)" | sed 1d | grep "^0," | cut -d , -f 2- | diff - \
		<(iotracer map --host --json q | jq -r 'select(.kind != "unused") | [.host, .length, .kind, .guest // "", .guest_length // ""] | map(tostring) | join(",")')
	# beside those of --snapshots
	start_qemu both -drive file=q,if=none,id=d0,read-only=on
	iotracer record -o both --time=0.1 --vm "both-$$" --snapshot-root="$work/proc" 2>summary
	[ "$(find both/snapshots -mindepth 1 -maxdepth 1 | sed 's,.*/,,; s/_.*//' | sort | uniq -c | xargs)" = '2 fs 2 guest 1 process 1 system' ]
	iotracer traces verify both
	# names would be in them
	iotracer record -o hidden --time=0.1 --anonymize --vm "both-$$" 2>summary
	[ ! -e hidden/snapshots ]
	truncate -s -9 "$(find t/snapshots/guest_* -name 'part*' | head -n 1)"
	run --separate-stderr iotracer export --guest t
	[ "$status" = 1 ]
	[[ $stderr == "iotracer: t/snapshots/guest_"*": is damaged: its rows cannot be read"* ]]
	run iotracer traces verify t
	[ "$status" = 1 ]
	iotracer traces remove "$work/t"
	[ ! -e t ]
}

# an_event SEQ FILE OFFSET: a write of 4 KiB to a file that QEMU has open
an_event() {
	event_of "$2" "seq=$1 cpu=0 time=2500 op=1 path=$(($1 + 1)) offset=$3 requested=4096 result=4096 pid=7 tid=7 kind=1"
}

@test "record --vm: a file that is deleted has the drive and the map that log --vm has" {
	local fd pid
	qemu-img create -q -f raw base 8M
	qemu-img create -q -f raw r 8M
	qcow2 q 8M -b base -F raw
	fake_fs
	start_qemu gone -drive file=q,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0 \
		-drive file=r,format=raw,if=none,id=d1,snapshot=on -device virtio-blk-pci,drive=d1,id=disk1
	hmp gone 'qemu-io d0 \"write 1M 64k\"' 'qemu-io d0 flush' 'qemu-io d1 \"write 2M 64k\"' 'qemu-io d1 flush' \
		'qemu-io d1 \"write 3M 64k\"'
	pid=$(cat gone.pid)
	q=$(iotracer map --json q 1M | jq .host)
	rm q
	for fd in /proc/"$pid"/fd/*; do
		case $(readlink "$fd") in
		*/q\ *) an_event 0 "$fd" "$q" ;;
		*/vl.*)
			an_event 1 "$fd" "$(iotracer map --json "$fd" 2M | jq .host)"
			# QEMU has not written to the tables yet where this is
			an_event 2 "$fd" "$(($(iotracer map --json "$fd" 2M | jq .host) + 65536))"
			;;
		esac
	done >events
	[ "$(wc -l <events)" = 3 ]
	sed "s/time=2500/time=$(now)/" events | processes "$pid"
	tool-stream layout=1 event=2 <events >proc/fs/stream
	printf 'id=1 text=%s/q\nid=2 text=/var/tmp/vl\nid=3 text=/var/tmp/vl\n' "$work" | tool-stream layout=2 >proc/paths
	iotracer log --vm "gone-$$" --guest -f csv >rows
	cells seq drive guest_kind guest_offset_bytes | head -n 2 | diff - <(printf '%s\n' '0 disk0 data 1048576' '1 disk1 data 2097152')
	while_recorded gone 'qemu-io d1 flush'
	times
	iotracer export --guest t >rows
	cells seq drive guest_kind guest_offset_bytes | diff - <(
		printf '%s\n' '0 disk0 data 1048576' '1 disk1 data 2097152' '2 disk1 data 3145728')
	jq -c '.images[] | [.file, .drives, .problem]' t/snapshots/guest_*/snapshot.json | sed 's/vl[.][^"]*/vl/' | sort | uniq -c | tr -s ' ' |
		diff - <(sort <<-END
			 2 ["$work/q","disk0",null]
			 2 ["$work/base","disk0",null]
			 2 ["$work/r","disk1",null]
			 2 ["/var/tmp/vl","disk1",null]
		END
		)
}

@test "record --vm: a file that is deleted meanwhile is read as long as QEMU has it" {
	qcow2 q 8M
	fake_fs
	start_qemu later -drive file=q,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	hmp later 'qemu-io d0 \"write 1M 64k\"' 'qemu-io d0 flush'
	iotracer record -o t --vm "later-$$" 2>summary 3>&- &
	recorder=$!
	wait_for [ -e t/snapshots ]
	wait_for grep -q '^start' proc/fs/control
	rm q
	qcow2 q 8M
	kill -INT "$recorder"
	wait "$recorder"
	[ "$(jq -c '.images[] | [.file, .problem]' t/snapshots/guest_*/snapshot.json | sort -u)" = "[\"$work/q\",null]" ]
	[ "$(find t/snapshots/guest_* -name 'part*' -exec zcat {} + | grep -c ',data,1048576,')" = 2 ]
}

@test "record --vm: each trace of --rotate has maps from its beginning and its end" {
	qcow2 q 8M
	fake_fs
	start_qemu turn -drive file=q,if=none,id=d0
	(
		wait_for [ -e t.000002/snapshots ]
		stop_qemu turn
	) >work.log 2>&1 3>&- &
	stopper=$!
	iotracer record -o t --rotate=1s --vm "turn-$$" 2>summary
	wait "$stopper"
	[ "$(find t.000001/snapshots -name 'guest_*' | wc -l)" = 2 ]
	iotracer traces verify t.000001
	end=$(jq .end.monotonic_ns t.000001/metadata.json)
	[ "$(jq .end_monotonic_ns "$(find t.000001/snapshots -name snapshot.json | sort | head -n 1)")" -lt "$end" ]
	[ "$(jq .end_monotonic_ns "$(find t.000001/snapshots -name snapshot.json | sort | tail -n 1)")" -gt "$end" ]
}

@test "record --vm: a recorder has as many files open after many traces as after one" {
	local trace most
	qcow2 q 8M
	fake_fs
	start_qemu many -drive file=q,if=none,id=d0
	iotracer record -o t --rotate=1s --vm "many-$$" 2>summary 3>&- &
	recorder=$!
	# the fewest that it had while it wrote to this trace: maps are read in between
	for trace in 2 5; do
		wait_for [ -e "t.00000$trace" ]
		most=1000
		while [ ! -e "t.00000$((trace + 1))" ]; do
			now=$(find "/proc/$recorder/fd" -type l | wc -l)
			[ "$now" -ge "$most" ] || most=$now
		done
		echo "$most"
	done >open
	kill -INT "$recorder"
	wait "$recorder"
	cat open
	[ "$(sort -u open | wc -l)" = 1 ]
	[ "$(find t.000003/snapshots -name 'guest_*' | wc -l)" = 2 ]
}

@test "export --guest: maps with any damage are refused, and crash nothing" {
	qcow2 q 8M
	io qcow2 q 'write -P 1 0 128k'
	event_of q "time=2500 op=1 path=1 offset=$(terms place q 0) requested=4096 result=4096" >events
	idle_category fs
	tool-stream layout=1 event=2 <events >proc/fs/stream
	printf 'id=1 text=%s/q\n' "$work" | tool-stream layout=2 >proc/paths
	start_qemu bad -drive file=q,if=none,id=d0
	while_recorded bad
	part=$(find t/snapshots/guest_* -name 'part*' | sort | head -n 1)
	rm -r "$(dirname "$(find t/snapshots/guest_* -name 'part*' | sort | tail -n 1)")"
	[ "$(iotracer export --guest t -f json | jq -c '[.guest_kind, .guest_offset_bytes]')" = '["data",0]' ]
	zcat "$part" >good
	for change in '3s/^0/1/' '3s/^0,/0,x/' '3s/,[a-z0-9-]*,/,none,/' '3s/^0,[0-9]*/0,0/' '3s/^0,\([0-9]*\),[0-9]*/0,\1,0/' \
		'3s/^0,\([0-9]*\),[0-9]*/0,\1,18446744073709551615/' '1s/image/other/' '3s/,[a-z].*//'; do
		sed "$change" good | gzip >"$part"
		run --separate-stderr iotracer export --guest t
		[ "$status" = 1 ] || { echo "$change"; false; }
		[[ $stderr == *"is damaged: its rows cannot be read"* ]]
	done
	gzip <good >"$part"
	document=$(dirname "$part")/snapshot.json
	cp "$document" good.json
	for change in 'del(.images)' '.images = 7' '.images = []' '.parts[0].file = "../part0001.csv.gz"' '.images[0] |= {}' 'del(.parts)'; do
		jq "$change" good.json >"$document"
		run --separate-stderr iotracer export --guest t
		[ "$status" = 1 ] || { echo "$change"; false; }
		[[ $stderr == *"is damaged: "* ]]
	done
	head -c 99 good.json >"$document"
	run --separate-stderr iotracer export --guest t
	[ "$status" = 1 ]
	[[ $stderr == *"is damaged: "* ]]
}

@test "--guest: bash completes what can follow" {
	mkdir empty
	cd empty
	[ "$(completed iotracer log --image-format = "")" = "qcow2 raw " ]
	[ "$(completed iotracer export --image-format = "")" = "qcow2 raw " ]
	[[ " $(completed iotracer export --guest)" == *" --guest --guest-image "* ]]
	touch image
	[ "$(completed iotracer export --guest-image = i)" = "image " ]
}
