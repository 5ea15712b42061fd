#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A target holds no reference to its file or filesystem, and the module can be unloaded
# at any time: tested with files that are renamed, deleted and made again, with filesystems
# that are unmounted and unloaded, and with readers and I/O that outlive the module.
#
# CYCLES=1000 loads and unloads a thousand times instead of thirty.

# Tests run in subshells, and map() sets device.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0
load lib/helpers

setup_file() {
	modprobe -a ext4 xfs btrfs loop
	mkfs.ext4 -q -F /dev/vda
	mkfs.xfs -q -f /dev/vdb
	mkfs.btrfs -q -f /dev/vdc
	mkdir -p /mnt/ext4 /mnt/xfs /mnt/btrfs /mnt/tmpfs
	IOTRACER_KO=$(ko)
	export IOTRACER_KO
}

teardown_file() {
	umount /mnt/ext4 /mnt/xfs /mnt/btrfs
}

# attach_fs TYPE: mount the disk with this filesystem, unless it is mounted
attach_fs() {
	local -A disk=([ext4]=/dev/vda [xfs]=/dev/vdb [btrfs]=/dev/vdc)
	mountpoint -q "/mnt/$1" || mount "${disk[$1]}" "/mnt/$1"
}

setup() {
	local fs
	fio=''
	for fs in ext4 xfs btrfs; do attach_fs $fs; done
	cd /mnt/ext4 || return
}

teardown() {
	[ -z "$fio" ] || { kill "$fio"; wait "$fio" || true; }
	cd /
	unmap_all
	unload_module
	find /mnt/ext4 /mnt/xfs /mnt/btrfs -xdev -mindepth 1 -not -name lost+found -delete
}

# control COMMAND...
control() {
	printf '%s\n' "$@" >/proc/iotracer/control
}

# add FILE [MAX_EVENTS]: add it, and set dir to the directory of its target
add() {
	control "add $*"
	dir=$(target_dir "$1")
}

# writes N FILE: N write(2) of 4 KiB; reads N FILE: N read(2)
writes() {
	dd if=/dev/zero of="$2" bs=4k count="$1" conv=notrunc status=none
}

reads() {
	dd if="$2" of=/dev/null bs=4k count="$1" status=none
}

# seen DIR: print the number of VFS events since the target was added
seen() {
	sed -n 's/^vfs \([0-9]*\) .*/\1/p' "$1/stats"
}

# hook SYMBOL: print how it is attached, one line for each hook of that name
hook() {
	sed -n "s/^$1 [^ ]* \([^ ]*\) .*/\1/p" /proc/iotracer/hooks
}

inode() {
	stat -c %i "$1"
}

# recreate FILE: delete it and make it again with the same inode number
recreate() {
	local old n
	old=$(inode "$1")
	rm "$1"
	for n in {1..1000}; do
		: >"$1.$n"
		[ "$(inode "$1.$n")" != "$old" ] || { mv "$1.$n" "$1"; return; }
	done
	echo "recreate: inode $old of $1 does not come back" >&2
	return 1
}

# fio_begin FILE [OPTION]...: start buffered and direct jobs that run until fio_end; sets fio to
# their process
fio_begin() {
	local file=$1
	shift
	fio --thread --filename="$file" --size=8M --bs=4k --time_based --runtime=3600 \
		--fallocate=none --output="$BATS_TEST_TMPDIR/fio" --output-format=json "$@" \
		--name=buffered --rw=randrw --ioengine=psync --numjobs=2 \
		--name=direct --rw=randrw --ioengine=psync --direct=1 --numjobs=2 \
		--name=async --rw=randrw --ioengine=libaio --iodepth=8 --direct=1 3>&- &
	fio=$!
	fio_goes_on
}

