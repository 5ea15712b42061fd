#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Tests "iotracer map" with images that qemu-img makes, and "iotracer vm" with QEMUs that are
# started stopped. The maps are compared with qemu-img's and with the bytes, the machines with what
# QEMU itself tells. Needs neither root nor the module.

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

# bats file_tags=host

load ../lib/tool
load ../lib/images

setup_file() {
	build_tool
	build_counted
}

# build_counted: iotracer-counted says how many numbers it read of an image
build_counted() {
	local to=$BATS_FILE_TMPDIR/counted file objects
	mapfile -t objects < <(find "$TOP/tools" -name '*.o' ! -name 'qcow2*')
	mkdir "$to"
	for file in "$TOP"/tools/vm/qcow2*.c; do
		gcc -O2 -std=gnu11 -D_GNU_SOURCE -include "$TOP/tests/unit/count-reads.h" -I"$TOP/tools" -I"$TOP/module" -c \
			-o "$to/$(basename "$file" .c).o" "$file"
	done
	# shellcheck disable=SC2046 # several words
	gcc -pthread -o "$BATS_FILE_TMPDIR/iotracer-counted" -DCOUNT_READS_HERE -x c "$TOP/tests/unit/count-reads.h" \
		-x none "$to"/*.o "${objects[@]}" $(tool_libraries)
}

setup() {
	use_tool
	unset NO_COLOR IOTRACER_ROOT
	work=$(mktemp -d /tmp/iotracer-vm-images.XXXXXX)
	chmod 755 "$work"
	export IOTRACER_PROC=$work/proc
	mkdir "$IOTRACER_PROC"
	: >"$IOTRACER_PROC/control"
	cd "$work" || return
}

teardown() {
	kill_qemus
	rm -rf "$work"
}

# three OPTIONS: a chain of three layers, each with data of its own, whose sizes differ
three() {
	rm -f base.img middle.qcow2 top.qcow2
	qemu-img create -q -f raw base.img 3M
	io raw base.img 'write -P 1 0 1M' 'write -P 2 1200k 300k'
	qcow2 middle.qcow2 5M -o "$1" -b base.img -F raw
	io qcow2 middle.qcow2 'write -P 3 64k 70k' 'write -P 5 4300k 4k' 'write -P 6 4700k 300k'
	# only whole clusters can be compressed
	io qcow2 middle.qcow2 'write -c -P 9 2M 2M'
	qcow2 top.qcow2 7M -o "$1" -b middle.qcow2 -F qcow2
	io qcow2 top.qcow2 'write -P 7 128k 12k' 'write -P 8 6000k 100k'
	[[ $1 == *compat=0.10* ]] ||
		io qcow2 top.qcow2 'write -z 0 64k' 'write -P 7 4M 1M' 'write -z 4M 512k' 'discard 4608k 64k'
}

# map_three CLUSTER OPTIONS
map_three() {
	local file
	three "cluster_size=$1,$2"
	for file in base.img middle.qcow2 top.qcow2; do
		images same "$file" >kinds
		images content "$file" "$(numfmt --from=iec "$1")" | cmp - kinds
		images reverse "$file" >uses
		echo "$1 $2 $file: $(cat kinds); $(cat uses)"
	done
	[[ $(cat kinds) == 'compressed data unallocated'* ]]
	[[ $(cat uses) == *'header l1 l2 refcount-block refcount-table'* ]]
}

# --- map ------------------------------------------------------------------------

# some WORD...: the first word, and then each LOAD_DIVISOR-th
some() {
	local i
	for ((i = 1; i <= $#; i += ${LOAD_DIVISOR:-1})); do
		echo "${!i}"
	done
}

@test "map: chains of version 2 are as qemu-img and the bytes say, with every size of clusters" {
	for size in $(some 512 1K 2K 4K 8K 16K 32K 64K 128K 256K 512K 1M 2M); do
		map_three "$size" compat=0.10
	done
}

@test "map: chains of version 3 are as qemu-img and the bytes say, with every size of clusters" {
	for size in $(some 512 1K 2K 4K 8K 16K 32K 64K 128K 256K 512K 1M 2M); do
		map_three "$size" compat=1.1
	done
}

@test "map: so are chains with subclusters" {
	for size in $(some 16K 32K 64K 128K 256K 512K 1M 2M); do
		map_three "$size" extended_l2=on
	done
}

@test "map: a piece of subclusters may begin and end within a cluster" {
	qcow2 sub 1M -o extended_l2=on,cluster_size=64K
	io qcow2 sub 'write -P 1 2k 2k' 'write -P 1 62k 4k' 'write -z 10k 6k'
	[ "$(iotracer map --json sub 0+64K | jq -c '[.guest, .length, .kind]' | tr '\n' ' ')" = \
		'[0,2048,"unallocated"] [2048,2048,"data"] [4096,6144,"unallocated"] [10240,6144,"zero"] [16384,47104,"unallocated"] [63488,2048,"data"] ' ]
	[ "$(iotracer map --json sub 3K+2K | jq -c '[.guest, .length, .kind]' | tr '\n' ' ')" = \
		'[3072,1024,"data"] [4096,1024,"unallocated"] ' ]
	images same sub
}

@test "map: of a cluster with subclusters those that the image does not have are room, not data" {
	qemu-img create -q -f raw base 1M
	io raw base 'write -P 1 0 1M'
	qcow2 sub 1M -o extended_l2=on,cluster_size=64K -b base -F raw
	io qcow2 sub 'write -P 2 2k 2k' 'write -z 10k 6k' 'write -P 2 128k 64k'
	images reverse sub >kinds
	grep -w unallocated kinds
	host=$(iotracer map --json sub 2K | jq .host)
	[ "$(iotracer map --host --json sub $((host - 2048))+64K | jq -c '[.kind, .guest, .length]' | tr '\n' ' ')" = \
		'["unallocated",0,2048] ["data",2048,2048] ["unallocated",4096,6144] ["zero",10240,6144] ["unallocated",16384,49152] ' ]
	# a snapshot that has all of the cluster: what the disk has not, is the snapshot's
	io qcow2 sub 'write -P 3 0 64k'
	qemu-img convert -O raw sub was
	qemu-img snapshot -c kept sub
	io qcow2 sub 'write -P 4 4k 2k' 'discard 128k 64k'
	[ "$(images old_bytes sub snapshot-data was)" = 131072 ]
	images reverse sub
}

@test "map: each way to allocate clusters before is as qemu-img says" {
	for way in off metadata falloc full; do
		qcow2 p 3M -o preallocation=$way
		io qcow2 p 'write -P 4 1M 100k' 'write -z 2M 64k'
		images same p
		images reverse p
	done
	images content p 65536
}

@test "map: an image converted and compressed, with zlib's streams at the offsets" {
	qemu-img create -q -f raw source 4M
	for i in 0 1 2 3; do io raw source "write -P $((i + 1)) $((i * 1024 + 100))k 700k"; done
	for size in 512 4K 64K 2M; do
		qemu-img convert -c -O qcow2 -o cluster_size=$size source packed
		images content packed "$(numfmt --from=iec $size)" >kinds
		images reverse packed >uses
		grep -w compressed kinds && grep -w compressed uses
	done
}

@test "map: every width of reference counts says what is unused" {
	for bits in 1 2 4 8 16 32 64; do
		qcow2 r 4M -o refcount_bits=$bits,cluster_size=4K
		io qcow2 r 'write -P 1 0 3M' 'discard 1M 1M' 'discard 2100k 12k'
		images in_use r
		images same r
	done
}

@test "map: what only a snapshot has is its data as it was, and its tables have their kind" {
	qcow2 s 4M -o cluster_size=4K
	io qcow2 s 'write -P 1 0 1M' 'write -P 2 2M 512k'
	qemu-img convert -O raw s was
	qemu-img snapshot -c first s
	[ "$(images old_bytes s snapshot-data was)" = 0 ]
	io qcow2 s 'write -P 3 512k 64k' 'discard 2M 256k'
	[ "$(images old_bytes s snapshot-data was)" = $((320 * 1024)) ]
	images reverse s >kinds
	for kind in snapshot-table snapshot-l1 snapshot-l2; do
		grep -qw "$kind" kinds
	done
	images same s
	io qcow2 s 'write -P 4 0 4M'
	[ "$(images old_bytes s snapshot-data was)" = $((1536 * 1024)) ]
	qemu-img snapshot -d first s
	images in_use s
	images reverse s >uses
	run ! grep snapshot uses
}

@test "map: each of many snapshots has its tables and its data, however long its name is" {
	local i name=''
	qcow2 s 16M -o cluster_size=4K
	for i in 1 2 3 4 5 6 7 8 9; do
		name+=$i
		io qcow2 s "write -P $i 0 $((i * 4))k"
		qemu-img convert -O raw s "was$i"
		qemu-img snapshot -c "$name" s
		# of one byte more, so that the entries end at each place
		[ "$i" != 5 ] || qemu-img snapshot -d 123 s
	done
	io qcow2 s 'write -P 99 0 64k' 'write -P 9 8M 64k' 'discard 8M 64k'
	[ "$(iotracer map --host --json s | jq -s 'map(select(.kind == "snapshot-l1")) | length')" = 8 ]
	images in_use s
	images reverse s
	# each snapshot that is there has a first cluster of its own
	for i in 1 2 4 5 6 7 8 9; do
		images has_cluster s "was$i"
	done
}

@test "map: the state of a machine in a snapshot is no data of its disk" {
	qcow2 s 4M
	io qcow2 s 'write -P 1 0 1M'
	start_qemu state -m 16 -blockdev driver=qcow2,node-name=s,file.driver=file,file.filename=s \
		-device virtio-blk-pci,drive=s
	images ask state.qmp 'human-monitor-command {"command-line": "savevm kept"}' | grep -qx '""'
	stop_qemu state
	qemu-img snapshot -l s | grep -w kept
	images reverse s >uses
	grep -w vm-state uses
	run ! grep -w other uses
	images same s
}

@test "map: an external data file has the data, and the image has the tables" {
	qcow2 e 4M -o data_file=d.raw
	io qcow2 e 'write -P 1 100k 100k' 'write -z 1M 64k' 'write -P 2 2M 64k'
	images same e
	[[ $(images content e 65536) == 'data unallocated zero' ]]
	[ "$(iotracer map --json e 100K | jq -r '[.file, .host] | @tsv')" = $'d.raw\t102400' ]
	# the file of the image has no data
	iotracer map --host --json e | jq -r .kind >uses
	grep -x l2 uses
	run ! grep -xE 'data|zero|other' uses
	qcow2 f 4M -o data_file=g.raw,data_file_raw=on
	io qcow2 f 'write -P 1 100k 100k'
	images same f
}

@test "map: what is raw lies where it is, and holes are zeros" {
	truncate -s 10M r
	io raw r 'write -P 1 1M 1M' 'write -P 2 5M 64k'
	images same r
	[[ $(images content r 1) == 'data zero' ]]
	images reverse r
	[ "$(iotracer map --host --json r 5M+4K | jq -c '[.kind, .guest]')" = '["data",5242880]' ]
	# QEMU rounds up to sectors
	truncate -s 1000 odd
	images same odd
}

@test "map: behind the end of a shorter backing file nothing is allocated" {
	truncate -s 100K short
	qcow2 o 1M -b short -F raw
	images same o
	[ "$(iotracer map --json o | jq -c '[.guest, .length, .kind]' | tr '\n' ' ')" = \
		'[0,102400,"zero"] [102400,946176,"unallocated"] ' ]
}

@test "map: backing files are found beside their overlay, by json: and by file:" {
	# in a directory of its own, above which is no b that somebody else has
	mkdir -p here/a here/b
	cd here || return
	qemu-img create -q -f raw b/base 1M
	io raw b/base 'write -P 1 0 64k'
	qcow2 a/relative 1M -b ../b/base -F raw
	qcow2 a/json 1M -b 'json:{"driver":"raw","file":{"driver":"file","filename":"b/base"}}' -F raw
	qcow2 a/absolute 1M -b "file:$PWD/b/base" -F raw
	[ "$(iotracer map --json a/relative 0 | jq -r .file)" = a/../b/base ]
	[ "$(iotracer map --json a/absolute 0 | jq -r .file)" = "$PWD/b/base" ]
	cp -r b a
	[ "$(iotracer map --json a/json 0 | jq -r .file)" = a/b/base ]
	ln -s a/relative link
	run iotracer map link 0
	[ "$status" = 1 ]
	[[ $output == *'iotracer: ../b/base: cannot be opened: No such file or directory' ]]
}

@test "map: text has a row a piece" {
	qcow2 t 1M
	io qcow2 t 'write -P 1 64k 64k'
	run iotracer map t 0+192K
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 4 ]
	[ "$(echo "$output" | awk '{ print $1, $2, $3, $4, $5 }')" = "GUEST LENGTH KIND HOST FILE
0 65536 unallocated - -
65536 65536 data 327680 t
131072 65536 unallocated - -" ]
	[ "$(iotracer map --host t 327680+65536 0 | awk '{ print $1, $2, $3, $4 }')" = "HOST LENGTH KIND GUEST
327680 65536 data 65536
0 1 header -" ]
}

@test "map: sizes may have suffixes, and an offset alone is a byte" {
	qcow2 t 3G
	[ "$(iotracer map --json t 1M+1K 2g+0x200 2147483648 | jq -c '[.guest, .length]' | tr '\n' ' ')" = \
		'[1048576,1024] [2147483648,512] [2147483648,1] ' ]
	for wrong in x -- -1 1M+ 1M+0 1MB 1.5M 1+2+3 99999999999999999999 17179869184G 1+18446744073709551615; do
		run iotracer map t -- "$wrong"
		[ "$status" = 2 ] || [ "$wrong" = -- ]
		[ "$wrong" = -- ] || [[ ${lines[0]} == "iotracer map: $wrong: say OFFSET or OFFSET+LENGTH"* ]]
	done
	for wrong in 3G 2G+1025M 4T; do
		run iotracer map --json t "$wrong"
		[ "$status" = 1 ]
		[ "$output" = "iotracer: t: $wrong is not in the disk, which has 3221225472 bytes" ]
	done
	run iotracer map --json --host t 1M
	[ "$status" = 1 ]
	[ "$output" = "iotracer: t: 1M is not in the file, which has $(stat -c %s t) bytes" ]
	# those after a wrong one are mapped
	run --separate-stderr iotracer map --json t 4T 1
	[ "$status" = 1 ]
	[ "$(jq -c .guest <<<"$output")" = 1 ]
}

@test "map: what is wrong with the command line is one line" {
	run iotracer map
	[ "$status" = 2 ]
	[ "${lines[0]}" = 'iotracer map: say which image' ]
	run iotracer map ''
	[ "$status" = 2 ]
	run iotracer map --image-format=vmdk x
	[ "$status" = 2 ]
	[ "${lines[0]}" = 'iotracer map: --image-format=vmdk: say raw or qcow2' ]
	run iotracer map none
	[ "$status $output" = '1 iotracer: none: cannot be opened: No such file or directory' ]
	run iotracer map .
	[ "$status $output" = '1 iotracer: .: is neither a file nor a block device' ]
	mkfifo pipe
	run timeout 60 iotracer map pipe
	[ "$status $output" = '1 iotracer: pipe: is neither a file nor a block device' ]
}

@test "map: other formats and encryption are refused" {
	for format in vmdk vdi qed vhdx qcow parallels vpc; do
		qemu-img create -q -f $format "i.$format" 1M
		run iotracer map "i.$format" 0
		[ "$status $output" = "1 iotracer: i.$format: has format $format; only raw and qcow2 can be mapped" ]
		run --separate-stderr iotracer map --image-format=raw --json "i.$format" 0
		[ "$status" = 0 ]
	done
	# not luks, for which qemu-img measures the processor, and may fail
	qemu-img create -q --object secret,id=s,data=x -f qcow2 -o encrypt.format=aes,encrypt.key-secret=s c 1M
	run iotracer map c 0
	[ "$status $output" = '1 iotracer: c: is encrypted by QEMU, so it cannot be mapped' ]
	# a format that is said and wrong
	run iotracer map --image-format=qcow2 i.vmdk 0
	[ "$status $output" = '1 iotracer: i.vmdk: is not a qcow2 image' ]
	qcow2 n 1M -u -b nbd://localhost/x -F raw
	run iotracer map n 0
	[ "$status" = 1 ]
	[[ $output == *'iotracer: nbd://localhost/x: is not a local file' ]]
}

@test "map: what a guest writes to a raw disk makes it no qcow2, if raw is said" {
	echo secret >secret
	qcow2 evil 1M
	qemu-img rebase -u -b secret -F raw evil
	[ "$(iotracer map --json evil 0 | jq -r .file)" = secret ]
	iotracer map --json --image-format=raw evil | jq -r .file | sort -u | grep -qx evil
	qcow2 over 1M -b evil -F raw
	[ "$(iotracer map --json over 0 | jq -r .file)" = evil ]
}

@test "map: an image that QEMU has locked is mapped all the same" {
	three cluster_size=64K
	images same top.qcow2 >before
	start_qemu locked -blockdev driver=qcow2,node-name=t,file.driver=file,file.filename=top.qcow2 \
		-device virtio-blk-pci,drive=t
	run ! qemu-img map top.qcow2
	iotracer map --json top.qcow2 >now
	stop_qemu locked
	iotracer map --json top.qcow2 | cmp - now
	images same top.qcow2 | cmp - before
}

@test "map: an image that QEMU makes larger is mapped while it grows" {
	qcow2 g 1G
	start_qemu grow -drive file=g,format=qcow2,if=none,id=g
	(for i in $(seq 100 110); do
		for command in "write -P $i ${i}M 1M" flush; do
			images ask grow.qmp "human-monitor-command {\"command-line\": \"qemu-io g \\\"$command\\\"\"}"
		done
	done; touch written) >writes.log 3>&- &
	while [ ! -e written ]; do
		iotracer map --json g >piece
	done
	stop_qemu grow
	images same g | grep -qx 'data unallocated'
	[ "$(iotracer map --json g | jq 'select(.kind == "data").length' | jq -s add)" = $((11 << 20)) ]
}

# --- hostile images ---------------------------------------------------------------

@test "map: damaged images are refused in a line, and neither crash it nor take its memory" {
	qcow2 d 4M -o cluster_size=4K
	io qcow2 d 'write -P 1 0 1M' 'write -c -P 1 1M 64k'
	qemu-img snapshot -c s d
	images damage d $((150 / ${LOAD_DIVISOR:-1})) "${FUZZ_SEED:-$RANDOM}"
	qcow2 x 4M -o cluster_size=16K,extended_l2=on
	io qcow2 x 'write -P 1 0 1M'
	images damage x $((100 / ${LOAD_DIVISOR:-1})) "${FUZZ_SEED:-$RANDOM}"
	qcow2 v 4M -o compat=0.10
	io qcow2 v 'write -P 1 0 1M'
	images damage v $((50 / ${LOAD_DIVISOR:-1})) "${FUZZ_SEED:-$RANDOM}"
}

# refuses WORDS [ARGUMENT...]: the map of w ends with these words
refuses() {
	run images limited "${@:2}" w
	[ "$status" = 0 ]
	run --separate-stderr iotracer map "${@:2}" w
	[ "$status" = 1 ]
	[[ $stderr == "iotracer: w: "*"$1"* ]]
}

@test "map: each field of a header that cannot be is named" {
	qcow2 good 1M
	io qcow2 good 'write -P 1 0 64k'
	while read -r offset form value words; do
		cp good w
		# shellcheck disable=SC2086
		images patch w "$offset" "$form" ${value//,/ }
		refuses "$words"
	done <<-'END'
		4 >I 4 has qcow2 version 4; only 2 and 3 can be read
		8 >QI 0x7fffffffffffffff,10 the name of its backing file
		20 >I 8 the size of its clusters, 2^8 bytes
		20 >I 22 the size of its clusters, 2^22 bytes
		20 >I 0xffffffff the size of its clusters, 2^4294967295 bytes
		24 >Q 0xffffffffffffffff its L1 table is too small for a disk of
		36 >I 0xffffffff its L1 table has 4294967295 entries
		36 >I 0x400000 its L1 table at 196608 is not in the file
		40 >Q 512 its L1 table, 512, is not that of a cluster
		40 >Q 0xffffffffffff0000 its L1 table at 18446744073709486080 is not in the file
		48 >Q 0xffffffffffff0000 its refcount table at 18446744073709486080 is not in the file
		56 >I 0xffffffff its refcount table has 281474976645120 bytes
		60 >I 0xffffffff it has 4294967295 snapshots
		72 >Q 0x20 has unknown incompatible features (bits 0x20)
		72 >Q 4 needs an external data file
		96 >I 7 its refcounts have 2^7 bits
		100 >I 96 its header has 96 bytes
		100 >I 0xffffffff its header has 4294967295 bytes
		196608 >Q 0x8000ffffffff0000 its L2 table at 281474976645120 is not in the file
		196608 >Q 0x8000000000040200 its L2 table, 262656, is not that of a cluster
		262144 >Q 0x8000ffffffff0000 data at 281474976645120 is not in the file
		262144 >Q 0x8000000000050200 the offset of a cluster, 328192
		262144 >Q 0x4000ffffffffffff compressed data at
	END
	cp good w
	images patch w 60 '>IQ' 1 0x50000
	refuses 'a snapshot has 16843009 bytes of unknown data'
	images patch w 60 '>IQ' 1 0x30000
	refuses 'the L1 table of a snapshot' --host
	images patch w 60 '>IQ' 3 0x70000
	refuses 'its snapshot table at 458752 is not in the file' --host
	truncate -s 50 w
	refuses 'is not a qcow2 image' --image-format=qcow2
}

# damaged_images: one of each sort, whose fields are damaged
damaged_images() {
	qemu-img create -q -f raw base.img 4M
	qcow2 v3 4M -o cluster_size=4K -b base.img -F raw
	io qcow2 v3 'write -P 1 0 64k' 'write -z 64k 16k' 'write -c -P 1 80k 8k' 'write -P 2 2M 40k'
	qemu-img snapshot -c first v3
	io qcow2 v3 'write -P 3 0 8k'
	qemu-img snapshot -c second v3
	io qcow2 v3 'write -P 4 4k 8k'
	qcow2 v2 4M -o cluster_size=4K,compat=0.10
	io qcow2 v2 'write -P 1 0 64k' 'write -c -P 1 80k 8k'
	qemu-img snapshot -c first v2
	io qcow2 v2 'write -P 3 0 8k'
	qcow2 bitmaps 4M -o cluster_size=4K
	qemu-img bitmap --add bitmaps one
	qemu-img bitmap --add -g 4096 bitmaps two
	io qcow2 bitmaps 'write -P 1 0 64k'
	qcow2 extended 4M -o cluster_size=16K,extended_l2=on
	io qcow2 extended 'write -P 1 0 20k' 'write -P 2 40k 1k' 'write -z 33k 2k' 'write -c -P 3 64k 16k' 'write -z 128k 32k'
	qemu-img snapshot -c first extended
	io qcow2 extended 'write -P 5 41k 1k'
	qcow2 external 4M -o data_file=d.raw,cluster_size=4K
	io qcow2 external 'write -P 1 0 20k' 'write -z 64k 4k'
	qcow2 zstd 4M -o compression_type=zstd,cluster_size=4K
	io qcow2 zstd 'write -P 1 0 20k' 'write -c -P 1 64k 8k'
	qcow2 narrow 2M -o refcount_bits=1,cluster_size=512
	io qcow2 narrow 'write -P 1 0 200k'
	qcow2 wide 2M -o refcount_bits=64,cluster_size=512
	io qcow2 wide 'write -P 1 0 200k'
}

# FIELDS_STEP=1 takes all 6,500, in half an hour.
@test "map: an image with a wrong field is refused, or there is a warning, if qemu-img refuses it" {
	# a prime number, so that fields and values take turns
	local step=${FIELDS_STEP:-$([ "${LOAD_DIVISOR:-1}" = 1 ] && echo 37 || echo 73)} first=0 image
	damaged_images
	for image in v3 v2 bitmaps extended external zstd narrow wide; do
		images fields "$image" "$step" "$first"
		first=$((first + 5))
	done
}

@test "map: an external data file that is not there is named" {
	qcow2 e 4M -o data_file=d.raw
	rm d.raw
	for option in --json --host; do
		run --separate-stderr iotracer map $option e 0
		[ "$status" = 0 ]
		[ "$stderr" = 'iotracer: e: its data is in d.raw, which cannot be found: No such file or directory' ]
	done
}

@test "map: the numbers in an image make neither more work nor more memory than its file has bytes" {
	images large
}

@test "map: of an image with more pieces than are kept at a time each is where it is" {
	images pieces many
}

@test "map: a chain that is a circle, or without end, is refused" {
	qcow2 w 1M
	qcow2 two 1M -u -b w -F qcow2
	qemu-img rebase -u -b two -F qcow2 w
	run images limited w
	[ "$status" = 0 ]
	run iotracer map w
	[ "$status" = 1 ]
	[[ $output == *': is its own backing file, through other images' ]]
	for i in $(seq 1 249); do qcow2 "l$i" 1M -u -b "l$((i + 1))" -F qcow2; done
	qcow2 l250 1M -u -b l251 -F raw
	qemu-img create -q -f raw l251 1M
	run images limited l1
	[ "$status" = 0 ]
	run iotracer map l1
	[ "$status" = 1 ]
	[[ $output == *'iotracer: l200: is layer 200 of a chain'* ]]
	images same l60 | grep -w zero
	mkfifo pipe
	qcow2 over 1M -u -b pipe -F raw
	run timeout 60 iotracer map over
	[ "$status" = 1 ]
	[[ $output == *'iotracer: pipe: is neither a file nor a block device' ]]
}

@test "map: a cluster that too much refers to is refused in bounded memory" {
	qcow2 w 1M -o cluster_size=64K
	images everywhere w 300 >place
	run images limited --host w "$(cat place)"
	[ "$status" = 0 ]
	# all entries are the same place: the first counts
	[ "$(iotracer map --host --json w "$(cat place)" | jq -c '[.kind, .guest]')" = '["data",0]' ]
	images limited w 4M
}

# --- machines -----------------------------------------------------------------------

# show NAME FILTER: what jq makes of it
show() {
	iotracer vm show --json "$1-$$" | jq -rc ".[0] | $2"
}

# listed NAME FILTER: the same by list, which does not ask QEMU
listed() {
	iotracer vm list --json | jq -rc ".[] | select(.name == \"$1-$$\") | $2"
}

@test "vm: drives of -drive are those that QEMU tells of" {
	three cluster_size=64K
	for i in 1 2 3 4 5 6; do qemu-img create -q -f raw "r$i,x" 1M; done
	start_qemu drives -machine pc -drive file=top.qcow2,if=none,id=d0,cache=none,aio=native \
		-device virtio-blk-pci,drive=d0,id=disk0,serial=SERIAL1 \
		-drive file=r1,,x,format=raw,if=virtio,cache=directsync -drive "if=virtio,format=raw,file.driver=file,file.filename=r2,,x" \
		-drive file=file:r3,,x,format=raw,cache=writethrough,index=3 -hda r4,x -cdrom r5,x \
		-drive file=r6,,x,format=raw,if=none,id=d6,readonly=on,cache=unsafe \
		-device virtio-scsi-pci -device scsi-hd,drive=d6,id=scsi6,write-cache=on -drive if=floppy,id=empty
	images drives "drives-$$" drives.qmp "$work" | tee drives | grep -qx 8 || { cat drives; false; }
	[ "$(show drives '.drives[] | select(.id == "d0") | [.qdev, .device, .serial, .cache, .aio, .interface]')" = \
		'["disk0","virtio-blk-pci","SERIAL1","none","native",null]' ]
	[ "$(show drives '[.drives[] | select(.interface) | .name]')" = '["virtio0","virtio1","ide1-hd1","ide0-hd0","ide1-cd0","empty"]' ] ||
		[ "$(show drives '[.drives[] | select(.interface) | .name] | sort')" = '["empty","ide0-hd0","ide1-cd0","ide1-hd1","virtio0","virtio1"]' ]
	[ "$(show drives '[.name, .pid, .open_files]')" = "[\"drives-$$\",$(cat drives.pid),[]]" ]
	# the command line alone has the same files
	[ "$(listed drives '[.drives[].layers[].file] | sort')" = "$(show drives '[.drives[].layers[].file] | sort')" ]
	[ "$(show drives '.drives[] | select(.id == "d0").layers[].size')" = "$(printf '%s\n' 7340032 5242880 3145728)" ]
}

@test "vm: drives of -blockdev are those that QEMU tells of, as key=value and as JSON" {
	three cluster_size=64K
	for i in 1 2 3 4; do qemu-img create -q -f raw "r$i,x" 1M; done
	qcow2 e 1M -o data_file=d.raw
	start_qemu nodes -machine q35 -uuid 6d7d8a2f-6c1e-4d93-9d3e-3c1f0a2b4c5d \
		-blockdev '{"driver":"file","filename":"base.img","node-name":"libvirt-3-storage","cache":{"direct":true,"no-flush":false},"auto-read-only":true}' \
		-blockdev '{"node-name":"libvirt-3-format","read-only":true,"driver":"raw","file":"libvirt-3-storage"}' \
		-blockdev '{"driver":"file","filename":"middle.qcow2","node-name":"libvirt-2-storage","cache":{"direct":true},"auto-read-only":true}' \
		-blockdev '{"node-name":"libvirt-2-format","read-only":true,"driver":"qcow2","file":"libvirt-2-storage","backing":"libvirt-3-format"}' \
		-blockdev '{"driver":"file","filename":"top.qcow2","node-name":"libvirt-1-storage","aio":"native","cache":{"direct":true,"no-flush":false}}' \
		-blockdev '{"node-name":"libvirt-1-format","driver":"qcow2","file":"libvirt-1-storage","cache":{"direct":true},"backing":"libvirt-2-format"}' \
		-device '{"driver":"virtio-blk-pci","drive":"libvirt-1-format","id":"virtio-disk0","serial":"S,1"}' \
		-blockdev driver=raw,node-name=plain,file.driver=file,file.filename=r1,,x,file.aio=threads \
		-device virtio-blk-pci,drive=plain,id=disk1,write-cache=off \
		-blockdev driver=throttle,node-name=slow,throttle-group=g,file.driver=raw,file.file.driver=file,file.file.filename=r2,,x \
		-object throttle-group,id=g \
		-blockdev driver=file,node-name=bare,filename=r3,,x -device virtio-blk-pci,drive=bare,id=disk3 \
		-blockdev driver=qcow2,node-name=ext,file.driver=file,file.filename=e,data-file.driver=file,data-file.filename=d.raw \
		-device virtio-blk-pci,drive=ext,id=disk4 \
		-drive 'if=none,id=j,file=json:{"driver":"raw",,"file":{"driver":"file",,"filename":"r4,,x"}}'
	# QEMU tells nothing of a node that no device uses
	[ "$(show nodes '.drives[] | select(.node == "slow") | [.qdev, (.layers[] | .file, .format)]')" = "[null,\"$work/r2,x\",\"raw\"]" ]
	[ "$(show nodes '.drives[] | select(.name == "virtio-disk0") | [.node, .cache, .aio, .serial, (.layers[].format)]')" = \
		'["libvirt-1-format","none","native","S,1","qcow2","qcow2","raw"]' ]
	[ "$(show nodes '[.drives[] | select(.name == "disk1", .name == "disk3", .id == "j") | [.cache, .layers[0].file, .layers[0].format]]')" = \
		"[[\"writethrough\",\"$work/r1,x\",\"raw\"],[\"writeback\",\"$work/r3,x\",\"raw\"],[\"writeback\",\"$work/r4,x\",\"raw\"]]" ]
	[ "$(show nodes '.drives[] | select(.name == "disk4").layers[0].data_file | [.file, .open]')" = "[\"$work/d.raw\",true]" ]
	[ "$(show nodes '[.uuid, (.drives | length), .open_files]')" = '["6d7d8a2f-6c1e-4d93-9d3e-3c1f0a2b4c5d",6,[]]' ]
	images ask nodes.qmp query-named-block-nodes |
		jq -r '.[] | select(.drv == "file").file' | sed "s|^[^/]|$work/&|" | sort >asked
	show nodes '.drives[].layers[] | .file, .data_file.file // empty' | sort | diff - asked
	[ "$(wc -l <asked)" = 9 ]
	# the command line alone has the same files
	[ "$(listed nodes '[.drives[].layers[].file] | sort')" = "$(show nodes '[.drives[].layers[].file] | sort')" ]
}

@test "vm: names that QEMU gives to drives are those of its machine" {
	for i in 1 2 3 4 5; do qemu-img create -q -f raw r$i 1M; done
	start_qemu ids -machine q35 -device virtio-scsi-pci -drive file=r1,format=raw -drive file=r2,format=raw,media=cdrom \
		-drive file=r3,format=raw,index=4 -drive file=r4,format=raw,if=virtio,index=5 -drive file=r5,format=raw,if=none
	images drives "ids-$$" ids.qmp "$work" | tee drives | grep -qx 5 || { cat drives; false; }
	stop_qemu ids
	start_qemu ids2 -machine pc -hdd r1 -hdb r2 -drive file=r3,format=raw,bus=1,unit=0 r4 -fda r5 -snapshot
	iotracer vm show --json "ids2-$$" | jq -r '.[0].drives[].id' | sort >shown
	images ask ids2.qmp query-block | jq -r '.[].device' | sort | diff - shown
	[ "$(show ids2 '[.drives[].snapshot] | unique')" = '[true]' ]
	# the temporary files
	[ "$(show ids2 '[.drives[].layers[0] | .deleted, .format] | unique')" = '[true,"qcow2"]' ]
	[ "$(show ids2 '[([.drives[].layers[0].file] | unique | length), (.drives | length), .open_files]')" = '[5,5,[]]' ]
}

@test "vm: after a snapshot the new image is shown as open, above its drive" {
	three cluster_size=64K
	start_qemu live -drive file=top.qcow2,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	[ "$(show live .open_files)" = '[]' ]
	images ask live.qmp "blockdev-snapshot-sync {\"device\": \"d0\", \"snapshot-file\": \"$work/one.qcow2\"}" \
		"blockdev-snapshot-sync {\"device\": \"d0\", \"snapshot-file\": \"$work/two.qcow2\"}"
	[ "$(listed live '[.open_files[] | [.file, .format, .above, .read_only]] | sort')" = \
		"[[\"$work/one.qcow2\",\"qcow2\",\"disk0\",true],[\"$work/two.qcow2\",\"qcow2\",\"disk0\",false]]" ]
	[ "$(listed live '[.drives[0].layers[].open] | unique')" = '[true]' ]
	# QEMU itself has them in the drive
	[ "$(show live '[.open_files, (.drives[0].layers[:3][] | .file | sub(".*/"; ""))]')" = '[[],"two.qcow2","one.qcow2","top.qcow2"]' ]
	# a monitor that is not asked
	mv live.qmp hidden.qmp
	run iotracer vm show "live-$$"
	[[ $output == *"  also open $work/two.qcow2 (qcow2), above drive disk0"* ]]
	mv hidden.qmp live.qmp
}

