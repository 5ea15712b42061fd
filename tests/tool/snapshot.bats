#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer snapshot`: what it says is what other programs say. Needs no module. Tests that mount
# do so in a namespace of their own, and need root.

# shellcheck disable=SC2016,SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool

setup_file() {
	build_tool
}

setup() {
	use_tool
	work=$(mktemp -d /tmp/iotracer-snapshot.XXXXXX)
	cd "$work" || return
	mkdir tree out
}

teardown() {
	[ -z "${child:-}" ] || kill -9 "$child" 2>/dev/null || true
	cd /
	rm -rf "$work"
}

snap() {
	PYTHONDONTWRITEBYTECODE=1 python3 -m snapshot "$@"
}

# take KIND [ARGUMENT]...: make a snapshot in out/, whose path is $made
take() {
	rm -rf out
	# a later look at a directory does not change its time of access
	find tree >/dev/null
	iotracer snapshot "$1" -o out "${@:2}" || return
	made=$(echo "$PWD"/out/*)
	[ -d "$made" ]
}

# left FILTER: print what snapshot.json has
left() {
	jq -r "$1" "$made/snapshot.json"
}

# Without root, or in a container, nothing can be mounted, and those tests prove nothing.
can_mount() {
	[ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null
}

@test "fs: each column of each file is what stat says" {
	cd tree
	mkdir -m 1750 d
	printf 'some text' >d/file
	chmod 6754 d/file
	truncate -s 1M d/sparse
	dd if=/dev/urandom of=d/full bs=64k count=3 status=none
	ln -s d/file link
	mkfifo -m 600 pipe
	python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
	[ "$(id -u)" != 0 ] || { mknod null c 1 3; mknod disk b 7 0; chown 12:34 d/file; }
	touch -d '1969-12-31 23:59:58.25 UTC' d/old
	touch -d '2100-02-28 12:00:00.000000001 UTC' d/new
	touch -d '2100-03-01 UTC' d/newer # 2100 has no leap day
	touch -a -d '2000-02-29 UTC' d/leap
	cd "$work" || return
	sync -f tree
	take fs "$work/tree"
	snap files "$made" "$work/tree"
	take fs --extents "$work/tree"
	snap files "$made" "$work/tree" 3 with_extents
}

@test "fs: names with any bytes are those of the directory" {
	local names=($'new\nline' 'com,ma' 'quo"te' $'not\xffutf8' ' blank ' 'back\slash' $'\e[31m' 'ünï' \\101 \
		"$(printf 'a%.0s' {1..255})")
	for name in "${names[@]}"; do
		mkdir "tree/$name"
		touch "tree/$name/$name"
	done
	take fs "$work/tree"
	snap files "$made" "$work/tree"
	# each row is a line, and no terminal is commanded
	[ "$(zcat "$made"/part* | wc -l)" = $((2 * ${#names[@]} + 2)) ]
	run ! grep -q $'\e' <(zcat "$made"/part*)
	iotracer snapshot fs "$work/tree" >table.csv
	[ "$(sqlite3 -cmd '.import --csv table.csv t' :memory: 'select count(*) from t')" = $((2 * ${#names[@]} + 1)) ]
}

@test "fs: as deep as was asked" {
	mkdir -p tree/1/2/3/4/5
	touch tree/{0,1/1,1/2/2,1/2/3/3,1/2/3/4/4}
	take fs tree
	snap files "$made" "$work/tree" 3
	for depth in 0 1 2 5; do
		take fs --depth=$depth tree
		snap files "$made" "$work/tree" $depth
	done
	take fs --depth=all tree
	snap files "$made" "$work/tree"
	[ "$(left .depth)" = null ]
}

@test "fs: a tree that is deeper than a path can be ends there, and that is reported" {
	python3 -c 'import os
for i in range(2500):
    os.mkdir("d")
    os.chdir("d")' 2>/dev/null || true
	run -1 --separate-stderr iotracer snapshot fs -o out --depth=all .
	[[ $stderr == *"1 files or directories could not be read; the first: $work/d/d/"*": File name too long" ]]
	[ "$(jq .rows out/*/snapshot.json)" -gt 1000 ]
}

@test "fs: an inode with several names has one row" {
	touch tree/{a,b,c}
	mkdir tree/{d,e}
	ln tree/a tree/d/a
	ln tree/a tree/e/a
	ln tree/b tree/b2
	ln tree/c outside
	take fs tree
	snap inodes "$made" "$work/tree"
	snap populate tree/many 20 200
	take fs tree
	snap inodes "$made" "$work/tree"
}