# Print how often fio's threads have waited, mostly for direct I/O.
fio_waits() {
	local n sum=0
	while read -r _ n; do
		sum=$((sum + n))
	done < <(grep -h ^voluntary /proc/"$fio"/task/*/status)
	echo "$sum"
}

fio_goes_on() {
	local before n
	before=$(fio_waits)
	for n in {1..3000}; do
		[ "$(fio_waits)" -lt "$((before + 200))" ] || return 0
		sleep 0.1
	done
	echo "fio makes no progress" >&2
	return 1
}

# fio_end: end fio and check that no job saw an error
fio_end() {
	kill -INT "$fio"
	wait "$fio" || true
	fio=''
	grep '"error" :' "$BATS_TEST_TMPDIR/fio"
	! grep '"error" :' "$BATS_TEST_TMPDIR/fio" | grep -v ': 0,'
}

# Durations, for information only: no test depends on them. lap WHAT adds the time since
# the last lap to WHAT, laps prints all sums.
lap() {
	local now=${EPOCHREALTIME/./}
	times[$1]=$((${times[$1]:-0} + now - last_lap))
	last_lap=$now
}

laps() {
	local what
	for what in "${!times[@]}"; do
		echo "# $what: $((times[$what] / 1000)) ms" >&3
	done
}

lap_begin() {
	declare -gA times=()
	last_lap=${EPOCHREALTIME/./}
}

@test "rename: tracing continues; with follow=inode a new file under the old name is another file" {
	load_module follow=inode
	: >old
	add old
	writes 2 old
	mv old new
	writes 3 new
	[ "$(seen "$dir")" = 5 ]
	: >old
	writes 7 old
	[ "$(seen "$dir")" = 5 ]
	mv old new
	writes 7 new
	[ "$(seen "$dir")" = 5 ]
}

@test "unlink while open: tracing continues until the last close, and the log stays" {
	load_module
	: >f
	add f
	exec {fd}<>f
	rm f
	dd if=/dev/zero bs=4k count=3 status=none >&"$fd"
	reads 2 "/proc/self/fd/$fd"
	exec {fd}>&-
	[ "$(seen "$dir")" = 5 ]
	[ "$(cut -d';' -f2 "$dir/log" | tr -d '\n')" = WWWRR ]
	control "remove $PWD/f"
	[ ! -e "$dir" ]
}

@test "truncate: tracing continues, from the beginning of the file" {
	load_module
	: >f
	add f
	writes 3 f
	truncate -s 0 f
	reads 1 f
	writes 1 f
	truncate -s 1M f
	reads 2 f
	[ "$(cut -d';' -f2-4 "$dir/log")" = "$(printf '%s\n' 'W;0;4096' 'W;4096;4096' \
		'W;8192;4096' 'R;0;0' 'W;0;4096' 'R;0;4096' 'R;4096;4096')" ]
}

@test "with follow=inode a new file with a deleted target's inode number can be added" {
	load_module follow=inode
	for fs in ext4 xfs; do
		cd "/mnt/$fs"
		: >f
		add f
		old=$dir
		writes 3 f
		recreate f
		writes 5 f
		[ "$(seen "$old")" = 3 ]
		control "add $PWD/f"
		new=${old}_2
		[ "$(grep -c "^${new##*/} $PWD/f\$" /proc/iotracer/control)" = 1 ]
		writes 2 f
		[ "$(seen "$old")" = 3 ]
		[ "$(seen "$new")" = 2 ]
		control "remove $PWD/f"
		[ ! -e "$new" ]
		[ "$(seen "$old")" = 3 ]
		control "remove $PWD/f"
		[ ! -e "$old" ]
	done
}

# bats test_tags=once
@test "hard links: one log, listed under each name until that name is removed" {
	load_module
	: >a
	ln a b
	add a
	writes 1 b
	control "add $PWD/b"
	[ "$(cat /proc/iotracer/control)" = "${dir##*/} $PWD/a $PWD/b" ]
	writes 1 a
	control "remove $PWD/a"
	writes 1 a
	rm a
	writes 1 b
	[ "$(seen "$dir")" = 4 ]
	[ "$(cat /proc/iotracer/control)" = "${dir##*/} $PWD/b" ]
	control "remove $PWD/b"
	[ ! -e "$dir" ]
}

@test "umount succeeds, the log stays, and the file is traced when mounted again" {
	load_module MAX_EVENTS=100
	cd /
	for fs in ext4 xfs btrfs; do
		: >/mnt/$fs/f
		add /mnt/$fs/f
		writes 3 /mnt/$fs/f
		umount /mnt/$fs
		run ! mountpoint -q /mnt/$fs
		[ "$(grep -c VFS "$dir/log")" = 3 ]
		attach_fs $fs
		writes 2 /mnt/$fs/f
		[ "$(seen "$dir")" = 5 ]
	done
}