@test "vm: a layer that QEMU has not open any more is shown as such" {
	qemu-img create -q -f raw cd 1M
	start_qemu ejected -machine pc -cdrom "$work/cd"
	[ "$(show ejected '[.drives[0].layers[].open]')" = '[true]' ]
	images ask ejected.qmp 'eject {"device": "ide1-cd0", "force": true}' >/dev/null
	[ "$(listed ejected '[.drives[0].layers[].open]')" = '[false]' ]
	mv ejected.qmp hidden.qmp
	run iotracer vm show "ejected-$$"
	[[ $output == *"    layer 0   $work/cd (raw), not open"* ]]
	mv hidden.qmp ejected.qmp
	[[ $(iotracer vm show "ejected-$$") == *'layers    none: the drive is empty'* ]]
	# it was replaced: what is open has no name
	images ask ejected.qmp "blockdev-change-medium {\"device\": \"ide1-cd0\", \"filename\": \"$work/cd\", \"format\": \"raw\"}" >/dev/null
	[ "$(show ejected '[.drives[0].layers[].open]')" = '[true]' ]
	mv cd old
	qemu-img create -q -f raw cd 2M
	[ "$(show ejected '[.drives[0].layers[].open, .open_files[].file]')" = "[false,\"$work/old\"]" ]
	rm cd
	[ "$(show ejected '.drives[0].layers[0].problem')" = 'cannot be opened: No such file or directory' ]
}

