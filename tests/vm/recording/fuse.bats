#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bats file_tags=once,plain
#
# iotracer export and log --format=fuse, beside what a filesystem in userspace (FUSE) is asked for
# by the same work: libfuse's example that passes everything on to the real files, with the log of
# libfuse. The work and the comparison are in fuse.py.

bats_require_minimum_version 1.5.0

load ../../lib/helpers
load ../../lib/nfs

setup_file() {
	export LOGS=$BATS_FILE_TMPDIR
	export WAYS="followed followed-synced afterwards afterwards-synced"
	PATH=$TOP/tools:$PATH
	mkdir -p /mnt/fuse
	# btrfs takes direct reads of any offset and length, on every kernel
	new_filesystem btrfs /dev/vdb /mnt/files
	mkdir /mnt/files/bare /mnt/files/served
	load_module

	modprobe fuse
	# in the foreground, one thread: its log has the operations in their order
	"$TOP/build/tests/passthrough" -d -s /mnt/fuse >"$LOGS/fuse" 2>&1 3>&- &
	until mountpoint -q /mnt/fuse; do sleep 0.1; done
	work /mnt/fuse/mnt/files/bare
	umount /mnt/fuse

	traced /mnt/files/bare bare
	serve_nfs /mnt/files/served
	mount_client
	traced /mnt/nfs nfs
	umount /mnt/nfs
	stop_nfs
}

teardown_file() {
	unload_module
	killall -q passthrough || true
	! mountpoint -q /mnt/nfs || umount /mnt/nfs
	! mountpoint -q /proc/fs/nfsd || stop_nfs
	! mountpoint -q /mnt/disk || umount /mnt/disk
	umount /mnt/files
}

setup() {
	PATH=$TOP/tools:$PATH
}

work() {
	python3 -m fuse work "$1"
}

# traced DIRECTORY NAME: do the work there, in a trace and with the directory as a target. Then
# $LOGS/NAME has the lines of the trace, and $LOGS/NAME-WAY for each of $WAYS those of the log;
# $LOGS/NAME-WAY-calls has what a tool with --sync wrote and synced.
traced() {
	local calls=(strace -D -s 1000 -e 'trace=write,fdatasync,fsync') # -D: $! is the tool
	local followers=() way
	iotracer add "$1"
	iotracer log --follow --format=fuse "$1" >"$LOGS/$2-followed" 3>&- &
	followers+=($!)
	"${calls[@]}" -o "$LOGS/$2-followed-synced-calls" \
		iotracer log --follow --format=fuse --sync "$1" >"$LOGS/$2-followed-synced" 3>&- &
	followers+=($!)
	iotracer record -c fs -f kind=all -o "$LOGS/trace-$2" -- \
		python3 -m fuse work "$1"
	iotracer export "$LOGS/trace-$2" --format=fuse --below "$1/" >"$LOGS/$2"
	for way in followed followed-synced; do
		wait_for grep -q ' RMDIR: path=/hello$' "$LOGS/$2-$way"
	done
	kill -INT "${followers[@]}"
	wait "${followers[@]}"
	iotracer log --format=fuse "$1" >"$LOGS/$2-afterwards"
	"${calls[@]}" -o "$LOGS/$2-afterwards-synced-calls" \
		iotracer log --format=fuse --sync "$1" >"$LOGS/$2-afterwards-synced" 3>&-
}

# untimed FILE: print its lines without their times
untimed() {
	sed -E 's/^[0-9]{8}-[0-9]{6}\.[0-9]{6}: //' "$1"
}

# of_work FILE: print its untimed lines but those of iotracer log, which looks at its directory
of_work() {
	untimed "$1" | grep -v -E '^ *(GETATTR|READLINK): path=/$'
}

# check FUNCTION OURS THEIRS
check() {
	python3 -S -s -m fuse "$1" "$LOGS/$2" "$LOGS/$3" /mnt/files/bare
}