@test "fs: other filesystems only if they are asked for, pseudo filesystems never" {
	can_mount || return 0
	mkdir tree/{other,proc,again,same,d}
	touch tree/{file,d/file,on}
	cat >in_namespace <<-'END'
		mount -t tmpfs none tree/other
		mkdir tree/other/sub
		touch tree/other/sub/file tree/bound
		mount -t proc none tree/proc
		mount --bind tree/other tree/again
		mount --bind tree/d tree/same
		mount --bind tree/file tree/on
		iotracer snapshot fs -o out "$PWD/tree"
		iotracer snapshot fs -o crossed --cross-mounts "$PWD/tree"
		findmnt -no MAJ:MIN tree/other >device
		! iotracer snapshot fs tree/proc 2>why || exit 1
	END
	unshare --mount bash -e in_namespace
	paths() { snap paths "$1" | sed "s|^$work/tree/*||"; }
	[ "$(paths out/*)" = $'\nbound\nd\nd/file\nfile' ]
	[ "$(jq -c .left_out out/*/snapshot.json)" = '{"vanished":0,"further_links":0,"mounts":5,"pseudo_filesystems":0}' ]
	[ "$(paths crossed/*)" = $'\nbound\nd\nd/file\nfile\nother\nother/sub\nother/sub/file' ]
	[ "$(jq -c .left_out crossed/*/snapshot.json)" = '{"vanished":0,"further_links":0,"mounts":3,"pseudo_filesystems":1}' ]
	zcat crossed/*/part* | grep '/tree/other/sub/file,' | grep -F ",$(tr -d ' ' <device),"
	[[ $(<why) == *"tree/proc: is on a pseudo filesystem"* ]]
}

@test "fs: files of a subvolume of btrfs have the device of its filesystem" {
	can_mount && grep -qw btrfs /proc/filesystems && [ -e /dev/loop-control ] || return 0
	truncate -s 200M disk
	mkfs.btrfs -q disk >/dev/null
	cat >in_namespace <<-'END'
		mount -o loop disk tree
		btrfs subvolume create tree/sub >made
		btrfs subvolume create tree/sub/deeper >>made
		touch tree/file tree/sub/file tree/sub/deeper/file
		iotracer snapshot fs -o out --depth=all --cross-mounts "$PWD/tree"
		python3 -m snapshot subvolume "$(echo out/*)" "$PWD/tree"
	END
	PYTHONDONTWRITEBYTECODE=1 unshare --mount bash -e in_namespace
}

@test "fs: only what is mounted elsewhere is left out of several mounts of one filesystem" {
	can_mount || return 0
	mkdir tree/{part,whole} data
	cat >in_namespace <<-'END'
		mount -t tmpfs none data
		mkdir data/{a,b}
		touch data/{a,b}/file
		mount --bind data/a tree/part
		iotracer snapshot fs -o one --cross-mounts "$PWD/tree"
		mount --bind data tree/whole
		iotracer snapshot fs -o two --cross-mounts "$PWD/tree"
	END
	unshare --mount bash -e in_namespace
	paths() { snap paths "$1" | sed "s|^$work/tree/*||"; }
	[ "$(paths one/*)" = $'\npart\npart/file\nwhole' ]
	[ "$(paths two/*)" = $'\nwhole\nwhole/a\nwhole/a/file\nwhole/b\nwhole/b/file' ]
}

@test "fs: files and directories that vanish are no error" {
	mkdir -p tree/{a,gone}
	touch tree/{a/gone,b}
	take() { rm -rf out && preloaded TOOL_VANISH=gone iotracer snapshot fs -o out tree && made=$(echo out/*); }
	take
	[ "$(left '.left_out.vanished, .errors, .rows' | tr '\n' ' ')" = "2 0 3 " ]
	[ "$(snap paths "$made")" = "$work/tree
$work/tree/a
$work/tree/b" ]
}

@test "fs: directories that become links do not lead out of the tree" {
	mkdir outside tree/d
	touch outside/secret tree/d/inside
	secret=$(stat -c %i outside/secret)
	python3 -c 'import os
while True:
    os.rename("tree/d", "hidden")
    os.symlink("../outside", "tree/d")
    os.unlink("tree/d")
    os.rename("hidden", "tree/d")' &
	child=$!
	for ((i = 0; i < 100; i++)); do
		iotracer snapshot fs "$work/tree"
	done >rows
	grep -q ,DIR, rows
	grep -q tree/d/inside rows
	run ! grep -q -e secret -e ",$secret," rows
}

@test "fs: what may not be read is counted, reported and a failure" {
	chmod 755 . tree
	chmod 777 out
	mkdir -m 700 tree/closed
	touch tree/closed/file tree/open
	[ "$(id -u)" != 0 ] || chown -R 0 tree
	[ "$(id -u)" = 0 ] || chmod 0 tree/closed
	run -1 --separate-stderr unprivileged iotracer snapshot fs -o out "$work/tree"
	[ "$stderr" = "iotracer: $work/tree: 1 files or directories could not be read; the first: $work/tree/closed: Permission denied" ]
	made=$(echo out/*)
	[ "$(left .errors)" = 1 ]
	[ "$(snap paths "$made")" = "$work/tree
$work/tree/closed
$work/tree/open" ]
	chmod 700 tree/closed
}

@test "fs: times of access stay as they are" {
	mkdir tree/d
	touch -d '2005-02-03 04:05:06 UTC' -m tree/d tree
	touch -a -d '2001-02-03 04:05:06 UTC' tree/d tree
	iotracer snapshot fs --extents tree
	[ "$(stat -c %X tree tree/d | sort -u)" = "$(date -d '2001-02-03 04:05:06 UTC' +%s)" ]
}

@test "fs: parts, each with the names of the columns" {
	touch tree/{1..24}
	take fs --rotate=10 tree
	[ "$(left '[.parts[] | .file, .rows] | join(" ")')" = "part0001.csv.gz 10 part0002.csv.gz 10 part0003.csv.gz 5" ]
	snap files "$made" "$work/tree"
	take fs --rotate=25 tree
	[ "$(left '.parts | length')" = 1 ]
	take fs --rotate=0 tree
	[ "$(left '.parts | length')" = 1 ]
}

@test "fs: on standard output the same rows" {
	touch tree/{1..24}
	take fs tree
	diff <(iotracer snapshot fs tree | cut -d , -f 2-) <(zcat "$made"/part* | cut -d , -f 2-)
}

# stopped_midway: start a snapshot that stops before it is whole
stopped_midway() {
	touch tree/{1..600}
	rm -rf out
	# not by preloaded(), so that the child is iotracer itself
	env --default-signal=INT,HUP LD_PRELOAD="$BATS_FILE_TMPDIR/tool-preload.so" TOOL_STOP=500 \
		iotracer snapshot fs -o out tree 2>>said &
	child=$!
	wait_for grep -q '^State:.*stopped' "/proc/$child/status"
	[[ $(ls -A out) == .fs_*.partial ]]
}

@test "an interrupted snapshot is not there" {
	for signal in INT TERM HUP; do
		stopped_midway
		kill -s "$signal" "$child"
		kill -CONT "$child"
		status=0
		wait "$child" || status=$?
		child=
		[ "$status" = $((128 + $(kill -l "$signal"))) ]
		[ -z "$(ls -A out)" ]
	done
	[ ! -s said ]
}

@test "a killed snapshot has only a hidden name" {
	stopped_midway
	kill -KILL "$child"
	wait "$child" || true
	child=
	[ -z "$(ls out)" ]
	[[ $(ls -A out) == .fs_*.partial ]]
}

@test "a snapshot that cannot be written is reported, and not there" {
	snap populate tree 20 200
	mkdir -p out
	run -1 --separate-stderr bash -c 'ulimit -f 8; iotracer snapshot fs -o out tree'
	[[ $stderr == "iotracer: out/fs_"*": cannot be written: File too large" ]]
	[ -z "$(ls -A out)" ]
	run -1 --separate-stderr bash -c 'iotracer snapshot fs tree >/dev/full'
	[[ $stderr == *"cannot be written: No space left on device"* ]]
	touch file
	run -1 --separate-stderr iotracer snapshot fs -o file/out tree
	run -1 --separate-stderr iotracer snapshot fs missing
	[ "$stderr" = "iotracer: missing: No such file or directory" ]
}

# within KIB: whether a snapshot of the tree needs no more memory than that
within() {
	rm -rf out
	(ulimit -v "$1" && iotracer snapshot fs -o out --depth=all tree 2>/dev/null)
}

@test "fs: memory does not grow with the number of files" {
	snap populate tree 4 100
	local least=2048
	until within $least; do
		least=$((least + 256))
	done
	echo "$least KiB"
	# 20,000 rows are 5 MB; 10,000 inodes of whose names half have been met are 0.4 MB
	snap populate tree/more 200 100
	within $((least + 1024))
	[ "$(jq .rows out/*/snapshot.json)" -gt 10000 ]
}