@test "umount: another btrfs or tmpfs may get the device number, but not the target" {
	load_module follow=inode
	cd /
	umount /mnt/btrfs
	truncate -s 256M /mnt/xfs/image
	mkfs.btrfs -q /mnt/xfs/image
	attach_fs btrfs
	: >/mnt/btrfs/f
	sync
	add /mnt/btrfs/f
	btrfs=$dir
	umount /mnt/btrfs
	mount -o loop /mnt/xfs/image /mnt/btrfs
	: >/mnt/btrfs/f
	writes 5 /mnt/btrfs/f
	[ "$(seen "$btrfs")" = 0 ]
	umount /mnt/btrfs
	mount -t tmpfs tmpfs /mnt/tmpfs
	: >/mnt/tmpfs/f
	add /mnt/tmpfs/f
	tmpfs=$dir
	attach_fs btrfs
	writes 4 /mnt/btrfs/f
	[ "$(seen "$btrfs")" = 4 ]
	umount /mnt/tmpfs
	mount -t tmpfs tmpfs /mnt/tmpfs
	: >/mnt/tmpfs/f
	writes 5 /mnt/tmpfs/f
	[ "$(seen "$tmpfs")" = 0 ]
	umount /mnt/tmpfs
}

@test "hooks detach while the filesystem's module is unloaded, and attach when it is loaded" {
	load_module MAX_EVENTS=100
	cd /
	for fs in xfs btrfs; do
		declare -A dirs=()
		for name in runs stopped started removed; do
			: >/mnt/$fs/$name
			add /mnt/$fs/$name
			dirs[$name]=$dir
			writes 1 /mnt/$fs/$name
		done
		[ "$(hook ${fs}_file_write_iter)" != detached ]
		how=$(hook ${fs}_file_write_iter)
		echo stop >"${dirs[stopped]}/control"
		echo stop >"${dirs[started]}/control"

		umount /mnt/$fs
		rmmod $fs
		[ "$(hook ${fs}_file_write_iter)" = detached ]
		[ "$(hook ${fs}_file_read_iter)" = detached ]
		[ "$(grep -c VFS "${dirs[runs]}/log")" = 1 ]
		echo start >"${dirs[started]}/control"
		control "remove /mnt/$fs/removed"

		modprobe $fs
		attach_fs $fs
		[ "$(hook ${fs}_file_write_iter)" = "$how" ]
		for name in runs stopped started removed; do
			writes 1 /mnt/$fs/$name
		done
		[ "$(seen "${dirs[runs]}")" = 2 ]
		[ "$(seen "${dirs[stopped]}")" = 1 ]
		[ "$(seen "${dirs[started]}")" = 2 ]
		echo start >"${dirs[stopped]}/control"
		writes 1 /mnt/$fs/stopped
		[ "$(seen "${dirs[stopped]}")" = 2 ]
		: >/mnt/$fs/new
		add /mnt/$fs/new
		writes 1 /mnt/$fs/new
		[ "$(seen "$dir")" = 1 ]
	done
}

@test "iotracer can be unloaded while the filesystem's module is unloaded" {
	load_module
	cd /
	: >/mnt/xfs/f
	add /mnt/xfs/f
	umount /mnt/xfs
	rmmod xfs
	unload_module
	modprobe xfs
	attach_fs xfs
	load_module
	add /mnt/xfs/f
	writes 2 /mnt/xfs/f
	[ "$(seen "$dir")" = 2 ]
}

@test "attaching to a filesystem and detaching does not disturb another in heavy use" {
	load_module
	: >f
	fio_begin /mnt/xfs/load
	for _ in 1 2 3; do
		add f
		writes 3 f
		[ "$(seen "$dir")" = 3 ]
		control "remove $PWD/f"
		[ "$(grep -vc ' unload ' /proc/iotracer/hooks)" = 1 ]
	done
	fio_goes_on
	fio_end
}

@test "rmmod succeeds while fio runs, by redirection and by kretprobe" {
	for attach in auto kprobe; do
		load_module MAX_EVENTS=1000 attach=$attach
		: >load
		fio_begin load
		add load
		fio_goes_on
		[ "$(seen "$dir")" -gt 0 ]
		unload_module
		fio_goes_on
		fio_end
	done
}

