# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# An NFS server for this machine itself. Loaded by suites.

# serve_nfs DIRECTORY: export it as the root of an NFS 4 server
serve_nfs() {
	modprobe -a nfsd nfsv4
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	mkdir -p /mnt/nfs /run/rpc_pipefs /var/lib/nfs/v4recovery
	touch /var/lib/nfs/{etab,rmtab}
	mount -t rpc_pipefs sunrpc /run/rpc_pipefs
	ip link set lo up
	# No client has state to reclaim, so the grace period may be short.
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	exportfs -o rw,no_root_squash,fsid=0,insecure,no_subtree_check "127.0.0.1:$1"
	rpc.nfsd -N 3 -V 4.2 2
	rpc.mountd -N 3 3>&-
}

stop_nfs() {
	rpc.nfsd 0
	killall rpc.mountd
	exportfs -ua
	umount /run/rpc_pipefs /proc/fs/nfsd
}

# mount_client: mount the client; a new mount has an empty cache
mount_client() {
	mount -t nfs4 -o vers=4.2 127.0.0.1:/ /mnt/nfs
}