# stopped_shells: start processes that do nothing, with odd names
stopped_shells() {
	local name
	pids=()
	for name in 'plain' 'a) R 1' 'com,ma"' $'new\nline' $'\xff\e[31m'; do
		cp "$(command -v bash)" "./$name"
		"./$name" -c 'kill -STOP $$' 'odd "argument"' $'\e\n' 3>&- 4</dev/null &
		pids+=($!)
		wait_for grep -q '^State:.*stopped' "/proc/$!/status"
	done
}

@test "process: each column is what ps and /proc say" {
	stopped_shells
	take process --watch=0
	status=0
	snap process "$made" "${pids[@]}" || status=1
	kill -KILL "${pids[@]}"
	[ "$status" = 0 ]
	[ "$(ps -o stat= -p $$ | cut -c 1)" != S ] || zcat "$made"/part* | grep -E "^[^,]*,$$,.*,(sleeping|running),"
	[ "$(zcat "$made"/part* | wc -l)" = $(($(left .rows) + 1)) ]
}

@test "process: shares of the CPU are from real samples, and empty without" {
	snap cpu
}

@test "process: processes that vanish are no error" {
	(while true; do /bin/true; done) &
	child=$!
	for ((i = 0; i < 20; i++)); do
		iotracer snapshot process --watch=0 >rows
		grep -q ",$child," rows
	done
}