# layers NAME: drive, file and what is known of each layer
layers() {
	# shellcheck disable=SC2016 # the name is jq's
	show "$1" '.drives[] | .name as $name | .layers[] | [$name, (.file | sub(".*/"; "")), .format, .open, .deleted]'
}

@test "vm: what a drive with snapshot=on writes to is its first layer, whether QEMU answers or not" {
	qemu-img create -q -f raw base.img 3M
	qcow2 top 4M -b base.img -F raw
	qemu-img create -q -f raw same 4M
	qemu-img create -q -f raw plain 4M
	start_qemu temporary -drive file=top,if=none,id=d0,snapshot=on -device virtio-blk-pci,drive=d0,id=disk0 \
		-drive file=plain,format=raw,if=none,id=d3 -drive file=base.img,format=raw,if=none,id=d1,snapshot=on \
		-drive file=same,format=raw,if=none,id=d2,snapshot=on,offset=0
	layers temporary >answered
	sed 's/"vl[.][^"]*"/"vl"/' answered | diff - <(cat <<-'END'
		["disk0","vl","qcow2",true,true]
		["disk0","top","qcow2",true,false]
		["disk0","base.img","raw",true,false]
		["d3","plain","raw",true,false]
		["d1","vl","qcow2",true,true]
		["d1","base.img","raw",true,false]
		["d2","vl","qcow2",true,true]
		["d2","same","raw",true,false]
	END
	)
	mv temporary.qmp hidden.qmp
	layers temporary | diff - answered
	[ "$(show temporary '.asked, .open_files')" = $'no answer\n[]' ]
	[[ $(iotracer vm show "temporary-$$") == *"layer 0   /var/tmp/vl."*" (qcow2), deleted"* ]]
	mv hidden.qmp temporary.qmp
}