@test "rmmod succeeds while readers sleep in log, stream and stats, and others read" {
	load_module MAX_EVENTS=1000
	: >f
	add f
	writes 200 f
	exec {log}<"$dir/log" {stream}<"$dir/stream" {stats}<"$dir/stats" {list}</proc/iotracer/control
	dd bs=100 count=1 status=none <&"$log" >/dev/null
	dd bs=100 count=1 status=none <&"$stream" >/dev/null
	while cat "$dir"/{control,log,stats,stream} /proc/iotracer/control /proc/iotracer/hooks; do :; done >/dev/null 2>&1 3>&- &
	reader=$!
	pollers=()
	for how in poll epoll; do
		python3 -S -s - $how 3>&- <<-'END' &
			import os, select, sys
			wait = getattr(select, sys.argv[1])()
			for name in 'fs/stream', 'cache/stream', 'fs/pipe', 'paths':
			    fd = os.open('/proc/iotracer/' + name, os.O_RDONLY)
			    while not name.endswith('pipe') and os.read(fd, 1 << 16):
			        pass
			    wait.register(fd, select.POLLIN)
			open(f'/tmp/{sys.argv[1]}s', 'w').close()
			wait.poll()
			wait.poll(0)
		END
		pollers+=($!)
		until [ -e /tmp/${how}s ]; do sleep 0.1; done
	done
	sleep 1
	unload_module
	wait "${pollers[0]}"
	kill "${pollers[1]}" || true # epoll does not report a file that is gone
	wait "$reader" || true
	[ ! -e /proc/iotracer ]
	for fd in "$log" "$stream" "$stats" "$list"; do
		run cat <&"$fd"
		[ "$status" != 0 ]
		[[ $output == *'Input/output error'* ]]
	done
	exec {log}<&- {stream}<&- {stats}<&- {list}<&-
}

@test "a direct read may return after its kretprobe is gone" {
	map slow "0 131072 linear /dev/vdd 0"
	new_filesystem ext4 "/dev/$device" /mnt/slow
	dd if=/dev/zero of=/mnt/slow/f bs=64k count=1 conv=fsync status=none
	: >/mnt/slow/g
	load_module attach=kprobe
	control "add /mnt/slow/f"
	dmsetup suspend --noflush --nolockfs --noudevsync slow
	python3 -S -s - 3>&- <<-'END' &
		import mmap, os
		fd = os.open('/mnt/slow/f', os.O_RDONLY | os.O_DIRECT)
		buffer = mmap.mmap(-1, 4096)
		open('/tmp/started', 'w').close()
		for i in range(200):
		    assert os.preadv(fd, [buffer], i % 16 * 4096) == 4096
	END
	reader=$!
	until [ -e /tmp/started ] && grep -q '^State:.D' "/proc/$reader/status"; do sleep 0.1; done
	control "remove /mnt/slow/f"
	add /mnt/slow/g
	dmsetup resume --noudevsync slow
	wait "$reader"
	[ "$(seen "$dir")" = 0 ]
	unload_module
	umount /mnt/slow
	unmap slow
}

# bats test_tags=once
@test "remove: a reader of the target's log gets EIO, readers of other logs continue" {
	load_module MAX_EVENTS=1000
	: >f
	: >g
	add g
	other=$dir
	add f
	writes 200 f
	writes 2 g
	exec {log}<"$dir/log" {second}<"$other/log"
	dd bs=100 count=1 status=none <&"$log" >/dev/null
	control "remove $PWD/f"
	[ ! -e "$dir" ]
	run cat <&"$log"
	[[ $status != 0 && $output == *'Input/output error'* ]]
	[ "$(grep -c VFS <&"$second")" = 2 ]
	add f
	writes 1 f
	run cat <&"$log"
	[[ $status != 0 && $output == *'Input/output error'* ]]
	exec {log}<&- {second}<&-
	[ "$(seen "$dir")" = 1 ]
}

# lines COMMAND FILE...: the command for each file, one per line, in as few writes as possible
lines() {
	local command=$1
	shift
	printf "$command $PWD/%s\n" "$@" |
		split -C 60000 --filter='dd bs=64k iflag=fullblock of=/proc/iotracer/control status=none'
}