@test "process: the control group's id is by the first place where groups are mounted" {
	export IOTRACER_ROOT=$work/root
	path=$(sed -n 's/^0:://p' /proc/self/cgroup)
	mkdir -p root/proc/self "first$path" second
	{
		echo "31 30 0:27 / $work/other rw - cgroup cgroup rw,memory"
		echo "32 30 0:28 / $work/first rw - cgroup2 cgroup2 rw"
		echo "33 30 0:28 / $work/second rw - cgroup2 cgroup2 rw"
	} >root/proc/self/mountinfo
	iotracer snapshot process --watch=0 >rows
	[ "$(python3 -c '
import csv, os, sys
print(next(r["cgroup"] for r in csv.DictReader(open("rows")) if r["pid"] == sys.argv[1]))' $$)" = \
		"$(stat -c %i "first$path")" ]
	sed -i 's/cgroup2/cgroup/g' root/proc/self/mountinfo
	iotracer snapshot process --watch=0 >rows
	[ -z "$(python3 -c '
import csv
print("".join(r["cgroup"] for r in csv.DictReader(open("rows"))))')" ]
}

@test "process: those that may not be read are counted, and those that vanished" {
	can_mount || skip "takes root, outside of a container"
	chmod 777 .
	# nothing but these processes is there, so none vanishes
	unshare --pid --fork --mount-proc --kill-child bash -c '
		for i in 1 2 3; do sleep 1000 3>&- & done
		setpriv --reuid=65534 --regid=65534 --clear-groups iotracer snapshot process --watch=0 -o denied
		iotracer snapshot process --watch=0 -o all'
	[ "$(jq -c '[.denied, .vanished]' denied/*/snapshot.json)" = '[4,0]' ]
	[ "$(zcat denied/*/part* | python3 -c '
import csv, sys
print(sum(r["rchar_bytes"] == "" for r in csv.DictReader(sys.stdin)))')" = 4 ]
	[ "$(jq -c '[.denied, .vanished]' all/*/snapshot.json)" = '[0,0]' ]
}

@test "process: the rows of others may be incomplete without root, and that is no failure" {
	chmod 755 .
	unprivileged iotracer snapshot process --watch=0 >rows
	[ "$(grep -c , rows)" -gt 2 ]
}

# system [OPTION]...: make a snapshot of the machine, as JSON in system.json
system() {
	iotracer snapshot system "$@" >system.json
}

@test "system: kernel, distribution and processors are what uname, os-release and lscpu say" {
	system
	snap system_os system.json
}

@test "system: memory and its settings are what free, swapon and sysctl say" {
	system
	snap system_memory system.json
}

@test "system: disks are those of lsblk, with size, model, scheduler and queue" {
	system
	snap system_disks system.json
}

@test "system: filesystems are those of findmnt" {
	system
	snap system_filesystems system.json
}

@test "system: interfaces are those of the kernel" {
	system
	snap system_network system.json
}

@test "system: in a directory it is snapshot.json" {
	take system
	[ "$(left '.snapshot, .format, .os.kernel' | tr '\n' ' ')" = "system 1 $(uname -r) " ]
	[ "$(ls "$made")" = snapshot.json ]
}

# faked [OPTION]...: a snapshot of the machine of fake()
faked() {
	[ -d root ] || snap fake root
	IOTRACER_ROOT=$work/root system "$@"
}

@test "system: a guest that has guests, its disks, graphics and container" {
	faked
	jq -e '.virtualisation == {guest_of: "qemu", guest_of_source: "firmware", container: "lxc", kvm_host: true,
		kvm_guests: [{pid: 77, machines: 1, vcpus: 2, comm: "qemu-system-x86", name: "secret-guest"}]}' system.json
	jq -e '.gpus == [{pci_address: "0000:01:00.0", vendor_id: "0x10de", device_id: "0x1eb8", memory_bytes: null,
		vendor: "NVIDIA Corporation", model: "TU104GL [Tesla T4]", driver: "nvidia"}]' system.json
	jq -e '[.disks[] | .name] == ["dm-0", "loop1", "sda"]' system.json
	jq -e '.disks[2] | .model == "A disk" and .scheduler == "bfq" and .rotational == false and
		.size_bytes == 1048576 and .partitions[0].mounts == [{mount_point: "/", type: "ext4"}]' system.json
	jq -e '.disks[0].made_of == ["sda1"] and .cpu.cores == 2 and .cpu.threads == 4' system.json
	jq -e '[.filesystems[] | .mount_point] == ["/", "/secret-mount point", "/mnt"]' system.json
	jq -e '[.network[] | .name, .driver] == ["enx525400c0ffee", "e1000e"]' system.json
	rm root/dev/kvm root/sys/class/dmi/id/*
	faked
	jq -e '.virtualisation.guest_of == null and .virtualisation.kvm_host == false' system.json
}

@test "system: each field of a disk is what its own file says" {
	snap disks "$work/planted"
}

@test "system: the hypervisor is what the processor calls it" {
	local name wanted objects
	mapfile -t objects < <(find "$TOP/tools" -name '*.o' ! -name system_virt.o)
	# shellcheck disable=SC2046 # several words
	gcc -O2 -std=gnu11 -D_GNU_SOURCE -I"$TOP/tests/unit/cpuid" -I"$TOP/module" -I"$TOP/tools" -pthread -o planted \
		"$TOP/tools/machine/system_virt.c" "${objects[@]}" $(tool_libraries)
	while IFS='|' read -r name wanted; do
		TOOL_CPUID=$name ./planted snapshot system | jq -c '.virtualisation | [.guest_of, .guest_of_source]' >found
		[ "$(cat found)" = "[\"$wanted\",\"cpuid\"]" ] || { echo "$name: $(cat found)"; false; }
	done <<-'END'
		KVMKVMKVM|kvm
		TCGTCGTCGTCG|qemu
		VMwareVMware|vmware
		Microsoft Hv|hyper-v
		XenVMMXenVMM|xen
		bhyve bhyve |bhyve
		VBoxVBoxVBox|virtualbox
		 lrpepyh  vr|parallels
		ACRNACRNACRN|acrn
		LKVMLKVMLKVM|kvm
		abcdefghijkl|unknown
	END
	[ "$(./planted snapshot system | jq -r .virtualisation.guest_of_source)" != cpuid ]
}

@test "system: the country is that of the time zone, and its source is named" {
	faked
	jq -ce .location system.json >found
	[ "$(<found)" = '{"time_zone":"Europe/Zurich","time_zone_source":"/etc/localtime","country_code":"CH","country":"Switzerland","country_source":"/usr/share/zoneinfo/zone.tab","tz_version":"2025b"}' ]
	country() {
		ln -sfn "../usr/share/zoneinfo/$1" root/etc/localtime
		faked
		jq -r '.location | "\(.country_code) \(.country)"' system.json
	}
	[ "$(country Africa/Abidjan)" = "CI Côte d'Ivoire" ]
	[ "$(country Europe/Berlin)" = "DE Germany" ]
	[ "$(country Europe/Vaduz)" = "CH Switzerland" ]
	[ "$(country Etc/UTC)" = "null null" ]
	rm root/etc/localtime
	echo Europe/Zurich >root/etc/timezone
	faked
	jq -e '.location | .country_code == "CH" and .time_zone_source == "/etc/timezone"' system.json
	# of the database as it is installed
	zones=(Europe/Zurich CH Asia/Tokyo JP America/New_York US US/Eastern US)
	rm -r root/usr/share/zoneinfo && ln -s /usr/share/zoneinfo root/usr/share/zoneinfo
	for ((i = 0; i < ${#zones[@]}; i += 2)); do
		[ ! -e "/usr/share/zoneinfo/${zones[i]}" ] || [[ $(country "${zones[i]}") == "${zones[i + 1]} "* ]]
	done
}

@test "system: an anonymous one has no host names, addresses, serials or paths" {
	faked
	grep -q secret system.json
	faked --anonymize
	run ! grep -E 'secret|192\.0\.2|c0ffee|c0:ff:ee' system.json
	jq -e '.anonymized and .disks[2].model == "A disk" and (.os | has("hostname") | not)' system.json
}

@test "system: no connection is made" {
	command -v strace >/dev/null || return 0
	strace -f -e trace=connect,sendto,execve -o calls iotracer snapshot system >/dev/null
	[ "$(grep -c execve calls)" = 1 ]
	run ! grep -E 'AF_INET|AF_UNIX' calls
}

@test "system: iotracer-trace(5) has each key, and no other" {
	faked
	snap system_keys system.json "$TOP/tools/man/iotracer-trace.5"
}

# fake_module: what a recorder needs of the module, with two events of files in tree/
fake_module() {
	export IOTRACER_PROC=$work/proc IOTRACER_TRACES=$work/kept
	idle_category fs
	mkdir -p kept tree/sub
	echo text >tree/sub/file.txt
	echo more >tree/other
	device=$(($(stat -c '0x%D' tree)))
	# the kernel's numbers have 20 bits for the minor
	device=$(((device >> 8) << 20 | (device & 255)))
	{
		echo "cpu=0 seq=3 time=1000000000 latency=500 op=4 pid=7 tid=8 comm=cat path=1 result=3 kind=1" \
			"device=$device inode=$(stat -c %i tree/sub/file.txt)"
		echo "cpu=0 seq=4 time=1000001000 latency=10 op=0 pid=7 tid=8 comm=cat path=2 result=100 kind=1" \
			"device=$device inode=$(stat -c %i tree/other)"
	} | tool-stream layout=1 event=2 >proc/fs/stream
	printf '%s\n' "id=1 inode=11 text=$work/tree/sub/file.txt" "id=2 inode=12 text=$work/tree/other" |
		tool-stream layout=2 >proc/paths
}

# record OPTION...: record with snapshots of tree/
record() {
	iotracer record -o kept/t --snapshots --snapshot-root="$work/tree" "$@" 2>summary || return
}

# made KIND: print the snapshots of a kind, in order
made() {
	find kept/t/snapshots -mindepth 1 -maxdepth 1 -name "$1_*" | sort
}

@test "record: snapshots of files at the start and the end, of processes and machine at the start" {
	fake_module
	record -- sh -c 'touch tree/new; find tree >/dev/null'
	[ "$(made fs | wc -l)" = 2 ]
	[ "$(made process | wc -l)" = 1 ]
	[ "$(made system | wc -l)" = 1 ]
	[ "$(find kept/t/snapshots -mindepth 1 -maxdepth 1 | wc -l)" = 4 ]
	# the command begins when the first one is made
	run ! grep tree/new <(snap paths "$(made fs | head -n 1)")
	grep tree/new <(snap paths "$(made fs | tail -n 1)")
	snap files "$(made fs | tail -n 1)" "$work/tree"
	jq -e '.snapshots == {"directory":"snapshots","fs_interval_s":3600,"process_interval_s":300,"fs":2,"process":1,"system":1,"failed":0}' kept/t/metadata.json
	[ "$(jq -r .state kept/t/metadata.json)" = COMPLETE ]
	iotracer traces show t | grep -Fx '  snapshots   2 of files, 1 of processes, 1 of the machine'
	iotracer traces verify t
	[ "$(iotracer export t | wc -l)" = 3 ]
}

@test "record: without --snapshots there are none" {
	fake_module
	iotracer record -o kept/t -- true 2>/dev/null
	[ ! -e kept/t/snapshots ]
	[ "$(jq .snapshots kept/t/metadata.json)" = null ]
}

@test "record: --snapshot-depth limits the snapshots of files, and makes them" {
	fake_module
	for depth in 0 1; do
		iotracer record -o kept/t --snapshot-root="$work/tree" --snapshot-depth=$depth -- true 2>/dev/null
		[ "$(made fs | wc -l)" = 2 ]
		diff <(snap paths "$(made fs | head -n 1)" | sort) <(find "$work/tree" -maxdepth $depth | sort)
		rm -r kept/t
	done
}

@test "record: snapshots in between, each after its interval" {
	fake_module
	begin=${EPOCHREALTIME/./}
	record --snapshot-fs-interval=0.2 --snapshot-process-interval=0.2 -- sh -c '
		until [ "$(ls -d kept/t/snapshots/fs_* | wc -l)" -ge 4 ] &&
		[ "$(ls -d kept/t/snapshots/process_* | wc -l)" -ge 4 ]; do sleep 0.1; done'
	[ "$(jq .snapshots.fs kept/t/metadata.json)" = "$(made fs | wc -l)" ]
	[ "$(jq .snapshots.process kept/t/metadata.json)" = "$(made process | wc -l)" ]
	# the first ones, and that of files at the end, do not wait
	intervals=$(((${EPOCHREALTIME/./} - begin) / 200000))
	[ "$(made fs | wc -l)" -le $((intervals + 2)) ]
	[ "$(made process | wc -l)" -le $((intervals + 1)) ]
}

@test "record: of a killed recorder only whole snapshots are shown, and remove deletes all" {
	fake_module
	mkdir -p tree/big
	touch tree/big/{1..600}
	env LD_PRELOAD="$BATS_FILE_TMPDIR/tool-preload.so" TOOL_STOP=500 iotracer record -o kept/t --snapshots \
		--snapshot-root="$work/tree" 2>/dev/null &
	child=$!
	wait_for grep -q '^State:.*stopped' "/proc/$child/status"
	kill -KILL "$child"
	wait "$child" || true
	child=
	[ -z "$(made fs)" ]
	compgen -G 'kept/t/snapshots/.fs_*.partial'
	[ "$(made process | wc -l)" = 1 ]
	[ "$(iotracer traces list --json | jq -r '.[0].state')" = INTERRUPTED ]
	iotracer export --partial t 2>/dev/null >rows
	[[ $(head -n 1 rows) == timestamp,seq,* ]]
	# the events were written together, or not yet
	[[ $(wc -l <rows) == [13] ]]
	iotracer traces remove t
	[ ! -e kept/t ]
}

@test "record: snapshots are in the size of a trace, and go with it, but for what is not theirs" {
	fake_module
	record -- true
	files=$(find kept/t -type f -printf '%b\n' | awk '{sum += $1} END {print 512 * sum}')
	[ "$(iotracer traces list --json | jq '.[0].bytes_on_disk')" = "$files" ]
	touch kept/t/snapshots/mine
	run -1 iotracer traces remove t
	[ "$(find kept/t -type f)" = kept/t/snapshots/mine ]
}

@test "record: a snapshot that cannot be made is reported, and the trace is whole" {
	fake_module
	run -1 --separate-stderr iotracer record -o kept/t --snapshots --snapshot-root=missing -- true
	[[ $stderr == *"missing: No such file or directory"* ]]
	[[ $stderr == *"kept/t: 2 snapshots are missing or incomplete"* ]]
	[ "$(jq -r .state kept/t/metadata.json)" = COMPLETE ]
	[ "$(jq .snapshots.failed kept/t/metadata.json)" = 2 ]
}

@test "record: the exit status of the command stays, and a signal ends it at once" {
	fake_module
	status=0
	record -- sh -c 'exit 7' || status=$?
	[ "$status" = 7 ]
	rm -r kept/t
	status=0
	record -- sh -c 'kill -TERM $PPID; sleep 100' || status=$?
	[ "$status" = 143 ]
	[ "$(made fs | wc -l)" = 2 ]
}

# flip FILE BYTE: change one bit
flip() {
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)[0]
    f.seek(int(sys.argv[2]))
    f.write(bytes([byte ^ 4]))' "$@"
}

# not_whole MESSAGE: the trace is not whole, which is said, while all its events can be read
not_whole() {
	run -1 --separate-stderr timeout 20 iotracer traces verify t
	echo "$stderr"
	[[ $stderr == *"kept/t$1"* ]]
	[ "$(tail -n 1 <<<"$output")" = "  verdict     not whole" ]
}

# anew: the trace as it was recorded
anew() {
	rm -rf kept/t
	cp -r kept/whole kept/t
}

@test "verify: snapshots that are whole are counted, and no trace needs any" {
	fake_module
	record -- true
	run --separate-stderr iotracer traces verify t
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "$(tail -n 2 <<<"$output")" = "  snapshots   4 are whole
  verdict     whole" ]
	iotracer record -o kept/u -- true 2>/dev/null
	run ! grep -q snapshots <(iotracer traces verify u)
}

@test "verify: a part of a snapshot that is damaged, cut off, longer or gone" {
	fake_module
	record -- true
	mv kept/t kept/whole
	for kind in fs process; do
		anew
		part=$(made $kind | head -n 1)/part0001.csv.gz
		size=$(stat -c %s "$part")
		# the magic, the method, the rows, the sum and the number of bytes
		for at in 0 2 $((size / 3)) $((size / 2)) $((size - 6)) $((size - 2)); do
			anew
			flip "$part" "$at"
			not_whole "${part#kept/t}: "
			[[ $output == *"  snapshots   3 are whole"* ]]
		done
		for length in 0 10 $((size / 2)) $((size - 1)); do
			anew
			truncate -s "$length" "$part"
			not_whole "${part#kept/t}: has $length bytes, but $size were written"
		done
		anew
		echo >>"$part"
		not_whole "${part#kept/t}: has $((size + 1)) bytes, but $size were written"
		rm "$part"
		not_whole "${part#kept/t}: cannot be read: No such file or directory"
		ln -s /dev/zero "$part"
		not_whole "${part#kept/t}: cannot be read: "
	done
}

@test "verify: rows and columns of a snapshot are those that it tells of" {
	fake_module
	record -- true
	mv kept/t kept/whole
	anew
	part=$(made fs | head -n 1)/part0001.csv.gz
	document=$(dirname "$part")/snapshot.json
	# repack FILTER: change the rows, and the size that the document has
	repack() {
		anew
		zcat kept/whole"${part#kept/t}" | sed "$1" | gzip >"$part"
		jq ".parts[0].bytes = $(stat -c %s "$part")" "$document" >changed
		mv changed "$document"
	}
	repack ''
	iotracer traces verify t
	rows=$(jq .rows "$document")
	repack '$d'
	not_whole "${part#kept/t}: has $((rows - 1)) rows, but $rows were written"
	repack '$p'
	not_whole "${part#kept/t}: has $((rows + 1)) rows, but $rows were written"
	for change in '1s/path/file/' '1s/$/,more/' '1s/.$//' '1s/^.*$//'; do
		repack "$change"
		not_whole "${part#kept/t}: has other columns than snapshot.json names"
	done
}

@test "verify: snapshot.json that is damaged, of another kind or format, or gone" {
	fake_module
	record -- true
	mv kept/t kept/whole
	anew
	for kind in fs process system; do
		document=$(made $kind | head -n 1)/snapshot.json
		anew
		truncate -s 20 "$document"
		not_whole "${document#kept/t}: is damaged: "
		rm "$document"
		not_whole "${document#kept/t}: cannot be read: No such file or directory"
		for change in '.snapshot = "other"' '.format = 9' 'del(.format)' '[.]'; do
			anew
			jq "$change" "$document" >changed
			mv changed "$document"
			not_whole "${document#kept/t}: "
		done
		[ $kind != system ] || continue
		for change in 'del(.parts)' '.parts = []' '.parts[0].file = "../../../metadata.json"' '.rows += 1' \
			'.parts[0].rows = "x"' '.parts = 7' '.parts += [{"file": "part9.csv.gz", "rows": 0, "bytes": 0}]'; do
			anew
			jq "$change" "$document" >changed
			mv changed "$document"
			not_whole "$(dirname "${document#kept/t}")/"
		done
	done
}

@test "verify: a snapshot that is gone, and one that was not finished" {
	fake_module
	record -- true
	mv kept/t kept/whole
	anew
	for kind in "fs of files" "process of processes" "system of the machine"; do
		anew
		before=$(made "${kind%% *}" | wc -l)
		rm -r "$(made "${kind%% *}" | head -n 1)"
		not_whole ": has $((before - 1)) snapshots ${kind#* }, but $before were made"
	done
	anew
	mkdir kept/t/snapshots/.fs_20260101_000000_000.partial
	run --separate-stderr iotracer traces verify t
	[ "$status" = 0 ]
	[[ $stderr == *"kept/t/snapshots/.fs_20260101_000000_000.partial: is an unfinished snapshot, left by a recorder that was killed" ]]
}

# join_all: the queries of iotracer-trace(5), on t.csv, fs.csv and process.csv
join_all() {
	sqlite3 -cmd '.import --csv t.csv t' -cmd '.import --csv fs.csv fs' -cmd '.import --csv process.csv process' \
		:memory: "$1"
}

# tables: the rows of the trace, of the first snapshot of files, and of processes
tables() {
	iotracer export t >t.csv
	zcat "$(made fs | head -n 1)"/part*.csv.gz >fs.csv
	zcat "$(made process | head -n 1)"/part*.csv.gz >process.csv
}

@test "rows of a trace and of snapshots join by path and by inode, hashed or not" {
	fake_module
	head -c 32 /dev/urandom >key
	by_path='select count(*), sum(size_bytes) from t join fs using (path)'
	by_inode='select count(*) from t join fs using (device, inode) where t.path = fs.path'
	record -- true
	tables
	[ "$(join_all "$by_path")" = "2|10" ]
	[ "$(join_all "$by_inode")" = 2 ]
	# the same files, recorded with hashed names, and a snapshot of its own with the same key
	mv kept/t kept/plain
	record --anonymize --key-file=key -- true
	tables
	run ! grep -r -e "$work" -e file.txt t.csv fs.csv kept/t/metadata.json <(zcat kept/t/snapshots/*/part*) \
		kept/t/snapshots/*/snapshot.json
	[ "$(join_all "$by_path")" = "2|10" ]
	[ "$(join_all "$by_inode")" = 2 ]
	grep -q '\.txt,' fs.csv
	iotracer snapshot fs --anonymize --key-file=key "$work/tree" >fs.csv
	[ "$(join_all "$by_path")" = "2|10" ]
	# export with the key hashes as record does
	rm -r kept/t
	mv kept/plain kept/t
	iotracer export --anonymize --key-file=key t >t.csv
	[ "$(join_all "$by_path")" = "2|10" ]
	iotracer snapshot fs --anonymize "$work/tree" >fs.csv
	[ "$(join_all "$by_path")" = "0|" ]
}

@test "rows of a trace and of processes join by process, name and command line" {
	fake_module
	sleep 1000 3>&- &
	child=$!
	tool-stream layout=1 event=2 >proc/fs/stream <<<"cpu=0 seq=3 time=1000000000 latency=500 op=4 pid=$child tid=$child comm=sleep path=1 result=3 kind=1"
	for options in "" "--anonymize"; do
		rm -rf kept/t
		# shellcheck disable=SC2086
		record $options -- true
		tables
		[ "$(join_all 'select count(*), status from t join process using (pid, comm)')" = "1|sleeping" ]
	done
	[ "$(join_all 'select length(cmdline), length(comm) from process where pid = '"$child")" = "12|12" ]
	jq -e '.anonymized and (.os | has("hostname") | not)' kept/t/snapshots/system_*/snapshot.json
}

