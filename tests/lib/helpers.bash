# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of the module share. They run as root in a virtual machine:
#
#	scripts/vm --disk 1G --disk 1G --disk 1G -- bats tests/interface.bats

# ko: the module for the running kernel
ko() {
	echo "${IOTRACER_KO:-$BATS_TEST_DIRNAME/../build/$(uname -r)/iotracer.ko}"
}

# load_module [PARAMETER=VALUE]...
load_module() {
	insmod "$(ko)" "$@"
}

# new_filesystem TYPE DEVICE FOLDER [SIZE]: make one, whole or of this size, mount it
new_filesystem() {
	mkdir -p "$3"
	case $1 in
	ext4) mkfs.ext4 -q -F "$2" ${4:+"$4"} ;;
	xfs) mkfs.xfs -q -f "$2" ;;
	btrfs) mkfs.btrfs -q -f "$2" ;;
	esac 2>"$BATS_FILE_TMPDIR/mkfs" || { cat "$BATS_FILE_TMPDIR/mkfs"; return 1; }
	mount "$2" "$3"
}

# map NAME TABLE: a device of the device mapper, whose kernel name is put in $device;
# there is no udev to wait for
map() {
	modprobe -a dm_mod dm_crypt
	echo "$2" | dmsetup create --noudevrules --noudevsync "$1"
	# shellcheck disable=SC2034 # it is for the caller
	device=$(dmsetup info -c --noheadings -o blkdevname "$1")
}

unmap() {
	dmsetup remove --noudevsync --retry "$1"
}

# What a test that failed left mapped keeps its disk from all tests to come.
unmap_all() {
	dmsetup remove_all --force --noudevsync >/dev/null 2>&1 || true
}

# three_filesystems: one of each kind in a folder of its name in /mnt, and a tmpfs
three_filesystems() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/ext4
	new_filesystem xfs /dev/vdb /mnt/xfs
	new_filesystem btrfs /dev/vdc /mnt/btrfs
}

umount_three_filesystems() {
	umount /mnt/files /mnt/ext4 /mnt/xfs /mnt/btrfs
}

# run_functions FILE.py FUNCTION...: of a test that is written in Python. Where FAILED names
# a file, one that fails makes it, and there is no more after that.
run_functions() {
	[ ! -e "${FAILED:-}" ] || skip "another one has failed"
	IOTRACER_KO=$(ko) PYTHONPYCACHEPREFIX=/tmp/pycache python3 -S -s "$BATS_TEST_DIRNAME/$1" "${@:2}" ||
		{ touch "${FAILED:-/dev/null}"; return 1; }
}

# unload_module: where calls under load take long, at the second or third try
unload_module() {
	local tries=20
	while [ -d /sys/module/iotracer ] && ! rmmod iotracer; do
		[ $((--tries)) -gt 0 ] || return 1
	done
}

# listed PATH: an absolute path as control lists it
listed() {
	local path=${1//\\/\\134}
	path=${path// /\\040}
	path=${path//$'\t'/\\011}
	printf '%s' "${path//$'\n'/\\012}"
}

# target_dir FILE: the folder of a target in /proc; FILE is there, under the name
# that it was added with
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
	done </proc/iotracer/control
	echo "target_dir: $1 is no target" >&2
	return 1
}

# Objects in use, and objects of a slab, by cache. The kernel counts the slabs that
# a CPU has for itself as used up: more than the one it allocates from it is not to
# have, and a cache is shrunk before it is looked at; still it may be a slab or two
# wrong. Everything that the module allocates by kmalloc is below 8 KiB.
slabs() {
	local cache
	sync
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/{kmalloc-*,proc_dir_entry,pde_opener,seq_file}; do
		[ ! -e "$cache/cpu_partial" ] || echo 0 >"$cache/cpu_partial"
		[ ! -e "$cache/shrink" ] || echo 1 >"$cache/shrink"
	done
	awk '/^(kmalloc-|proc_dir_entry|pde_opener|seq_file)/ { print $1, $2, $5 }' /proc/slabinfo
}

# vmalloc'ed areas of code that is no more: their callers have no name.
orphans() {
	awk '$3 ~ /^0x/ { n++ } END { print n + 0 }' /proc/vmallocinfo
}

# grown N: caches that have N objects more than in the file before, and two slabs
grown() {
	slabs | awk -v n="$1" 'NR == FNR { before[$1] = $2; next }
		$2 - before[$1] >= n + 2 * $3 { print $1, $2 - before[$1]; bad = 1 }
		END { exit !bad }' "$BATS_TEST_TMPDIR/before" -
}

# remember_slabs: what back_to_slabs compares with
remember_slabs() {
	slabs >"$BATS_TEST_TMPDIR/before"
	orphans=$(orphans)
}

# back_to_slabs N: no cache has N objects more than then, after some time for what
# is freed late
back_to_slabs() {
	for _ in {1..10}; do
		if ! grown "$1"; then
			[ "$(orphans)" != "$orphans" ] || return 0
		fi
		sleep 3
	done
	grown "$1"
	echo "areas without an owner: $(orphans), before $orphans"
	return 1
}