@test "fuse: a trace has the operations, paths, offsets and lengths that FUSE is asked for" {
	check equal_to_fuse bare fuse
}

@test "fuse: a trace has a RELEASE for each that FUSE is asked for" {
	check releases_of_fuse bare fuse
}

@test "fuse: the RELEASE of a file is behind the FLUSH of the close that causes it" {
	local name
	for name in bare bare-followed bare-afterwards-synced; do
		# each file is open once at a time here
		untimed "$LOGS/$name" | awk '
			/^ *FLUSH: / { flushed[$2]++ }
			/^ *RELEASE: / && flushed[$2]-- < 1 { print "before its FLUSH:", $0; wrong = 1 }
			END { exit wrong }'
	done
}

# in_chroot COMMAND...
in_chroot() {
	chroot /mnt/chroot "$@"
}

@test "fuse: in a chroot the paths of a log are relative to its directory, too" {
	mkdir -p /mnt/chroot /mnt/files/inner/sub
	mount --rbind / /mnt/chroot
	mount --make-rslave /mnt/chroot
	in_chroot iotracer add /mnt/files/inner
	in_chroot mkdir /mnt/files/inner/made /mnt/files/inner/sub/made
	in_chroot iotracer log --format=fuse /mnt/files/inner >"$LOGS/chroot"
	run -0 in_chroot setpriv --bounding-set=-sys_chroot --inh-caps=-sys_chroot \
		iotracer log --format=csv /mnt/files/inner
	run -1 --separate-stderr in_chroot setpriv --bounding-set=-sys_chroot --inh-caps=-sys_chroot \
		iotracer log --format=fuse /mnt/files/inner
	in_chroot iotracer remove /mnt/files/inner
	umount -R /mnt/chroot
	[ "$(untimed "$LOGS/chroot" | grep MKDIR | sed 's/^ *//')" = 'MKDIR: path=/made; mode=511
MKDIR: path=/sub/made; mode=511' ]
	run ! grep -q '(elsewhere)' "$LOGS/chroot"
	# shellcheck disable=SC2154 # bats sets it
	[[ $stderr == *"/mnt/files/inner: no path is below it, and its path outside of a chroot cannot be found: Operation not permitted"* ]]
}

@test "fuse: on NFS a trace has the same lines as on the directory itself" {
	check equal_lines nfs bare
}

@test "fuse: the log of a directory, followed and afterwards, synced or not, has them, too" {
	local way
	for way in $WAYS; do
		check equal_to_fuse "bare-$way" fuse
		check releases_of_fuse "bare-$way" fuse
	done
}

@test "fuse: the log of a directory on NFS has them, too" {
	local way
	for way in $WAYS; do
		check equal_to_fuse "nfs-$way" fuse
	done
}

@test "fuse: the log of a directory has each line of the trace, and no other" {
	local name way
	for name in bare nfs; do
		for way in $WAYS; do
			diff <(of_work "$LOGS/$name-$way") <(untimed "$LOGS/$name")
		done
	done
}

# written_and_synced NAME: each line of the log was written by itself, and synced before the next
written_and_synced() {
	wait_for grep -qxF '+++ exited with 0 +++' "$LOGS/$1-calls"
	diff <(grep -E '^(write\(1,|f(data)?sync\()' "$LOGS/$1-calls" | sed 's/) *= /) = /') <(awk '
		{ printf "write(1, \"%s\\n\", %d) = %d\n", $0, length + 1, length + 1 }
		{ print "fdatasync(1) = 0" }' "$LOGS/$1")
}

@test "fuse: with --sync each line is written and synced before the next" {
	local name
	for name in bare nfs; do
		written_and_synced "$name-followed-synced"
		written_and_synced "$name-afterwards-synced"
	done
}

# begins_log: whether the lines of the tool that was killed are the first ones of the log
begins_log() {
	untimed /mnt/disk/killed |
		cmp - <(untimed "$LOGS/bare-afterwards" | head -n "$(wc -l </mnt/disk/killed)")
}

@test "fuse: with --sync the lines are on a disk that fails when the tool is killed" {
	new_filesystem xfs /dev/vda /mnt/disk
	# killed when it is about to sync its 20th line
	run -137 strace -o /dev/null -e inject=fdatasync:signal=KILL:when=20 \
		sh -c 'exec iotracer log --format=fuse --sync /mnt/files/bare >/mnt/disk/killed'
	[ "$(wc -l </mnt/disk/killed)" = 20 ]
	begins_log
	xfs_io -x -c shutdown /mnt/disk # what is in memory only is lost
	umount /mnt/disk
	mount /dev/vda /mnt/disk
	[ "$(wc -l </mnt/disk/killed)" -ge 19 ]
	begins_log
}

@test "fuse: the lines have the form that IOTraceCollector's have" {
	grep -qx '[0-9]\{8\}-[0-9]\{6\}\.[0-9]\{6\}:    MKDIR: path=/hello; mode=493' "$LOGS/bare"
	grep -qx '[0-9-]*\.[0-9]*:   CREATE: path=/hello/world.txt; mode=33188; fi=None' "$LOGS/bare"
	grep -qx '[0-9-]*\.[0-9]*:    WRITE: path=/hello/world.txt; offset=0; length_buf=13' "$LOGS/bare"
	grep -qx '[0-9-]*\.[0-9]*:     READ: path=/hello/world.txt; length=4096; offset=100' "$LOGS/bare"
	grep -qx '[0-9-]*\.[0-9]*:    FLUSH: path=/hello/world.txt' "$LOGS/bare"
}

@test "fuse: the time of a line is when the operation began, in UTC" {
	local line time
	line=$(grep -m 1 ' MKDIR: path=/hello; ' "$LOGS/bare")
	time=$(iotracer export "$LOGS/trace-bare" --format=json |
		jq -r 'select(.op == "MKDIR" and .path == "/mnt/files/bare/hello").timestamp')
	time=$(tr -d ':-' <<<"$time")
	time=${time/T/-}
	[ "${line%%: *}" = "${time:0:22}" ]
}

@test "fuse: without --below the paths are whole, and other directories are there, too" {
	iotracer export "$LOGS/trace-bare" --format=fuse >"$LOGS/whole"
	grep -q ' MKDIR: path=/mnt/files/bare/hello; mode=493$' "$LOGS/whole"
	grep -q ' READ: path=/usr/' "$LOGS/whole"
}

@test "fuse: operations that FUSE's log does not have are reported" {
	run -0 --separate-stderr iotracer export "$LOGS/trace-bare" --format=fuse --below /mnt/files/bare
	# shellcheck disable=SC2154 # bats sets it
	[[ $stderr == *"events FALLOCATE have no line in this format"* ]]
}

@test "fuse: --below finds its directory in a trace whose names are hashed, too" {
	iotracer export "$LOGS/trace-bare" --format=fuse --below /mnt/files/bare -a >"$LOGS/hashed"
	[ "$(wc -l <"$LOGS/hashed")" = "$(wc -l <"$LOGS/bare")" ]
	run -1 grep -q hello "$LOGS/hashed"
}

@test "fuse: -o writes a file that ends in .trace" {
	iotracer export "$LOGS/trace-bare" --format=fuse --below /mnt/files/bare -o "$LOGS/files"
	cmp "$LOGS"/files/fs/fs_*.trace "$LOGS/bare"
}

# refused WORDS OPTION...
refused() {
	local words=$1
	shift
	run -2 --separate-stderr iotracer export "$LOGS/trace-bare" "$@"
	[[ $stderr == *"$words"* ]]
}

@test "fuse: options that do not go together are refused" {
	refused 'say a path that begins with /' --format=fuse --below mnt
	refused '--below goes with --format=fuse' --below /mnt
	refused 'is for category fs' --format=fuse --category=block
	refused 'has no columns' --format=fuse --columns=io-tracer
}