@test "the queries of iotracer-trace(5) join files, processes and devices with the rows of a trace" {
	fake_module
	idle_category block
	disk=$(cat /sys/block/*/dev | head -n 1)
	[ -n "$disk" ] || return 0
	export IOTRACER_ROOT=$work/root
	mkdir -p root/sys/block/sda root/proc/self
	echo "$disk" >root/sys/block/sda/dev
	echo 8 >root/sys/block/sda/size
	cat /proc/self/mountinfo >root/proc/self/mountinfo
	sleep 1000 3>&- &
	child=$!
	{
		echo "cpu=0 seq=0 time=1000000000 latency=500 op=4 pid=$child tid=8 comm=sleep path=1 result=3 kind=1" \
			"device=$device inode=$(stat -c %i tree/sub/file.txt)"
		echo "cpu=0 seq=1 time=1000001000 latency=10 op=0 pid=$child tid=8 comm=sleep path=2 result=100 kind=1" \
			"device=$device inode=$(stat -c %i tree/other)"
	} | tool-stream layout=1 event=2 >proc/fs/stream
	echo "cpu=0 seq=0 time=1000000000 latency=700 op=1 pid=$child device=$((${disk%:*} << 20 | ${disk#*:})) " |
		tool-stream layout=1 event=4 >proc/block/stream
	record -c fs,block -- true
	mv kept/t trace
	snap queries >commands
	bash -e commands >found
	cat found
	[ "$(cut -d '|' -f 1 found | sort -u | tr '\n' ' ')" = "$work/tree/other $work/tree/sub/file.txt sda sleep " ]
	[ "$(grep -c "^$work/tree/other|" found)" = 2 ]
}

@test "a wrong command line is refused with one line that says what to say" {
	for arguments in "" "frob" "fs a b" "process --depth=1" "fs --depth=x" "fs --key-file=k" \
		"system --cross-mounts" "fs --watch=1" "process --watch=2d" "process --watch=1 /" "fs --rotate=-1"; do
		# shellcheck disable=SC2086
		run iotracer snapshot $arguments
		echo "$arguments: $output"
		[ "$status" = 2 ]
		[ "$(grep -c '^iotracer snapshot: ' <<<"$output")" = 1 ]
	done
}