# bats test_tags=once
@test "10,000 targets: each has its directory and its own events; remove and rmmod succeed" {
	load_module
	mount -t tmpfs tmpfs /mnt/tmpfs
	cd /mnt/tmpfs
	n=$((10000 / ${LOAD_DIVISOR:-1}))
	mapfile -t all < <(seq $n)
	touch "${all[@]}"
	lap_begin
	lines add "${all[@]}"
	lap "add $n"
	[ "$(wc -l </proc/iotracer/control)" = $n ]
	[ "$(find /proc/iotracer -path '*_*/log' | wc -l)" = $n ]
	lap "list $n and their directories"
	for ((i = 1; i <= n; i += n / 10 - 3)); do
		writes "$((i % 5 + 1))" $i
		echo "$(inode $i) $((i % 5 + 1)) $((i % 5 + 1)) 0"
	done | sort >"$BATS_TEST_TMPDIR/written"
	touch other
	writes 3 other
	lap other
	python3 -S -s "$BATS_TEST_DIRNAME/lib/target_stats.py" |
		sort | diff "$BATS_TEST_TMPDIR/written" -
	lap "read $n stats"
	lines remove "${all[@]::n/2}"
	lap "remove $((n / 2))"
	[ "$(wc -l </proc/iotracer/control)" = $((n / 2)) ]
	writes 4 $n
	[ "$(seen "$(target_dir $n)")" = 4 ]
	lap other
	unload_module
	lap "rmmod with $((n / 2))"
	laps
	cd /
	umount /mnt/tmpfs
}

@test "kretprobe fallback: as many events as calls" {
	load_module attach=kprobe
	for fs in ext4 xfs btrfs; do
		cd "/mnt/$fs"
		: >f
		add f
		writes 40 f
		reads 30 f
		dd if=/dev/zero of=f bs=64k count=20 oflag=direct status=none
		dd if=f of=/dev/null bs=64k count=10 iflag=direct status=none
		grep -qE '^vfs 100 ([0-9]+ ){3}0$' "$dir/stats"
		control "remove $PWD/f"
	done
	add f
	run ! grep -vE '^[^ ]+ ([^ ]+ (tracepoint|kretprobe)|(name|completion) kretprobe-names-as-given) ' <(sed 1d /proc/iotracer/hooks)
}

# fill: add targets until the limit is reached, print how many there are, resize and
# empty some, and remove them all
fill() {
	local n
	for n in {1..100}; do
		control "add $PWD/$n 1000" 2>/dev/null || break
	done
	wc -l </proc/iotracer/control
	echo reset >"/proc/iotracer/vda_$(inode 1)/control"
	control "add $PWD/1 900" "add $PWD/2 2"
	for ((n--; n; n--)); do
		control "remove $PWD/$n"
	done
}

# bats test_tags=once
@test "removed targets return their memory to the limit" {
	load_module ring_memory_limit=1000000
	touch {1..100}
	first=$(fill)
	[ "$first" -gt 2 ]
	[ "$first" -lt 100 ]
	[ "$(fill)" = "$first" ]
	[ "$(fill)" = "$first" ]
}

# life FILE...: load the module, make it allocate everything that it can allocate, and unload
# it: small and large rings, resized and emptied ones, links, readers, one of which still has
# the log open when its target is removed. The files, on other filesystems, are added, too.
life() {
	local log
	insmod "$IOTRACER_KO"
	lap insmod
	control "add $PWD"/{1..8} "add $PWD/link" "add $PWD/1 500" "${@/#/add }"
	lap add
	exec {log}<"/proc/iotracer/$first/log"
	read -r <&"$log" || true
	cat "/proc/iotracer/$first"/{control,log,stats,stream} >/dev/null
	dd if="/proc/iotracer/$first/pipe" of=/dev/null iflag=nonblock status=none 2>/dev/null || true
	echo reset >"/proc/iotracer/$first/control"
	control "remove $PWD"/{1,2}
	lap use
	unload_module
	lap rmmod
	exec {log}<&-
}

@test "loading and unloading under I/O leaves nothing behind" {
	touch {1..8} /mnt/btrfs/f /mnt/xfs/f
	ln 8 link
	first=vda_$(inode 1)
	lap_begin
	for _ in 1 2 3; do life /mnt/btrfs/f /mnt/xfs/f; done
	fio_begin 1
	fio_end
	remember_slabs
	fio_begin 1 --thinktime=40ms
	lap_begin
	began=$SECONDS
	# fewer on a machine so busy that these would take all the time that a test has
	for ((cycles = 0; cycles < ${CYCLES:-30} && (cycles < 10 || SECONDS - began < 200); cycles++)); do
		if ((cycles % 10)); then life; else life /mnt/btrfs/f /mnt/xfs/f; fi
	done
	laps
	fio_goes_on
	fio_end
	back_to_slabs "$cycles"
}