@test "vm: a file that was deleted, or whose name another one has now, is known by its descriptor" {
	qemu-img create -q -f raw base.img 4M
	qcow2 top 4M -b base.img -F raw
	start_qemu gone -drive file=top,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	inode=$(stat -c %i top)
	rm top
	for _ in 1 2; do
		[ "$(show gone '[.open_files, (.drives[0].layers[] | .open, .deleted, .format)]')" = '[[],true,true,"qcow2",true,false,"raw"]' ]
		[ "$(show gone '.drives[0].layers[0].inode')" = "$inode" ]
		# another file, not an open one
		qcow2 top 8M
	done
	# a file may be called so
	qemu-img create -q -f raw 'x (deleted)' 1M
	stop_qemu gone
	start_qemu odd -drive "file=x (deleted),format=raw,if=none,id=d0"
	[ "$(show odd '.drives[0].layers[0] | .file, .open, .deleted')" = "$work/x (deleted)"$'\ntrue\nfalse' ]
	mv 'x (deleted)' other
	ln other kept
	rm other
	[ "$(show odd '[.drives[0].layers[0].open, (.open_files[] | .file, .deleted, .above)]')" = "[null,\"$work/other\",true,\"d0\"]" ]
}

@test "vm: a machine that has left its root and its user has its drives by its descriptors" {
	local t
	mkdir -p outside container/images
	qemu-img create -q -f raw outside/base.img 4M
	qcow2 outside/top 4M -b base.img -F raw
	qemu-img create -q -f raw outside/two 1M
	# in its new root another file has the name
	mkdir -p "container$work/outside"
	qcow2 "container$work/outside/top" 1M
	export IOTRACER_ROOT=$work/sys
	fake 77 qemu-system-x86_64 -name guest=jailed -qmp unix:/q,server=on -drive "file=$work/outside/top,if=none,id=d0,format=qcow2" \
		-device virtio-blk-pci,drive=d0,id=disk0 -drive file=two,format=raw,if=none,id=d1
	opened 77 9 0100002 "$work/outside/top"
	opened 77 10 0140000 "$work/outside/base.img"
	opened 77 11 0100002 "$work/outside/two"
	iotracer vm show --json jailed >shown
	[ "$(jq -c '.[0] | .asked, [.drives[] | .name as $name | .layers[] | [$name, .file, .open, .descriptor]], .open_files' shown)" = \
		"\"no answer\"
[[\"disk0\",\"$work/outside/top\",true,9],[\"disk0\",\"$work/outside/base.img\",true,10],[\"d1\",\"$work/outside/two\",true,11]]
[]" ]
	unset IOTRACER_ROOT
	[ "$(id -u)" = 0 ] || return 0
	chmod 666 outside/*
	rm -r container
	mkdir container
	cd outside
	start_qemu left -chroot "$work/container" -runas nobody -drive file=top,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	cd "$work"
	[ "$(show left '[.asked, .open_files, .drives[].layers[].open]')" = '["no answer",[],true,true]' ]
	t=$(now)
	processes "$(cat left.pid)" <<-END
		cpu=0 seq=0 time=$t op=1 requested=512 result=512 pid=7 tid=7 path=1 comm=worker $(of outside/top)
	END
	tool-stream layout=2 >proc/paths <<<"id=1 text=$work/outside/top"
	run --separate-stderr iotracer log --vm "left-$$" --guest
	[ "$(cut -d ";" -f 8,15- <<<"$output")" = 'disk0;header;-;-' ]
	[ "$stderr" = "iotracer: left-$$: its monitor did not answer: its drives are taken from its command line and its open files" ]
}

@test "vm: what a machine has open is of its only drive, if that has a descriptor for a name" {
	qemu-img create -q -f raw r 1M
	qemu-img create -q -f raw two 1M
	exec 7<r
	exec 8<>r
	start_qemu given -add-fd fd=7,set=2 -add-fd fd=8,set=2 -drive file=/dev/fdset/2,format=raw,if=none,id=d0 \
		-device virtio-blk-pci,drive=d0,id=disk0
	exec 7<&- 8<&-
	[ "$(show given '[.open_files[] | .file, .above] | unique | sort')" = "[\"$work/r\",\"disk0\"]" ]
	stop_qemu given
	exec 7<r
	exec 8<>r
	start_qemu given -add-fd fd=7,set=2 -add-fd fd=8,set=2 -drive file=/dev/fdset/2,format=raw,if=none,id=d0 \
		-drive file=two,format=raw,if=none,id=d1
	exec 7<&- 8<&-
	[ "$(show given '[.open_files[].above] | unique')" = '[null]' ]
}

@test "vm: cache modes are those that QEMU has, whatever way they are said" {
	local direct flush write i=0 devices=()
	for direct in on off; do
		for flush in on off; do
			for write in on off; do
				i=$((i + 1))
				qemu-img create -q -f raw "r$i" 1M
				devices+=(-blockdev "driver=raw,node-name=n$i,cache.direct=$direct,cache.no-flush=$flush,file.driver=file,file.filename=r$i"
					-device "virtio-blk-pci,drive=n$i,id=disk$i,write-cache=$write")
				qemu-img create -q -f raw "d$i" 1M
				devices+=(-drive "file=d$i,format=raw,if=none,id=d$i,cache.direct=$direct,cache.no-flush=$flush,cache.writeback=$write")
			done
		done
	done
	start_qemu modes "${devices[@]}"
	images modes "modes-$$" modes.qmp | grep -qx 16
	[ "$(show modes '[.drives[].cache] | unique | sort')" = '["directsync","none","unsafe","writeback","writethrough"]' ]
}

@test "vm: both flashes of a machine are drives" {
	truncate -s 4M code vars
	start_qemu flash -machine q35,pflash0=code,pflash1=vars -blockdev driver=raw,node-name=code,read-only=on,file.driver=file,file.filename=code \
		-blockdev driver=raw,node-name=vars,file.driver=file,file.filename=vars
	[ "$(show flash '[.drives[] | [.qdev, .device, .node, (.layers[].file | sub(".*/"; ""))]]')" = \
		'[["pflash0","pflash0","code","code"],["pflash1","pflash1","vars","vars"]]' ]
	[ "$(listed flash '[.drives[] | .qdev]')" = '["pflash0","pflash1"]' ]
}

@test "vm: text has each field of a drive and of what is open besides" {
	export IOTRACER_ROOT=$work/sys
	mkdir container
	qemu-img create -q -f raw container/r 1M
	qemu-img create -q -f raw container/other 1M
	fake 79 qemu-system-x86_64 -name shown -uuid UUID -drive file=/r,if=none,id=d0,format=raw,node-name=n0,cache=none,aio=native,snapshot=on \
		-device virtio-blk-pci,drive=d0,id=disk0,serial=S1 -drive file=/gone,if=virtio,format=raw,index=3 -drive if=none,id=empty
	opened 79 9 0140002 "$work/container/r"
	opened 79 10 0100000 "$work/container/other"
	iotracer vm show shown | diff - <(cat <<-END
		shown
		  pid   79
		  uuid  UUID
		  drive disk0
		    device    virtio-blk-pci
		    id        d0
		    node      n0
		    serial    S1
		    cache     none
		    aio       native
		    snapshot  what is written goes to a temporary file
		    layer 0   /r (raw), O_DIRECT
		  drive virtio3
		    interface virtio
		    id        virtio3
		    cache     writeback
		    aio       threads
		    layer 0   /gone (raw), cannot be opened: No such file or directory
		  drive empty
		    interface none
		    id        empty
		    cache     writeback
		    aio       threads
		    layers    none: the drive is empty
		  also open $work/container/other (raw), read-only
	END
	)
}

@test "vm: memory is in the file or directory of mem-path, and what only begins like it is an image" {
	mkdir memory
	qemu-img create -q -f raw memory-disk 1M
	start_qemu begins -m 32 -object memory-backend-file,id=m0,size=16M,mem-path="$work/memory",share=on \
		-object memory-backend-file,id=m1,size=16M,mem-path=file,share=on -numa node,memdev=m0 -numa node,memdev=m1
	find "/proc/$(cat begins.pid)/fd" -printf '%l\n' >open
	grep "^$work/memory/" open
	grep -x "$work/file" open
	images ask begins.qmp 'blockdev-add {"driver": "raw", "node-name": "n", "file": {"driver": "file", "filename": "'"$work"'/memory-disk"}}'
	[ "$(listed begins '[.open_files[].file]')" = "[\"$work/memory-disk\"]" ]
}

@test "vm: logs, PID files and the guest's memory are no images" {
	qemu-img create -q -f raw r 1M
	start_qemu others -m 16 -object memory-backend-file,id=m,size=16M,mem-path="$work/memory",share=on -machine pc,memory-backend=m \
		-drive file=r,format=raw,if=none,id=d -chardev file,id=c,path="$work/log" -device isa-serial,chardev=c
	find "/proc/$(cat others.pid)/fd" -printf '%l\n' >open
	grep -qx "$work/log" open
	[ "$(show others '[.open_files[].file]')" = '[]' ]
	images ask others.qmp "blockdev-add {\"driver\": \"raw\", \"node-name\": \"new\", \"file\": {\"driver\": \"file\", \"filename\": \"$work/log2\"}}" && false
	qemu-img create -q -f raw added 1M
	images ask others.qmp "blockdev-add {\"driver\": \"raw\", \"node-name\": \"new\", \"file\": {\"driver\": \"file\", \"filename\": \"$work/added\"}}"
	[ "$(show others '[.open_files[] | .file, .above]')" = "[\"$work/added\",null]" ]
}

@test "vm: where the disk begins in a raw file is shown" {
	for i in 1 2 3; do qemu-img create -q -f raw "r$i" 4M; done
	start_qemu part -drive file=r1,format=raw,if=none,id=d1,offset=1M \
		-blockdev driver=raw,node-name=n2,offset=1536,file.driver=file,file.filename=r2 \
		-drive file=r3,format=raw,if=none,id=d3
	[ "$(show part '[.drives[] | [(.id // .node), .layers[].offset]] | sort')" = '[["d1",1048576],["d3",null],["n2",1536]]' ]
}

@test "vm: which layers are traced is as the module says" {
	three cluster_size=64K
	qcow2 e 1M -o data_file=d.raw
	start_qemu traced -drive file=top.qcow2,if=none,id=d0 -drive file=e,if=none,id=d1,format=qcow2
	[ "$(show traced '[.drives[].layers[].traced] | unique')" = '[false]' ]
	target one "$work/middle.qcow2"
	[ "$(show traced '[.drives[0].layers[].traced]')" = '[false,true,false]' ]
	iotracer vm list | grep -qE "^traced-$$ +$(cat traced.pid) +2 +1 "
	target two "$work/d.raw"
	[ "$(show traced '[.drives[1].layers[0] | .traced, .data_file.traced]')" = '[false,true]' ]
	iotracer vm list | grep -qE "^traced-$$ +$(cat traced.pid) +2 +2 "
	[[ $(iotracer vm show "traced-$$") == *"layer 1   $work/middle.qcow2 (qcow2), read-only, traced"* ]]
	# without the module nothing is
	IOTRACER_PROC=$work/none
	[ "$(show traced '[.drives[].layers[].traced] | unique')" = '[false]' ]
	IOTRACER_PROC=$work/closed
	mkdir "$IOTRACER_PROC" "$IOTRACER_PROC/control"
	run --separate-stderr show traced '[.drives[].layers[].traced] | unique'
	[ "$output" = '[null]' ]
	[ "$stderr" = "iotracer: which files are traced is not known: $work/closed cannot be read: Is a directory" ]
}

@test "vm: a machine is found by its name, or by its PID" {
	start_qemu one
	start_qemu two
	[ "$(iotracer vm show --json "one-$$" "$(cat two.pid)" | jq -c '[.[].name]')" = "[\"one-$$\",\"two-$$\"]" ]
	[ "$(iotracer vm list --json | jq -c --arg tail "-$$" '[.[].name | select(. // "" | endswith($tail))] | sort')" = "[\"one-$$\",\"two-$$\"]" ]
	iotracer vm list | grep -qE "^two-$$ +$(cat two.pid) +0 +0  -$"
	run iotracer vm show none-$$
	[ "$status $output" = "1 iotracer: none-$$: no VM with this name or PID runs here (iotracer vm list)" ]
	run iotracer vm show 1
	[ "$status" = 1 ]
	run iotracer vm show none-$$ "one-$$"
	[ "$status" = 1 ]
	[[ $output == *"one-$$"*"  pid   $(cat one.pid)"* ]]
	mv one.pid first.pid
	start_qemu one
	run iotracer vm show "one-$$"
	[ "$status $output" = "1 iotracer: one-$$: is the name of 2 VMs: give the PID of one (iotracer vm list)" ]
	iotracer vm show "$(cat first.pid)" | grep -q "pid   $(cat first.pid)$"
}

@test "vm: bash completes what can follow, and the names of machines" {
	mkdir empty
	cd empty
	[ "$(completed iotracer vm "")" = "list show " ]
	[ "$(completed iotracer map --image-format = "")" = "qcow2 raw " ]
	cd "$work"
	export IOTRACER_ROOT=$work/sys
	fake 90 qemu-system-x86_64 -name web
	fake 91 qemu-system-x86_64
	[[ " $(completed iotracer vm show w)" == *" web "* ]]
	[[ " $(completed iotracer log --vm = w)" == *" web "* ]]
	run ! grep -w -- - <(completed iotracer vm show "")
}

@test "vm: what is wrong with the command line is one line" {
	for words in '' frob 'list x' show; do
		# shellcheck disable=SC2086
		run iotracer vm $words
		[ "$status" = 2 ]
		[[ ${lines[0]} == 'iotracer vm: '*say* || ${lines[0]} == 'iotracer vm: list: x: it takes no name (show does)' ]]
	done
	run iotracer vm show ''
	[ "$status" = 2 ]
	run iotracer vm list --format=csv
	[ "$status" = 2 ]
}

@test "vm: another user sees the command line, and that the rest may not be seen" {
	qemu-img create -q -f raw r 1M
	start_qemu private -drive file="$work/r",format=raw,if=none,id=d
	chmod 600 r
	[ "$(id -u)" = 0 ] || chmod 000 r
	if [ "$(id -u)" = 0 ]; then
		run unprivileged iotracer vm show "private-$$"
		[ "$status" = 0 ]
		[[ $output == *"layer 0   $work/r (raw), cannot be opened: Permission denied"* ]]
		[[ $output == *'what it has open may not be seen: be root, or its user' ]]
	else
		[[ $(iotracer vm show "private-$$") == *"cannot be opened: Permission denied"* ]]
	fi
}

# --- a /proc that is made for the test ---------------------------------------------

# fake PID WORD...: a process with this command line, whose root is the directory container
fake() {
	local dir=$work/sys/proc/$1
	mkdir -p "$dir/fd" "$dir/fdinfo" container
	shift
	printf '%s\0' "$@" >"$dir/cmdline"
	ln -s /usr/bin/qemu-system-x86_64 "$dir/exe"
	ln -s /srv "$dir/cwd"
	ln -s "$work/container" "$dir/root"
}

# opened PID FD FLAGS FILE
opened() {
	ln -s "$4" "$work/sys/proc/$1/fd/$2"
	printf 'pos:\t0\nflags:\t%s\nmnt_id:\t31\n' "$3" >"$work/sys/proc/$1/fdinfo/$2"
}

@test "vm: names are those in the root of the process, and links do not lead out of it" {
	export IOTRACER_ROOT=$work/sys
	fake 77 qemu-system-x86_64 -name guest=boxed -drive file=/images/top,if=none,id=d,format=qcow2 \
		-drive file=relative,if=none,id=e,format=raw -append '-drive file=none' -drive file=/images/link,if=none,id=l
	mkdir -p container/images container/srv
	qemu-img create -q -f raw container/images/base 1M
	qemu-img create -q -f raw container/srv/relative 1M
	ln -s /images/base container/images/link
	qcow2 container/images/top 1M -u -b base -F raw
	opened 77 9 0100002 "$work/container/images/top"
	opened 77 10 0140000 "$work/container/images/base"
	iotracer vm show --json boxed >shown
	[ "$(jq -c '[.[0].drives[] | .layers[] | [.file, .open, .read_only, .direct, .problem]]' shown)" = \
		'[["/images/top",true,false,false,null],["/images/base",true,true,true,null],["/srv/relative",false,null,null,null],["/images/link",true,true,true,null]]' ]
	[ "$(iotracer vm list | awk '{ print $1, $2, $3 }')" = "NAME PID DRIVES
boxed 77 3" ]
}

@test "vm: a block device has the kernel's name and device mapper's" {
	local node
	node=$(find /dev -type b -print -quit)
	[ -n "$node" ] || { node=$work/node; mknod "$node" b 7 0; }
	export IOTRACER_ROOT=$work/sys
	fake 78 qemu-system-x86_64 -name mapped -blockdev driver=host_device,filename=/dev/guest,node-name=n -device virtio-blk-pci,drive=n,id=v
	mkdir -p container/dev sys/sys/dev/block sys/sys/block/dm-3/dm
	if [ "$(id -u)" = 0 ]; then
		mknod container/dev/guest b "0x$(stat -c %t "$node")" "0x$(stat -c %T "$node")"
	else
		rm "sys/proc/78/root"
		ln -s / sys/proc/78/root
		sed -i "s|/dev/guest|$node|" sys/proc/78/cmdline
	fi
	ln -s ../../devices/virtual/block/dm-3 "sys/sys/dev/block/$((0x$(stat -c %t "$node"))):$((0x$(stat -c %T "$node")))"
	echo vg0-web >sys/sys/block/dm-3/dm/name
	[ "$(iotracer vm show --json mapped | jq -c '.[0].drives[0].layers[0] | [.device, .device_name, .format]')" = '["dm-3","vg0-web","raw"]' ]
	[[ $(iotracer vm show mapped) == *'(raw), dm-3 is vg0-web'* ]]
}

@test "vm: command lines that no QEMU has break nothing" {
	export IOTRACER_ROOT=$work/sys
	qcow2 container-image 1M
	fake 80 qemu-system-x86_64 -name "$(printf 'bell\a\nline')" -drive '' -drive , -drive = -drive file -blockdev '{' -blockdev '[]' \
		-blockdev '{"node-name":"a","driver":"qcow2","file":"b","backing":"a"}' -blockdev '{"node-name":"b","driver":"throttle","file":"b"}' \
		-blockdev '{"node-name":"c","driver":"qcow2","backing":"c","file":{"driver":"file","filename":"/x"}}' -device virtio-blk,drive=c \
		-drive file=rbd:pool/x,id=r,format=raw -drive file=x,index=99999999999999999999,bus=9999999999 -drive index=-7,file=y \
		-blockdev driver=nbd,node-name=remote,server.type=inet,export=disk -drive "$(printf 'file=/\377,id=bytes')" -blockdev
	fake 81 qemu-system-x86_64
	fake 82 other -name none
	ln -sf /bin/sh sys/proc/82/exe
	: >sys/proc/81/cmdline
	run --separate-stderr iotracer vm list --json
	[ "$status" = 0 ]
	[ -z "$stderr" ]
	[ "$(jq -c '[.[].pid]' <<<"$output")" = '[80]' ]
	[ "$(jq -r '.[0].name' <<<"$output")" = 'bell\007\012line' ]
	[ "$(jq -c '.[0].drives[] | select(.id == "r", .node == "remote") | [.layers[0] | .file, .remote]' <<<"$output" | tr '\n' ' ')" = \
		'["nbd:disk",true] ["rbd:pool/x",true] ' ]
	[ "$(jq -r '.[0].drives[] | select(.id == "bytes").layers[0].file' <<<"$output")" = '/\377' ]
	[ "$(jq '[.[0].drives[] | select(.node == "c").layers[]] | length' <<<"$output")" -le 1000 ]
	run iotracer vm show 80
	[ "$status" = 0 ]
}

# --- what QEMU itself says ---------------------------------------------------------------

@test "vm: a monitor is found in each way that the command line names it" {
	qemu-img create -q -f raw r 1M
	for form in "-qmp-pretty unix:$work/m,server,nowait" \
		"-chardev socket,id=m,path=$work/m,server=on,wait=off -mon m,mode=control,pretty=on" \
		"-chardev socket,id=m,path=$work/m,server=on,wait=off -qmp chardev:m"; do
		rm -f m
		# shellcheck disable=SC2086
		start_qemu asked $form -drive file=r,format=raw,if=none,id=d0
		# the other one is not there
		mv asked.qmp hidden.qmp
		show asked '.asked, .drives[].unplugged'
		mv hidden.qmp asked.qmp
		stop_qemu asked >/dev/null
	done >seen
	cat seen
	[ "$(sort seen | uniq -c | tr -s ' \n' ' ')" = ' 3 answered 3 false ' ]
}

@test "vm: what is plugged in, unplugged, mirrored or committed is as QEMU has it" {
	qcow2 a 4M
	qemu-img create -q -f raw b 4M
	qcow2 c 4M
	qemu-img create -q -f raw d 4M
	start_qemu now -drive file=a,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0 \
		-device virtio-scsi-pci -blockdev driver=raw,node-name=n1,file.driver=file,file.filename="$work/b" \
		-device scsi-hd,drive=n1,id=disk1 -drive file="$work/d",format=raw,if=none,id=d2
	images ask now.qmp "blockdev-snapshot-sync {\"device\": \"d0\", \"snapshot-file\": \"$work/snapshot\"}" \
		"blockdev-add {\"driver\": \"qcow2\", \"node-name\": \"n3\", \"file\": {\"driver\": \"file\", \"filename\": \"$work/c\"}}" \
		'device_add {"driver": "scsi-hd", "id": "disk3", "drive": "n3"}' 'device_del {"id": "disk1"}' \
		"drive-mirror {\"device\": \"d2\", \"target\": \"$work/copy\", \"sync\": \"full\"}"
	wait_for mirrored
	wait_for unplugged now disk1
	images ask now.qmp 'block-job-complete {"device": "d2"}'
	wait_for no_jobs
	iotracer vm show --json "now-$$" >shown
	[ "$(jq -c '.[0] | .asked, (.drives[] | [.name, .unplugged, .added, [.layers[].file | sub(".*/"; "")]])' shown | sort | tr '\n' ' ')" = \
		'"answered" ["d2",false,false,["copy"]] ["disk0",false,false,["snapshot","a"]] ["disk1",true,false,["b"]] ["disk3",false,true,["c"]] ' ]
	# of a drive that was added the command line says nothing
	[ "$(jq -c '.[0].drives[] | select(.name == "disk3") | [.node, .cache, .aio]' shown)" = '["n3","writeback",null]' ]
	images ask now.qmp 'device_del {"id": "disk3"}'
	wait_for unplugged now disk3
	iotracer vm show "now-$$" >shown
	[[ $(cat shown) == *$'drive disk1\n    state     unplugged\n'* ]]
	[[ $(cat shown) == *$'drive disk3\n    state     unplugged\n    layer 0   '"$work/c (qcow2)"* ]]
}

# unplugged NAME DEVICE: QEMU frees it a little later
unplugged() {
	! images ask "$1.qmp" query-block | grep -q "\"qdev\": \"$2\""
}

mirrored() {
	images ask now.qmp query-block-jobs | grep -q '"ready": true'
}

no_jobs() {
	[ "$(images ask now.qmp query-block-jobs)" = '[]' ]
}

@test "vm: without an answer a drive whose files are closed is unplugged only if nothing took its place" {
	qemu-img create -q -f raw r 1M
	qemu-img create -q -f raw other 1M
	qemu-system-x86_64 -accel tcg -S -nodefaults -display none -name "guest=mute-$$" -daemonize -pidfile "$work/mute.pid" \
		-chardev socket,id=m,path="$work/mute.qmp",server=on,wait=off -monitor none -device virtio-scsi-pci \
		-mon chardev=m,mode=control -drive file="$work/r",format=raw,if=none,id=d0 -device scsi-hd,drive=d0,id=disk0 3>&-
	[ "$(show mute '[.drives[].unplugged]')" = '[false]' ]
	images ask mute.qmp 'blockdev-add {"driver": "raw", "node-name": "o", "file": {"driver": "file", "filename": "'"$work"'/other"}}' \
		'device_del {"id": "disk0"}'
	# at the name of the socket there is no monitor of this QEMU any more
	rm mute.qmp
	[ "$(show mute '.asked, [.drives[].unplugged]')" = $'no answer\n[null]' ]
	[[ $(iotracer vm show "mute-$$") == *'its monitor did not answer: the drives are those of the command line'* ]]
}

# monitor HOW: a process that answers so at the socket container/q, whose PID is $monitor
monitor() {
	rm -f container/q
	# this process, as its PID counts
	PYTHONDONTWRITEBYTECODE=1 python3 -m vm_images monitor "$work/container/q" "$1" 3>&- &
	monitor=$!
	wait_for [ -S container/q ]
}

@test "vm: who does not answer is not waited for, and what is no answer of a QEMU is none" {
	export IOTRACER_ROOT=$work/sys
	mkdir container
	echo '{"return": [{"device": "d0", "qdev": 7, "removable": false, "inserted": {"node-name": [], "image": {"filename": "/evil", "format": {}, "backing-image": 3}}}, 5, null]}
{"error": {}}' >answers
	printf '{"return": {}}\r\n{"return": 7}\r\n' >strange
	for how in silent endless deep "$work/strange" "$work/answers"; do
		monitor "$how"
		rm -rf sys/proc
		fake "$monitor" qemu-system-x86_64 -name asked -qmp unix:/q,server=on -drive file=/top,if=none,id=d0
		(ulimit -v 300000; exec timeout 60 iotracer vm show --json asked) >shown
		kill "$monitor"
		jq -c '.[0] | [.asked, .drives[0].layers[0].file]' shown
	done >seen
	cat seen
	[ "$(cat seen)" = '["no answer","/top"]
["no answer","/top"]
["no answer","/top"]
["no answer","/top"]
["answered","/evil"]' ]
	# the socket of another process is nobody's monitor
	monitor "$work/answers"
	fake 70 qemu-system-x86_64 -name other -qmp unix:/q,server=on -drive file=/top,if=none,id=d0
	[ "$(iotracer vm show --json other | jq -r '.[0].asked')" = "no answer" ]
	kill "$monitor"
	fake 71 qemu-system-x86_64 -name none -qmp tcp:localhost:1,server=on -qmp unix:/q -mon x -chardev socket,id=x
	[ "$(iotracer vm show --json none | jq -r '.[0].asked')" = "no monitor" ]
}

@test "vm: each monitor has its own time to answer" {
	local first
	export IOTRACER_ROOT=$work/sys
	mkdir container
	echo '{"return": [{"device": "d0", "removable": false, "inserted": {"image": {"filename": "/now", "format": "raw"}}}]}
{"return": []}' >answers
	PYTHONDONTWRITEBYTECODE=1 python3 -m vm_images two_monitors "$work/container/first" "$work/container/second" "$work/answers" 3>&- &
	first=$!
	wait_for [ -S container/second ]
	fake "$first" qemu-system-x86_64 -name asked -qmp unix:/first,server=on -qmp unix:/second,server=on -drive file=/top,if=none,id=d0
	iotracer vm show --json asked | jq -c '.[0] | [.asked, .drives[0].layers[0].file]' >seen
	kill "$first"
	cat seen
	[ "$(cat seen)" = '["answered","/now"]' ]
}

@test "vm: of a machine of libvirt virsh is asked, and not waited for" {
	export IOTRACER_ROOT=$work/sys
	mkdir -p bin container sys/run/libvirt/qemu
	qemu-img create -q -f raw container/new 1M
	cat >bin/virsh <<-'END'
		#!/bin/sh
		echo "$@" >>"$IOTRACER_ROOT/asked"
		case $* in
		*named*) echo '{"return":[{"node-name":"n"}],"id":"libvirt-8"}' ;;
		*) echo '{"return":[{"device":"","qdev":"/machine/peripheral/disk0/virtio-backend","inserted":{"node-name":"n","image":{"filename":"/new","format":"raw"}}}],"id":"libvirt-7"}' ;;
		esac
	END
	chmod +x bin/virsh
	PATH=$work/bin:$PATH
	fake 75 qemu-system-x86_64 -name guest=web,debug-threads=on -chardev socket,id=charmonitor,fd=25,server=on -mon chardev=charmonitor,mode=control \
		-blockdev driver=raw,node-name=old,file.driver=file,file.filename=/old -device virtio-blk-pci,drive=old,id=disk0
	# a machine of that name that libvirt has not started
	echo 74 >sys/run/libvirt/qemu/web.pid
	[ "$(iotracer vm show --json web | jq -c '.[0] | [.asked, .drives[0].layers[0].file]')" = '["no monitor","/old"]' ]
	[ ! -e sys/asked ]
	echo 75 >sys/run/libvirt/qemu/web.pid
	iotracer vm show --json web | jq -c '.[0] | [.asked, .drives[0].layers[0].file]' >seen
	cat seen sys/asked
	[ "$(cat seen)" = '["answered","/new"]' ]
	[ "$(head -n 1 sys/asked)" = '-q -c qemu:///system qemu-monitor-command web {"execute":"query-block"}' ]
	printf '#!/bin/sh\nexec sleep 1000\n' >bin/virsh
	[ "$(timeout 60 iotracer vm show --json web | jq -c '.[0] | [.asked, .drives[0].layers[0].file]')" = '["no answer","/old"]' ]
}

@test "vm: what was seen is kept for its owner alone, and only while the machine runs or is traced" {
	qemu-img create -q -f raw r 1M
	start_qemu kept -drive file=r,format=raw,if=none,id=d0
	iotracer vm show "kept-$$" >/dev/null
	[ "$(stat -c '%a %U' "$IOTRACER_RUN" "$IOTRACER_RUN"/* | tr '\n' ' ')" = "700 $(id -un) 600 $(id -un) " ]
	[ "$(jq -r '.files[] | .file + " " + .drives' "$IOTRACER_RUN"/*)" = "$work/r d0" ]
	# where others may write nothing is read or kept
	chmod 777 "$IOTRACER_RUN"
	cp "$IOTRACER_RUN"/* before
	iotracer vm show "kept-$$" >/dev/null
	cmp before "$IOTRACER_RUN"/*
	chmod 700 "$IOTRACER_RUN"
	# damage is as if there were nothing
	for damage in '{' '[]' '{"files":[{"file":7},5,null,{"file":"/x","drives":"d0,","inode":3,"filesystem":"1:2"}]}'; do
		echo "$damage" >"$(echo "$IOTRACER_RUN"/*)"
		iotracer vm show "kept-$$" >/dev/null
		jq -e --arg file "$work/r" '.files[] | objects | select(.file == $file)' "$IOTRACER_RUN"/* >/dev/null
	done
	processes "$(cat kept.pid)" </dev/null
	tool-stream layout=2 </dev/null >proc/paths
	stop_qemu kept
	run iotracer log --vm "kept-$$"
	[ "$status" = 0 ]
	: >proc/control
	run iotracer log --vm "kept-$$"
	[ "$status" = 1 ]
	[ -z "$(ls "$IOTRACER_RUN")" ]
}

# --- add --vm, record --vm ----------------------------------------------------------

@test "vm: add --vm --files traces each layer of each drive, and what is open besides" {
	three cluster_size=64K
	qemu-img create -q -f raw "r,\\ x" 1M
	qcow2 e 1M -o data_file=d.raw
	start_qemu all -drive file=top.qcow2,if=none,id=d0 -device virtio-blk-pci,drive=d0 -drive "file=r,,\\ x,format=raw,if=none,id=d1" \
		-drive file=e,if=none,id=d2,format=qcow2 -drive file=null-co://,if=none,id=d3,format=raw
	images ask all.qmp "blockdev-snapshot-sync {\"device\": \"d0\", \"snapshot-file\": \"$work/snapshot\"}"
	iotracer add --vm "all-$$" --files -n 77
	tr -d '\0' <proc/control | sort >added
	for file in base.img d.raw e middle.qcow2 'r,\134\040x' snapshot top.qcow2; do
		printf 'add %s/%s 77\n' "$work" "$file"
	done | sort | diff - added
	: >proc/control
	iotracer add -i --files --vm "$(cat all.pid)"
	[ "$(grep -c '^add -i .* 4096$' proc/control)" = 7 ]
}

@test "vm: add --vm names what is wrong, and adds nothing" {
	start_qemu bare -drive file=null-co://,if=none,id=d0,format=raw
	while IFS='|' read -r expected arguments words; do
		# shellcheck disable=SC2086
		run iotracer add $arguments
		[ "$status" = "$expected" ]
		[ "${lines[0]}" = "$words" ]
		[ ! -s proc/control ]
	done <<-END
		1|--vm=none-of-this-name|iotracer: none-of-this-name: no VM with this name or PID runs here (iotracer vm list)
		1|--vm=bare-$$ --files|iotracer: bare-$$: has no files on this host (iotracer vm show)
		2|file --files|iotracer add: --files goes with --vm
		2|--vm=bare-$$ -i|iotracer add: --inode goes with --vm and --files: processes have no path that could lead to another file
		2|--vm=bare-$$ file|iotracer add: --vm goes without FILE
		2|file --vm=bare-$$|iotracer add: --vm goes without FILE
	END
}

@test "vm: add --vm traces the process, and remove --vm that, or its files" {
	qemu-img create -q -f raw r 1M
	start_qemu one -drive file=r,format=raw,if=none,id=d0
	TOOL_WRITES=$work/writes preloaded iotracer add --vm "one-$$" -n 77
	TOOL_WRITES=$work/writes preloaded iotracer add --vm "$(cat one.pid)"
	[ "$(cut -d : -f 2- writes)" = "add pid=$(cat one.pid) 77
add pid=$(cat one.pid)" ]
	rm writes
	run iotracer remove --vm "one-$$"
	[ "$status $output" = "1 iotracer: one-$$: not traced (iotracer list); its files are removed with --files" ]
	run iotracer remove --vm "one-$$" --files
	[ "$status $output" = "1 iotracer: one-$$: none of its files is traced (iotracer list)" ]
	processes "$(cat one.pid)" </dev/null
	target t_r "$work/r"
	[[ $(iotracer vm show "one-$$") == *"layer 0   $work/r (raw), read-only, traced"* ]]
	TOOL_WRITES=$work/writes preloaded iotracer remove --vm "one-$$"
	TOOL_WRITES=$work/writes preloaded iotracer remove --vm "one-$$" --files
	[ "$(cut -d : -f 2- writes)" = "remove pid=$(cat one.pid)
remove $work/r" ]
	run iotracer remove --files x
	[ "$status" = 2 ]
	[ "${lines[0]}" = 'iotracer remove: --files goes with --vm' ]
	run iotracer remove --vm x -a
	[ "$status" = 2 ]
}

@test "log --vm: of the machine's processes the rows of its images, each with its drive" {
	local t
	qemu-img create -q -f raw base.img 1M
	qcow2 a 1M -b base.img -F raw
	qcow2 b 1M -b base.img -F raw
	qemu-img create -q -f raw free 1M
	printf 'words' >words
	start_qemu parts -drive file=a,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0 -drive file=b,if=none,id=d1
	t=$(now)
	processes "$(cat parts.pid)" <<-END
		cpu=0 seq=0 time=$((t + 9)) op=3 offset=4096 requested=512 result=512 pid=7 tid=7 path=1 comm=worker $(of a)
		cpu=0 seq=1 time=$((t + 1)) op=0 offset=0 requested=512 result=-5 pid=7 tid=7 path=2 comm=a;b $(of base.img)
		cpu=0 seq=2 time=$((t + 2)) op=1 requested=7 result=7 pid=7 tid=7 path=3 comm=gone device=5 inode=77 kind=1
		cpu=0 seq=3 time=$((t + 3)) op=1 requested=7 result=7 pid=7 tid=7 path=4 comm=words $(of words)
		cpu=0 seq=4 time=$((t + 4)) op=1 requested=7 result=7 pid=7 tid=7 path=5 comm=null device=6 inode=$(stat -c %i /dev/null) kind=6
		cpu=0 seq=5 time=$((t + 5)) op=4 result=-2 pid=7 tid=7 path=6 comm=none
		cpu=1 seq=0 time=$((t + 6)) op=53 pid=7 tid=7 comm=flush
		cpu=1 seq=1 time=$((t + 7)) op=52 address=1024 offset=8192 requested=4096 result=4096 pid=7 tid=8 path=7 comm=bio $(of b)
		cpu=1 seq=2 time=$((t + 8)) op=1 offset=1 requested=1 result=1 pid=7 tid=8 path=8 comm=free $(of free)
	END
	tool-stream layout=2 >proc/paths <<-END
		id=1 text=$work/a
		id=2 text=$work/base.img
		id=3 text=/gone/image
		id=4 text=$work/words
		id=5 text=/dev/null
		id=6 text=/none
		id=7 text=$work/b
		id=8 text=$work/free
	END
	iotracer log --vm "parts-$$" | cut -d ";" -f 2- | diff - <(cat <<-END
		R;0;0;VFS;a\073b;7;disk0,d1;READ;$work/base.img;;-5
		W;0;7;VFS;gone;7;;WRITE;/gone/image;;7
		F;0;0;BLK;flush;7;;BLOCK_FLUSH;;;0
		W;2;4096;BLK;bio;7;d1;BLOCK_WRITE;$work/b;;4096
		W;1;1;VFS;free;7;;WRITE;$work/free;;1
		W;4096;512;VFS;worker;7;disk0;DIO_WRITE;$work/a;;512
	END
	)
	iotracer log --vm "parts-$$" -f csv >rows
	[[ $(head -n 1 rows) == timestamp,seq,time_ns,*,drive,file ]]
	[ "$(python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin): print(row["comm"], row["drive"], row["file"], sep=";", end=" ")' <rows)" = \
		"a;b;disk0,d1;$work/base.img gone;;/gone/image flush;; bio;d1;$work/b free;;$work/free worker;disk0;$work/a " ]
	iotracer log --guest --vm "parts-$$" -f json | jq -r '[.comm, .guest_kind, .guest_offset_bytes] | @csv' | diff - <(
		printf '%s\n' '"a;b","data",0' '"gone",,' '"flush",,' '"bio","header",' '"free",,' '"worker","header",')
}

@test "log --vm: a file has the drive that it had then; between two looks it may be either" {
	local early between late
	qemu-img create -q -f raw x 1M
	start_qemu turns -device virtio-scsi-pci
	early=$(now)
	images ask turns.qmp 'blockdev-add {"driver": "raw", "node-name": "x", "file": {"driver": "file", "filename": "'"$work"'/x"}}' \
		'device_add {"driver": "scsi-hd", "id": "one", "drive": "x"}'
	iotracer vm show "turns-$$" >/dev/null
	between=$(now)
	images ask turns.qmp 'device_del {"id": "one"}'
	wait_for unplugged turns one
	images ask turns.qmp 'device_add {"driver": "scsi-hd", "id": "two", "drive": "x"}'
	[ "$(show turns '[.drives[] | [.name, .unplugged]] | sort')" = '[["one",true],["two",false]]' ]
	late=$(now)
	processes "$(cat turns.pid)" <<-END
		cpu=0 seq=0 time=$early op=1 result=7 pid=7 path=1 $(of x)
		cpu=0 seq=1 time=$between op=1 result=7 pid=7 path=1 $(of x)
		cpu=0 seq=2 time=$late op=1 result=7 pid=7 path=1 $(of x)
	END
	tool-stream layout=2 >proc/paths <<<"id=1 text=$work/x"
	[ "$(iotracer log --vm "turns-$$" | cut -d ";" -f 8 | tr '\n' ' ')" = 'one one,two two ' ]
}

# has_lines FILE N
has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

@test "log --vm --follow: rows come as they happen, of a drive that is plugged in, too; the end of the VM ends it" {
	local t
	qemu-img create -q -f raw x 1M
	qemu-img create -q -f raw y 1M
	start_qemu followed -device virtio-scsi-pci -drive file=x,format=raw,if=none,id=d0 -device scsi-hd,drive=d0,id=one
	t=$(now)
	processes "$(cat followed.pid)" <<-END
		cpu=0 seq=0 time=$((t + 2)) op=1 result=7 pid=7 path=1 $(of x)
		cpu=0 seq=1 time=$((t + 1)) op=1 result=8 pid=7 path=1 $(of x)
	END
	tool-stream layout=2 >proc/paths <<-END
		id=1 text=$work/x
		id=2 text=$work/y
	END
	iotracer log --follow --vm "followed-$$" >out 2>err 3>&- &
	pid=$!
	wait_for has_lines out 2
	images ask followed.qmp 'blockdev-add {"driver": "raw", "node-name": "y", "file": {"driver": "file", "filename": "'"$work"'/y"}}' \
		'device_add {"driver": "scsi-hd", "id": "two", "drive": "y"}'
	tool-stream continue layout=1 event=2 >>proc/machine/stream <<<"cpu=0 seq=2 time=$(now) op=1 result=9 pid=7 path=2 $(of y)"
	wait_for has_lines out 3
	[ "$(cut -d ";" -f 4,8,10 out | xargs)" = "8;one;$work/x 7;one;$work/x 9;two;$work/y" ]
	iotracer watch --vm "followed-$$" --count=1 >watched 3>&- &
	watch=$!
	tool-stream continue layout=1 event=2 >>proc/machine/stream <<<"cpu=0 seq=3 time=$(($(now) + 3600000000000)) op=1 pid=7 comm=w path=2 $(of y)"
	wait "$watch"
	[[ $(tail -n 1 watched) == *" w/7 "*" WRITE "*" $work/y" ]]
	# the last event is of an hour from now, and printed when the VM ends
	stop_qemu followed
	wait "$pid"
	[ "$(cat err)" = "iotracer: followed-$$: the VM has ended" ]
	iotracer log --vm "followed-$$" | diff - out
}

@test "log --vm: the call that creates a file is that file's, however long it takes; what ended before is not" {
	local begun ended
	begun=$(now)
	sleep 0.1
	qemu-img create -q -f raw x 1M
	ended=$(now)
	start_qemu born -drive file=x,format=raw,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	processes "$(cat born.pid)" <<-END
		cpu=0 seq=0 time=$begun latency=$((ended - begun)) op=12 pid=7 path=1 $(of x)
		cpu=0 seq=1 time=$begun latency=1000 op=12 pid=7 path=1 $(of x)
	END
	tool-stream layout=2 >proc/paths <<<"id=1 text=$work/x"
	[ "$(iotracer log --vm "born-$$" -f json | jq -c '[.latency_ns > 1000, .drive]' | sort)" = "$(printf '%s\n' '[false,""]' '[true,"disk0"]')" ]
}

@test "log --vm: a VM of which only a file is traced, or nothing, and what cannot be combined" {
	qemu-img create -q -f raw r 1M
	start_qemu logged -drive file=r,format=raw,if=none,id=d0
	target t_r "$work/r"
	run -1 iotracer log --vm "logged-$$"
	[[ $output == "iotracer: logged-$$: only files of this VM are traced, each with a log of its own"* ]]
	# which says what it has lost
	seq 900 999 | sed 's/.*/seq=& time=&/' | tool-stream >"$IOTRACER_PROC/t_r/stream"
	sed -i 's/^total .*/total 1000 98 900 2 0/' "$IOTRACER_PROC/t_r/stats"
	run -0 --separate-stderr iotracer log --guest r
	[ "$stderr" = "iotracer: $work/r: 900 events were overwritten or lost before they were read" ]
	[ "${#lines[@]}" = 100 ]
	: >"$IOTRACER_PROC/control"
	run -1 iotracer log --vm "logged-$$"
	[ "$output" = "iotracer: logged-$$: this VM is not traced: add it (iotracer add --vm)" ]
	run -1 iotracer log --vm none-of-this-name
	run -2 iotracer log --vm "logged-$$" r
	[ "${lines[0]}" = "iotracer log: --vm goes without FILE" ]
	for option in --sync --format=fuse; do
		run -2 iotracer log --vm "logged-$$" "$option"
		[ "${lines[0]}" = "iotracer log: --vm goes without --sync and --format=fuse" ]
	done
	IOTRACER_PROC=$work/none run -3 iotracer log --vm "logged-$$"
}

@test "vm: record --vm keeps what the machine is, and ends with it" {
	fake_fs
	three cluster_size=64K
	start_qemu kept -drive file=top.qcow2,if=none,id=d0 -device virtio-blk-pci,drive=d0,id=disk0
	(
		wait_for [ -e proc/t/metadata.json ]
		stop_qemu kept
	) >stop.log 2>&1 3>&- &
	stopper=$!
	tree="tree=$(cat kept.pid)"
	iotracer record -o proc/t --vm "kept-$$" 2>err
	wait "$stopper"
	grep -q "^filter $tree\$" proc/fs/control
	[ "$(jq -c '[.vm.name, (.vm.drives[] | .name, .layers[].file), .command, .state]' proc/t/metadata.json)" = \
		"[\"kept-$$\",\"disk0\",\"$work/top.qcow2\",\"$work/middle.qcow2\",\"$work/base.img\",[],\"COMPLETE\"]" ]
	iotracer traces show ./proc/t >shown
	grep -A 1 '^  machine' shown | diff - <(printf '  %-12s%s\n' machine "kept-$$, PID ${tree#tree=}" \
		drive "disk0: $work/top.qcow2 (qcow2), $work/middle.qcow2 (qcow2), $work/base.img (raw)")
	[ "$(iotracer traces show -f json ./proc/t | jq -c '.[0].vm | [.name, .pid, .drives[].name]')" = "[\"kept-$$\",${tree#tree=},\"disk0\"]" ]
	start_qemu again -drive file=top.qcow2,if=none,id=d0
	iotracer record -o limited --time=0.1 --vm "again-$$" --anonymize 2>err
	[ "$(jq -c '[.vm, .state]' limited/metadata.json)" = '[null,"COMPLETE"]' ]
	is_running "$(cat again.pid)"
	iotracer record -o other --time=0.1 2>err
	[ "$(jq .vm other/metadata.json)" = null ]
	run ! grep -E '^  (machine|drive)' <(iotracer traces show ./other)
	run iotracer record -o t2 --vm "kept-$$"
	[ "$status $output" = "1 iotracer: kept-$$: no VM with this name or PID runs here (iotracer vm list)" ]
	run iotracer record -o t2 --vm "again-$$" -- true
	[ "$status" = 2 ]
	[ "${lines[0]}" = 'iotracer record: --vm goes without a command' ]
	[ ! -e t2 ]
}

is_running() {
	[ -e "/proc/$1" ]
}
