# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Small virtual machines to be traced: a kernel, busybox, dd, fio, mkfs.ext4, iotracer, and one
# drive. Sourced in the top directory after lib.sh, never executed.
#
#   guest_start NAME RELEASE DRIVE [QEMU-ARGUMENT]...
#   guest_run NAME COMMAND
#   guest_stop NAME
#
# DRIVE is what -drive takes of QEMU: file=disk.img,format=raw,cache=none,aio=threads. Its device is
# disk0, in the guest /dev/vda. A second one, out0, is /dev/vdb and the file $guests/NAME/out: the
# guest hands out files by writing a tar to it. A third one, programs0, has the programs. QMP is the
# socket $guests/NAME/qmp.
#
# Where there is no KVM, a guest boots in seconds, and a guest within a guest in minutes. So
# scripts/guest-build keeps a state of a machine that has booted (`migrate`), which a machine
# continues at once. It has not looked at its drives yet: they may be any.

# The caller may set where the machines' files are.
: "${guests:=/run/iotracer-guests}"
GUEST_MEMORY=192M
GUEST_OUT=64M
# Features that an emulated processor does not have. QEMU 7.2 leaves flags that are none behind
# cmpxchg16b (cx16), which the kernel's allocator uses: if an interrupt comes then, the machine dies.
GUEST_CPU_LACKS='la57 erms cx16'
# Seconds for the boot, where nothing is kept.
GUEST_BOOT_SECONDS=${GUEST_BOOT_SECONDS:-900}
GUEST_PROGRAMS='dd fio mkfs.ext4 blkdiscard sync'

guest_fail() {
	echo "guest: $*" >&2
	return 1
}

# The directory with the kernel, the initramfs and the state of guests of release $1.
guest_home() {
	echo "$PWD/build/guest/$1"
}

# Copy program $1 to directory $2, with its libraries, each where it is here.
guest_copy_program() {
	local path file
	path=$(PATH=$PATH:/usr/sbin:/sbin command -v "$1") || guest_fail "$1 is missing: run scripts/install-deps" || return 1
	{
		echo "$path"
		ldd "$path" | grep -o '/[^ ]*'
	} | while read -r file; do
		mkdir -p "$2/${file%/*}"
		cp -L "$file" "$2/$file" || return 1
	done
}

# Copy to directory $2 the modules of release $1 that are needed, which are below $3/lib/modules, and the
# lists of them in the order in which they are loaded: those of filesystems, and those of drives, which
# come when the machine runs.
guest_copy_modules() {
	local path list
	for list in boot:erofs,ext4,crc32c drives:virtio_pci,virtio_blk; do
		# shellcheck disable=SC2046 # several words
		modprobe -d "${3:-/}" -S "$1" --show-depends -a $(tr , ' ' <<<"${list#*:}") 2>/dev/null |
			awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r path; do
			iot_unpack_module "$path" >"$2/modules/${path##*/}" || return 1
			echo "/modules/${path##*/}"
		done >"$2/modules/${list%%:*}" || return 1
	done
}

# What the guest executes first. It reads commands from its first serial port, a line each, and says
# how each ended. Until an empty one comes it says that it is ready, which is seen once it runs.
guest_init() {
	cat <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mkdir -p /proc /sys /tmp /mnt /root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /tmp
while read -r module; do insmod "$module"; done </modules/boot
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty raw -echo
# A line that is half there when the time is over is lost, so the first one is empty.
until read -r -t 1 line; do echo 'guest ready'; done
while read -r module; do insmod "$module"; done </modules/drives
mount -t erofs -o ro /dev/vdc /programs
for dir in usr lib lib64; do mount --bind "/programs/$dir" "/$dir"; done
while :; do
	read -r line || { sleep 1; continue; }
	sh -c "$line" </dev/null
	echo "guest status $?"
done
END
}

# guest_make RELEASE MODULE [ROOT]: make the initramfs, and the disk of programs. The kernel is below ROOT.
guest_make() {
	local tree home program
	home=$(guest_home "$1")
	tree=$(mktemp -d) || return 1
	mkdir -p "$tree"/initramfs/{bin,modules,usr,lib,lib64,programs} "$tree"/programs/{usr/local/bin,lib,lib64}
	cp "$(PATH=$PATH:/usr/sbin:/sbin command -v busybox)" "$tree/initramfs/bin/busybox" ||
		guest_fail "busybox is missing: run scripts/install-deps" || return 1
	guest_copy_modules "$1" "$tree/initramfs" "${3:-}" || return 1
	guest_init >"$tree/initramfs/init"
	chmod 755 "$tree/initramfs/init"
	for program in $GUEST_PROGRAMS $PWD/tools/iotracer; do
		guest_copy_program "$program" "$tree/programs" || return 1
	done
	mv "$tree/programs$PWD/tools/iotracer" "$tree/programs/usr/local/bin/" || return 1
	[ ! -e "$2" ] || strip -g -o "$tree/programs/usr/local/iotracer.ko" "$2" || return 1
	(cd "$tree/initramfs" && find . -print0 | cpio -o0 -H newc -R 0:0 --quiet) >"$home/initramfs" &&
		mkfs.erofs --quiet "$home/programs" "$tree/programs" >/dev/null
	rm -rf "$tree"
}

