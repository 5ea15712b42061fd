# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the tests of the module, which run as root in a virtual machine:
#
#	scripts/check-vm 6.12 interface.py

# shellcheck source=tests/lib/categories.bash
. "${BASH_SOURCE[0]%/*}/categories.bash"
# shellcheck source=tests/lib/wait.bash
. "${BASH_SOURCE[0]%/*}/wait.bash"

# ko: print the path of the module for the running kernel
ko() {
	echo "${IOTRACER_KO:-$TOP/build/$(uname -r)/iotracer.ko}"
}

# load_module [PARAMETER=VALUE]...
load_module() {
	insmod "$(ko)" "$@"
}

# new_filesystem TYPE DEVICE DIRECTORY [SIZE]: make a filesystem, of SIZE if given, and mount it
new_filesystem() {
	mkdir -p "$3"
	case $1 in
	ext4) mkfs.ext4 -q -F "$2" ${4:+"$4"} ;;
	xfs) mkfs.xfs -q -f "$2" ;;
	btrfs) mkfs.btrfs -q -f "$2" ;;
	esac 2>"$BATS_FILE_TMPDIR/mkfs" || { cat "$BATS_FILE_TMPDIR/mkfs"; return 1; }
	mount "$2" "$3"
}

# map NAME TABLE: make a device of the device mapper, and put its kernel name into $device;
# no udev runs that could be waited for
map() {
	modprobe -a dm_mod dm_crypt
	echo "$2" | dmsetup create --noudevrules --noudevsync "$1"
	# shellcheck disable=SC2034 # used by the caller
	device=$(dmsetup info -c --noheadings -o blkdevname "$1")
}

unmap() {
	dmsetup remove --noudevsync --retry "$1"
}

# unmap_all: a device that a failed test left mapped would keep its disk from all later tests
unmap_all() {
	dmsetup remove_all --force --noudevsync >/dev/null 2>&1 || true
}

# files_and_disk: mount a tmpfs in /mnt/files and an ext4 of 256 MiB in /mnt/disk
files_and_disk() {
	mkdir -p /mnt/files
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk 256M
}

umount_files_and_disk() {
	umount /mnt/files /mnt/disk
}

# run_functions FILE.py FUNCTION...: run functions of a test that is written in Python. If FAILED
# names a file, a test that fails creates it, and all later tests are skipped.
run_functions() {
	[ ! -e "${FAILED:-}" ] || skip "another one has failed"
	# with -m Python keeps what it has compiled, which else is half of its work
	IOTRACER_KO=$(ko) PYTHONPYCACHEPREFIX=/tmp/pycache \
		python3 -S -s -m "${1%.py}" "${@:2}" || { touch "${FAILED:-/dev/null}"; return 1; }
}

# unload_module: rmmod; while calls under load take long it works at the second or third try only
unload_module() {
	local tries=20
	while [ -d /sys/module/iotracer ] && ! rmmod iotracer; do
		[ $((--tries)) -gt 0 ] || return 1
	done
}

# listed PATH: print an absolute path as control lists it
listed() {
	local path=${1//\\/\\134}
	path=${path// /\\040}
	path=${path//$'\t'/\\011}
	printf '%s' "${path//$'\n'/\\012}"
}

# target_dir FILE: print the directory of a target in /proc; FILE exists, under the
# name that it was added with
target_dir() {
	local line path
	path=$(realpath -z -- "$1" | tr '\0' /)
	path=$(listed "${path%/}")
	while IFS= read -r line; do
		[[ " ${line#* } " == *" $path "* ]] || continue
		line=${line%% *}
		# shellcheck disable=SC2059 # \ooo becomes a byte
		printf "/proc/iotracer/${line//%/%%}\n"
		return
	done < <(grep -F -e " $path" /proc/iotracer/control)
	echo "target_dir: $1 is no target" >&2
	return 1
}

# forget FILE: write it back and drop its pages from memory. On 6.1 drop_caches passes by the pages that
# a processor has yet to put on a list.
forget() {
	dd of="$1" oflag=nocache conv=notrunc,fdatasync count=0 status=none
}

# slabs COMMAND [ARGUMENT]...: run slabs.py
slabs() {
	python3 -S -s "$TESTS/lib/slabs.py" "$@"
}

# grown N: print caches that have N objects and two slabs more than at remember_slabs; fails if
# there are none
grown() {
	slabs grown "$BATS_TEST_TMPDIR/before" "$1"
}

# remember_slabs: store what back_to_slabs compares with
remember_slabs() {
	slabs now >"$BATS_TEST_TMPDIR/before"
	orphans=$(slabs orphans)
}

# back_to_slabs N: no cache has N objects more than at remember_slabs; waits for
# objects that are freed late
back_to_slabs() {
	for _ in {1..10}; do
		if ! grown "$1"; then
			[ "$(slabs orphans)" != "$orphans" ] || return 0
		fi
		sleep 3
	done
	grown "$1"
	echo "areas without an owner: $(slabs orphans), before $orphans"
	return 1
}
