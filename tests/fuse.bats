#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bats file_tags=once,plain
#
# iotracer export --format=fuse, beside what a filesystem in userspace (FUSE) is asked for by the
# same work: libfuse's example that passes everything on to the real files, with the log of
# libfuse. The work and the comparison are in fuse.py.

bats_require_minimum_version 1.5.0

load lib/helpers
load lib/nfs

setup_file() {
	local examples=/usr/share/doc/libfuse3-dev/examples
	export LOGS=$BATS_FILE_TMPDIR
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	mkdir -p /mnt/files /mnt/fuse
	mount -t tmpfs files /mnt/files
	mkdir /mnt/files/bare /mnt/files/served
	load_module

	modprobe fuse
	# shellcheck disable=SC2046 # several words
	cc -I$examples -DHAVE_UTIMENSAT -DHAVE_POSIX_FALLOCATE -o "$LOGS/passthrough" \
		$examples/passthrough.c $(pkg-config fuse3 --cflags --libs)
	# in the foreground, one thread: its log has the operations in their order
	"$LOGS/passthrough" -d -s /mnt/fuse >"$LOGS/fuse" 2>&1 3>&- &
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
	killall -q "$LOGS/passthrough"
	! mountpoint -q /mnt/nfs || umount /mnt/nfs
	! mountpoint -q /proc/fs/nfsd || stop_nfs
	umount /mnt/files
}

setup() {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
}

work() {
	python3 "$BATS_TEST_DIRNAME/fuse.py" work "$1"
}

# traced DIRECTORY NAME: do the work there; $LOGS/NAME becomes its lines
traced() {
	iotracer record -c fs -f kind=all -o "$LOGS/trace-$2" -- \
		python3 "$BATS_TEST_DIRNAME/fuse.py" work "$1"
	iotracer export "$LOGS/trace-$2" --format=fuse --below "$1/" >"$LOGS/$2"
}

# check FUNCTION OURS THEIRS
check() {
	python3 -S -s "$BATS_TEST_DIRNAME/fuse.py" "$1" "$LOGS/$2" "$LOGS/$3" /mnt/files/bare
}

@test "fuse: a trace has the operations, paths, offsets and lengths that FUSE is asked for" {
	check equal_to_fuse bare fuse
}

@test "fuse: a trace has a RELEASE for each that FUSE is asked for" {
	check releases_of_fuse bare fuse
}

@test "fuse: on NFS a trace has the same lines as on the directory itself" {
	check equal_lines nfs bare
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