# Arguments of QEMU that a machine and the kept state must have in common.
guest_machine() {
	local home
	home=$(guest_home "$1")
	guest_arguments=(-machine pc -m "$GUEST_MEMORY" -smp 1 -nodefaults -no-user-config -display none -no-reboot
		-kernel "$home/vmlinuz" -initrd "$home/initramfs"
		-append "console=ttyS1 quiet panic=-1 norandmaps no_timer_check tsc=reliable"
		-device "virtio-blk-pci,drive=drive0,id=disk0,serial=disk0,addr=4"
		-device "virtio-blk-pci,drive=out,id=out0,serial=out,addr=5"
		-drive "file=$home/programs,if=none,id=programs,format=raw,readonly=on"
		-device "virtio-blk-pci,drive=programs,id=programs0,serial=programs,addr=6")
	if iot_kvm_works "$home/vmlinuz"; then
		guest_arguments+=(-accel kvm -cpu max)
	else
		# shellcheck disable=SC2086 # several words
		guest_arguments+=(-accel tcg -cpu "max$(printf ',%s=off' $GUEST_CPU_LACKS)")
	fi
}

# guest_launch NAME RELEASE QEMU-ARGUMENT...: start a machine. guest_wait waits until it is ready.
guest_launch() {
	local name=$1 release=$2 dir=$guests/$1
	shift 2
	mkdir -p "$dir"
	rm -f "$dir"/{command,monitor}.{in,out}
	mkfifo "$dir"/{command,monitor}.{in,out} || return 1
	guest_machine "$release"
	qemu-system-x86_64 -name "$name" "${guest_arguments[@]}" "$@" \
		-chardev "pipe,id=command,path=$dir/command" -serial chardev:command -serial "file:$dir/console" \
		-chardev "pipe,id=monitor,path=$dir/monitor" -mon chardev=monitor \
		-pidfile "$dir/pid" </dev/null >"$dir/log" 2>&1 3>&- &
	guest_pid=$!
}

# guest_wait NAME: wait until the machine, whose process is $guest_pid, says that it is ready.
guest_wait() {
	local dir=$guests/$1 line seconds=$GUEST_BOOT_SECONDS
	# The machine has both ends of its pipes open, so nothing that it says is lost between two reads.
	# So has the reader, which would wait for ever for a machine that ends just now.
	while kill -0 "$guest_pid" 2>/dev/null; do
		[ $((seconds -= 1)) -gt 0 ] || break
		IFS= read -r -t 1 line <>"$dir/command.out" || continue
		[ "${line%$'\r'}" = 'guest ready' ] && return
	done
	cat "$dir/log" "$dir/console" >&2
	guest_fail "$1 does not start"
}

guest_start() {
	local name=$1 release=$2 drive=$3 dir=$guests/$1 state
	shift 3
	state=$(guest_home "$release")/state
	[ -s "$(guest_home "$release")/made" ] || guest_fail "no guest of $release: run scripts/guest-build $release" || return 1
	mkdir -p "$dir"
	rm -f "$dir/out"
	truncate -s "$GUEST_OUT" "$dir/out"
	set -- -drive "$drive,if=none,id=drive0" -drive "file=$dir/out,if=none,id=out,format=raw,cache=unsafe" \
		-qmp "unix:$dir/qmp,server=on,wait=off" "$@"
	if [ -s "$state" ] && ! iot_kvm_works "$(guest_home "$release")/vmlinuz"; then
		set -- "$@" -incoming "exec:cat $state"
	fi
	guest_launch "$name" "$release" "$@" && guest_wait "$name" && guest_begin "$name"
}

# guest_begin NAME: let a machine that is ready look at its drives, and wait for commands
guest_begin() {
	echo >"$guests/$1/command.in"
}

# Run a command in the guest and print its output. Returns its status. Lines become one, with spaces.
guest_run() {
	local dir=$guests/$1 line
	printf '%s\n' "${2//$'\n'/ }" >"$dir/command.in"
	while IFS= read -r line; do
		line=${line%$'\r'}
		case $line in
		'guest ready') ;;
		'guest status '*) return "${line#guest status }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <>"$dir/command.out"
	return 1
}

# Power the machine off, and wait until it is gone.
guest_stop() {
	local pid
	pid=$(cat "$guests/$1/pid") || return 1
	echo quit >"$guests/$1/monitor.in"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	rm -rf "${guests:?}/$1"
}
