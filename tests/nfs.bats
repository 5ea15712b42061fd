#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bats file_tags=plain
#
# Reads and writes of the NFS server for a client, which is this machine, too, are traced.

bats_require_minimum_version 1.5.0

load lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/disk
	modprobe -a nfsd nfsv4
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	mkdir -p /mnt/nfs /run/rpc_pipefs /var/lib/nfs/v4recovery
	touch /var/lib/nfs/{etab,rmtab}
	mount -t rpc_pipefs sunrpc /run/rpc_pipefs
	ip link set lo up
	# No client has state to reclaim, so the grace period may be short.
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	exportfs -o rw,no_root_squash,fsid=0,insecure,no_subtree_check 127.0.0.1:/mnt/disk
	rpc.nfsd -N 3 -V 4.2 2
	rpc.mountd -N 3 3>&-
	load_module
}

teardown_file() {
	unload_module
	rpc.nfsd 0
	killall rpc.mountd
	exportfs -ua
	umount /run/rpc_pipefs /proc/fs/nfsd /mnt/disk
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mount_client
}

teardown() {
	! mountpoint -q /mnt/nfs || umount /mnt/nfs
	echo stop >/proc/iotracer/fs/control
}

# mount_client: mount the client; a new mount has an empty cache
mount_client() {
	mount -t nfs4 -o vers=4.2 127.0.0.1:/ /mnt/nfs
}

# served: print the bytes that the server has read and written by its own count
served() {
	awk '$1 == "io" { print $2, $3 }' /proc/net/rpc/nfsd
}

# moved OP: print the bytes of OP in category fs; all must be from the server and have its flags
moved() {
	run_functions nfs.py moved "$1" /mnt/disk/f
}

# of_target R|W: print the bytes in the log of the file; all must be from the server
of_target() {
	run_functions nfs.py of_target "$1" "$(target_dir /mnt/disk/f)/log"
}

@test "NFS: each byte that the server reads and writes is in category fs, flagged, and in the log" {
	local read written read_then written_then
	touch /mnt/disk/f
	echo add /mnt/disk/f 10000 >/proc/iotracer/control
	printf '%s\n' reset "filter op=READ,WRITE dev=$(mountpoint -d /mnt/disk)" start >/proc/iotracer/fs/control
	read -r read written < <(served)
	head -c 716800 /dev/urandom >data
	dd if=data of=/mnt/nfs/f bs=100k conv=fsync,notrunc status=none
	umount /mnt/nfs
	mount_client
	cmp /mnt/nfs/f data
	umount /mnt/nfs
	echo stop >/proc/iotracer/fs/control
	read -r read_then written_then < <(served)
	[ "$((written_then - written))" = 716800 ]
	[ "$(moved WRITE)" = 716800 ]
	[ "$(of_target W)" = 716800 ]
	[ "$((read_then - read))" -ge 716800 ]
	[ "$(moved READ)" = "$((read_then - read))" ]
	[ "$(of_target R)" = "$((read_then - read))" ]
	echo remove /mnt/disk/f >/proc/iotracer/control
}
