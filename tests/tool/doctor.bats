#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# iotracer doctor on simulated machines, each a directory of files: what it finds, which
# remedy it names, and its exit status. doctor_real.bats and doctor_locked.bats compare it
# with real kernels.

# Tests run in subshells, and "run --separate-stderr" sets stderr_lines.
# shellcheck disable=SC2030,SC2031,SC2154

bats_require_minimum_version 1.5.0

load ../lib/categories

# bats file_tags=host

setup_file() {
	make -s -C "$TOP/tools"
}

release=6.12.117+deb12-amd64

setup() {
	PATH=$TOP/tools:$PATH
	export LC_ALL=C.UTF-8
	unset NO_COLOR IOTRACER_PROC
	# Not in bats' own directory, which other users may not enter.
	work=$(mktemp -d /tmp/iotracer-doctor.XXXXXX)
	chmod 755 "$work"
	export IOTRACER_ROOT=$work
	machine
}

teardown() {
	rm -rf "$work"
}

# put FILE TEXT...: write a file of the machine, one line for each TEXT
put() {
	mkdir -p "$work/$(dirname "$1")"
	printf '%s\n' "${@:2}" >"$work/$1"
}

# Print what needs.def asks for, one need a line: kind~names~more
needs() {
	printf '#define NEED(c, k, o, n, m, p) @k~n~m\n#include "%s"\n' "$TOP/tools/doctor/needs.def" |
		gcc -E -P -x c - | tr -d '\n' | tr '@' '\n' | sed -E 's/" *"//g; s/"//g; s/ *~ */~/g' |
		grep '~'
}

symbols() {
	local address=0 kind names more name
	while IFS='~' read -r kind names more; do
		case $kind in
		OPTION) continue ;;
		POINT) name=__traceiter_${names%%|*} ;;
		SYSCALL) name=__x64_sys_${names%%|*} ;;
		*) name=${names%%|*} ;;
		esac
		printf '%016x t %s\n' $((address += 64)) "$name"
		[[ $kind != CALLED* ]] || printf '%016x t %s\n' $((address += 64)) "$more"
	done < <(needs)
	printf '%016x t %s\t[%s]\n' $((address += 64)) btrfs_buffered_write btrfs
}

# Make a Debian without any problem, on which the module is not installed yet.
machine() {
	local file
	put proc/sys/kernel/osrelease "$release"
	put proc/sys/kernel/arch x86_64
	put proc/sys/kernel/modules_disabled 0
	put proc/sys/kernel/ftrace_enabled 1
	put proc/modules 'ext4 1 0 - Live 0x0'
	mkdir -p "$work/proc/self/ns"
	ln -s 'pid:[4026531836]' "$work/proc/self/ns/pid"
	ln -s 'user:[4026531837]' "$work/proc/self/ns/user"
	put sys/kernel/security/lockdown '[none] integrity confidentiality'
	put sys/module/module/parameters/sig_enforce N
	put sys/module/btrfs/refcnt 0
	put sys/kernel/debug/kprobes/enabled 1
	put sys/kernel/btf/vmlinux x
	put etc/os-release ID=debian
	put "boot/config-$release" 'CONFIG_X86_64=y' 'CONFIG_MODULES=y' 'CONFIG_KPROBES=y' \
		'CONFIG_KRETPROBES=y' 'CONFIG_KALLSYMS=y' 'CONFIG_DYNAMIC_FTRACE_WITH_ARGS=y' \
		'CONFIG_IO_URING=y' 'CONFIG_AIO=y' 'CONFIG_SECURITY_LOCKDOWN_LSM=y' \
		'# CONFIG_MODULE_SIG_FORCE is not set' \
		"CONFIG_CC_VERSION_TEXT=\"gcc-none (Debian) $(gcc -dumpfullversion)\""
	for file in Makefile Module.symvers include/generated/autoconf.h scripts/mod/modpost; do
		put "lib/modules/$release/build/$file" x
	done
	symbols >"$work/proc/kallsyms"
}

config() {
	sed -i -E "$1" "$work/boot/config-$release"
}

# lacks SYMBOL...: remove symbols from the kernel
lacks() {
	local name
	for name; do
		grep -q " $name\$" "$work/proc/kallsyms"
		sed -i "/ $name\$/d" "$work/proc/kallsyms"
	done
}

# install_module [TEXT]: install a module file with this content
install_module() {
	put "lib/modules/$release/updates/dkms/iotracer.ko" "${1:-not signed}"
}

loaded() {
	put sys/module/iotracer/version 0.1.0
	export IOTRACER_PROC=$work/proc/iotracer
	put proc/iotracer/hooks 'symbol operation mechanism users missed prototype error' "$@"
}

# json STATUS JQ_FILTER: filter the JSON of doctor, which must exit with STATUS
json() {
	run "-$1" --separate-stderr iotracer doctor --format=json
	[ -z "$stderr" ]
	jq -r "$2" <<<"$output"
}

# check NAME STATE WORDS [REMEDY]: the check NAME must report this
check() {
	local line
	line=$(iotracer doctor --format=json |
		jq -r --arg name "$1" '.checks[] | select(.name == $name) | "\(.state)|\(.found)|\(.remedy)"')
	echo "$1: $line"
	[[ $line == "$2|"*"$3"*"|"*"${4:-}"* ]]
}

# category NAME STATE [SENTENCE]...: the category must have these sentences and no others
category() {
	local name=$1 state=$2
	shift 2
	diff <(printf '%s\n' "$name $state" "$@") <(iotracer doctor --format=json |
		jq -r --arg name "$name" '.categories[] | select(.name == $name) | "\(.name) \(.state)", .missing[]')
}

@test "without any problem everything is ok, in text and in JSON" {
	run -0 --separate-stderr iotracer doctor
	[ -z "$stderr" ]
	[ "${lines[0]}" = "kernel      ok       $release, x86_64" ]
	[ "${lines[-1]}" = 'verdict     ok       all categories will work here' ]
	[ "$(grep -c '^[a-z]* *missing' <<<"$output")" = 1 ]
	[[ $output == *'module      missing  not installed for this kernel'* ]]
	[ "$(json 0 '.state, (.categories | length), ([.categories[].state] | unique[])' | paste -sd ' ')" = "ok $(categories | wc -l) ok" ]
	[ "$(json 0 '.checks | length')" = 13 ]
	json 0 'if ([.checks[] | (.name | type) == "string" and (.found | length > 0) and (.blocks == false)
		and (.state | IN("ok", "partly", "missing", "unknown"))] | all) then "fine" else error end'
	[ "$(json 0 '.kernel')" = "$release" ]
	[ "$(json 0 '.running')" = true ]
	# an installed module is reported with how to load it, a loaded one with its version
	install_module
	check module ok "/lib/modules/$release/updates/dkms/iotracer.ko" 'modprobe iotracer'
	loaded
	check module ok 'loaded, version 0.1.0' null
	put sys/module/iotracer/version 0.0.9
	check module partly 'loaded, version 0.0.9; this tool is 0.1.0' 'install both'
	run -0 iotracer doctor
}

@test "without headers the module can be used only if it is installed or loaded" {
	rm -r "$work/lib/modules/$release/build/scripts"
	check headers missing 'incomplete' "apt-get install linux-headers-$release"
	rm -r "$work/lib/modules/$release/build"
	for id in ID=ubuntu 'ID=linuxmint ID_LIKE="ubuntu debian"'; do
		put etc/os-release "$id"
		check headers missing "no /lib/modules/$release/build" "apt-get install linux-headers-$release"
	done
	put etc/os-release ID=rocky 'ID_LIKE="rhel centos fedora"'
	check headers missing 'no /lib' "dnf install kernel-devel-$release"
	put etc/os-release ID=nixos
	check headers missing 'no /lib' "the headers of $release"
	category fs missing 'the module cannot be used here: see headers'
	run -3 iotracer doctor
	[[ $output == *'verdict     missing  iotracer will not work here as it is' ]]
	install_module
	check headers missing 'no /lib'
	run -0 iotracer doctor
	rm -r "$work/lib/modules/$release/updates"
	loaded
	run -0 iotracer doctor
}

@test "the compiler is that of the kernel, or its version is compared" {
	check compiler ok "gcc $(gcc -dumpfullversion) (the kernel's: $(gcc -dumpfullversion))"
	config 's/^CONFIG_CC_VERSION_TEXT=.*/CONFIG_CC_VERSION_TEXT="gcc-none (Debian 3.2.0-14) 3.4.5"/'
	check compiler partly "(the kernel's: 3.4.5)" 'install version 3'
	run -0 iotracer doctor
	mkdir "$work/bin"
	printf '#!/bin/sh\necho 3.9.9\n' >"$work/bin/gcc-none"
	chmod 755 "$work/bin/gcc-none"
	PATH=$PATH:$work/bin check compiler ok "gcc-none 3.9.9 (the kernel's: 3.4.5)" null
	config 's/^CONFIG_CC_VERSION_TEXT=.*/CONFIG_CC_VERSION_TEXT="Debian clang version 16.0.6 (27)"/'
	printf '#!/bin/sh\necho 16.0.1\n' >"$work/bin/clang"
	chmod 755 "$work/bin/clang"
	PATH=$work/bin:$PATH check compiler ok "clang 16.0.1 (the kernel's: 16.0.6)"
	# no compiler at all
	mkdir "$work/empty"
	ln -s "$(command -v iotracer)" "$work/empty"
	PATH=$work/empty run -3 iotracer doctor
	[[ $output == *'compiler    missing  no '* ]]
	# the compiler that the options name is not run by a shell
	# shellcheck disable=SC2016 # that is the point
	config 's/^CONFIG_CC_VERSION_TEXT=.*/CONFIG_CC_VERSION_TEXT="$(touch${IFS}'"${work//\//\\/}"'\/pwned) 1"/'
	check compiler partly gcc
	[ ! -e "$work/pwned" ]
}

@test "if the kernel loads no modules, the remedy is another kernel or a virtual machine" {
	config 's/^CONFIG_MODULES=y/# CONFIG_MODULES is not set/'
	check modules missing 'cannot load modules' 'make demo'
	run -3 iotracer doctor
	config 's/^# CONFIG_MODULES is not set/CONFIG_MODULES=y/'
	run -0 iotracer doctor
	rm "$work/proc/modules"
	check modules missing 'cannot load modules' 'scripts/vm'
	run -3 iotracer doctor
	put proc/modules
	put proc/sys/kernel/modules_disabled 1
	check modules missing 'kernel.modules_disabled=1' 'sysctl.d'
	category cache missing 'the module cannot be used here: see modules'
	run -3 iotracer doctor
	# a module that was loaded before can be used
	loaded
	check modules partly 'kernel.modules_disabled=1'
	run -0 iotracer doctor
}

@test "lockdown and enforced signatures require a signed module" {
	for state in '[integrity]' 'integrity [confidentiality]'; do
		put sys/kernel/security/lockdown "none $state"
		check lockdown missing 'only signed modules can be loaded' 'mokutil --import'
		run -3 iotracer doctor
	done
	category uring missing 'the module cannot be used here: see lockdown'
	install_module
	check lockdown missing 'confidentiality: only signed'
	run -3 iotracer doctor
	install_module '~Module signature appended~'
	check lockdown partly 'is signed, but it is not known whether by a trusted key' mokutil
	run -0 iotracer doctor
	rm -r "$work/lib/modules/$release/updates"
	put "lib/modules/$release/extra/iotracer.ko.xz" xz
	check lockdown partly 'it is not known whether the module is signed'
	rm -r "$work/lib/modules/$release/extra"
	loaded
	check lockdown ok 'confidentiality; the module is loaded'
	run -0 iotracer doctor
	rm -r "$work/sys/module/iotracer" "$IOTRACER_PROC"
	unset IOTRACER_PROC
	put sys/kernel/security/lockdown '[none] integrity confidentiality'
	check lockdown ok none
	put sys/module/module/parameters/sig_enforce Y
	check signatures missing 'module.sig_enforce' mokutil
	run -3 iotracer doctor
	put sys/module/module/parameters/sig_enforce N
	config 's/^# CONFIG_MODULE_SIG_FORCE.*/CONFIG_MODULE_SIG_FORCE=y/'
	check signatures missing CONFIG_MODULE_SIG_FORCE
	config 's/^CONFIG_MODULE_SIG_FORCE.*//'
	mkdir -p "$work/sys/firmware/efi/efivars"
	printf '\6\0\0\0\1' >"$work/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
	check signatures ok 'Secure Boot is on'
}

@test "what cannot be read is reported as unknown, never guessed" {
	rm -r "$work/sys/kernel/security"
	check lockdown unknown 'no /sys/kernel/security/lockdown' 'mount -t securityfs'
	config 's/^CONFIG_SECURITY_LOCKDOWN_LSM=y//'
	check lockdown ok 'this kernel has no lockdown'
	put sys/kernel/security/lockdown '[none]'
	chmod 000 "$work/sys/kernel/security/lockdown" "$work/sys/kernel/debug"
	as=()
	[ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	cp "$(command -v iotracer)" "$work/tool"
	chmod 755 "$work/tool"
	run -0 "${as[@]}" "$work/tool" doctor
	[[ $output == *'lockdown    unknown  needs root'* ]]
	[[ $output == *'kprobes     ok '*'needs root'* ]]
	chmod 755 "$work/sys/kernel/debug"
	rm "$work/boot/config-$release"
	for name in ftrace kprobes; do
		check "$name" unknown 'the options of this kernel were not found'
	done
	category fs unknown 'the options of this kernel were not found'
	category fault ok
	run -1 iotracer doctor
	# some functions show how the kernel was built
	printf '00 t %s\n' __x64_sys_read ftrace_caller >>"$work/proc/kallsyms"
	category fs ok
	category uring unknown 'the options of this kernel were not found'
	put "lib/modules/$release/build/include/config/auto.conf" 'CONFIG_KPROBES=y' 'CONFIG_KRETPROBES=y' \
		'CONFIG_KALLSYMS=y' 'CONFIG_X86_64=y' 'CONFIG_MODULES=y' 'CONFIG_DYNAMIC_FTRACE_WITH_ARGS=y' \
		'CONFIG_IO_URING=y'
	check config ok auto.conf
	run -0 iotracer doctor
	sed 's/CONFIG_KPROBES=y//' "$work/lib/modules/$release/build/include/config/auto.conf" |
		gzip >"$work/proc/config.gz"
	check config ok /proc/config.gz
	check kprobes missing 'no CONFIG_KPROBES'
	: >"$work/proc/kallsyms"
	rm "$work/proc/config.gz"
	check kallsyms unknown /proc/kallsyms
	run -1 iotracer doctor
	category fault unknown 'the symbols of this kernel were not found'
	[[ $output == *'verdict     unknown  whether all will work here is not known'* ]]
}

@test "without kprobes or with ftrace off the module cannot be used" {
	for option in KPROBES KRETPROBES KALLSYMS; do
		config "s/^CONFIG_$option=y/# CONFIG_$option is not set/"
		check kprobes missing "no CONFIG_$option"
		run -3 iotracer doctor
		config "s/^# CONFIG_$option is not set/CONFIG_$option=y/"
	done
	put sys/kernel/debug/kprobes/enabled 0
	check kprobes partly off 'echo 1 >'
	run -0 iotracer doctor
	put proc/sys/kernel/ftrace_enabled 0
	check ftrace missing kernel.ftrace_enabled=0 'sysctl -w kernel.ftrace_enabled=1'
	for name in $(categories); do
		category "$name" missing 'the module cannot be used here: see ftrace'
	done
	run -3 iotracer doctor
	put proc/sys/kernel/ftrace_enabled 1
	config 's/^CONFIG_DYNAMIC_FTRACE_WITH_ARGS=y//'
	check ftrace partly kretprobes
	category fs missing 'this kernel is built without CONFIG_DYNAMIC_FTRACE_WITH_ARGS'
	category fault ok
	run -1 iotracer doctor
}

@test "a function that the kernel lacks is named, with the events that are not seen" {
	lacks fcntl_setlk
	category fs partly 'LOCK: fcntl_setlk is not in this kernel'
	run -1 iotracer doctor
	[[ $output == *'fs          partly   LOCK: fcntl_setlk is not in this kernel'* ]]
	lacks do_unlinkat io_splice
	category fs partly 'UNLINK: neither do_unlinkat nor filename_unlinkat is in this kernel' \
		'SPLICE of io_uring: io_splice is not in this kernel' \
		'LOCK: fcntl_setlk is not in this kernel'
	# the kernel has the function under its newer name
	echo '00 t filename_unlinkat' >>"$work/proc/kallsyms"
	# a function of this name in a module is another function
	printf '00 t fcntl_setlk\t[other]\n' >>"$work/proc/kallsyms"
	category fs partly 'SPLICE of io_uring: io_splice is not in this kernel' \
		'LOCK: fcntl_setlk is not in this kernel'
	# a system call is missing only if the kernel has none for the operation
	sed -i 's/ __x64_sys_getdents$/ __ia32_compat_sys_getdents/' "$work/proc/kallsyms"
	lacks __x64_sys_tee __x64_sys_chdir
	category fs partly 'CHDIR: this kernel has no system call for it' \
		'SPLICE of io_uring: io_splice is not in this kernel' \
		'LOCK: fcntl_setlk is not in this kernel'
	lacks sock_read_iter
	iotracer doctor | grep -q 'sock_read_iter is not in this kernel: reads of sockets are not seen'
	for name in $(categories fs); do
		category "$name" ok
	done
	lacks __traceiter_block_split
	category block missing 'tracepoint block_split is not in this kernel'
	lacks drop_caches_sysctl_handler btrfs_buffered_write.\\[btrfs] btrfs_buffered_write
	category cache partly 'HIT: btrfs_buffered_write is not in this kernel' \
		'MISS: btrfs_buffered_write is not in this kernel' \
		'DROP: drop_caches_sysctl_handler is not in this kernel'
	rm -r "$work/sys/module/btrfs"
	category cache partly 'DROP: drop_caches_sysctl_handler is not in this kernel'
	lacks handle_mm_fault
	category fault missing 'READ: handle_mm_fault is not in this kernel' \
		'WRITE: handle_mm_fault is not in this kernel' 'EXEC: handle_mm_fault is not in this kernel'
	lacks kallsyms_on_each_symbol
	category fs missing 'kallsyms_on_each_symbol is not in this kernel' \
		'sock_read_iter is not in this kernel: reads of sockets are not seen'
}

@test "without io_uring only its category is missing" {
	config 's/^CONFIG_IO_URING=y//'
	sed -i '/uring\| io_/d' "$work/proc/kallsyms"
	category uring missing 'this kernel is built without CONFIG_IO_URING'
	category fs ok
	category cache ok
	run -1 iotracer doctor
}

@test "a function that the loaded module could not hook is reported with its error" {
	loaded 'fcntl_setlk LOCK detached 0 0 fits -22' '__x64_sys_tee TEE detached 0 0 fits -95' \
		'vfs_open OPEN redirect 1 0 fits 0' 'fd_install OPEN kretprobe-names-as-given 1 0 fits -16' \
		'btrfs_buffered_write HIT,MISS detached 0 0 unchecked -2' 'io_uring_complete - tracepoint 1 0 - 0'
	category fs partly 'TEE: the module cannot hook tee: error -95' \
		'LOCK: the module cannot hook fcntl_setlk: error -22'
	run -1 iotracer doctor
	rm -r "$work/sys/module/btrfs"
	category cache ok
}

@test "WSL, other processors, old kernels and containers are recognized" {
	put proc/sys/kernel/arch riscv64
	config 's/^CONFIG_X86_64=y/CONFIG_RISCV=y/'
	check kernel partly riscv64 'x86-64 or arm64'
	category fs missing 'this kernel is built neither with CONFIG_X86_64 nor CONFIG_ARM64'
	put proc/sys/kernel/arch aarch64
	config 's/^CONFIG_RISCV=y/CONFIG_ARM64=y/'
	sed -i 's/__x64_sys_/__arm64_sys_/' "$work/proc/kallsyms"
	check kernel ok aarch64
	category fs ok
	put proc/sys/kernel/arch x86_64
	rm "$work/proc/self/ns/pid"
	ln -s 'pid:[4026532200]' "$work/proc/self/ns/pid"
	check container partly 'its own pid namespace' 'on the host'
	rm "$work/proc/self/ns/pid"
	check container unknown ns
	ln -s 'pid:[4026532200]' "$work/proc/self/ns/pid"
	ln -sf 'user:[4026532201]' "$work/proc/self/ns/user"
	check container missing 'its own user namespace' 'on the host'
	category block missing 'the module cannot be used here: see container'
	ln -sf 'user:[4026531837]' "$work/proc/self/ns/user"
	mv "$work/boot/config-$release" "$work/proc/config.gz"
	put proc/sys/kernel/osrelease 6.6.87.2-microsoft-standard-WSL2
	check kernel ok '(Windows Subsystem for Linux)'
	check headers missing 'no /lib/modules/6.6' WSL2-Linux-Kernel
	put proc/sys/kernel/osrelease 5.15.0-91-generic
	check kernel missing 5.15.0-91-generic 'boot kernel 6.1 or newer'
	run -3 iotracer doctor
	# the content of a file cannot forge a line or control the terminal
	printf '6.12\n\033[31mverdict ok\n' >"$work/proc/sys/kernel/osrelease"
	run iotracer doctor
	[[ $output != *$'\033'* ]]
	[ "$(grep -c '^verdict' <<<"$output")" = 1 ]
	[[ ${lines[0]} == 'kernel      ok       6.12\012\033[31mverdict ok, x86_64' ]]
}

@test "another installed kernel is judged by its files" {
	other=6.1.0-56-amd64
	run -1 --separate-stderr iotracer doctor --kernel "$other"
	[[ $stderr == *"$other: no such kernel is installed"* ]]
	[ -z "$output" ]
	run -2 iotracer doctor --kernel ../x
	run -2 iotracer doctor fs
	run -2 iotracer doctor --format=csv
	put sys/kernel/security/lockdown 'none [integrity]'
	sed 's/CONFIG_MODULES=y/CONFIG_MODULES=m/' "$work/boot/config-$release" >"$work/boot/config-$other"
	cp -r "$work/lib/modules/$release" "$work/lib/modules/$other"
	put "boot/System.map-$other" 'ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package'
	run -1 iotracer doctor --kernel "$other"
	[[ $output == *"kernel      ok       $other, x86_64"* ]]
	[[ $output == *'lockdown    unknown  known only for the running kernel'* ]]
	[[ $output == *'fs          unknown  the symbols of this kernel were not found'* ]]
	{
		cat "$work/proc/kallsyms"
		seq -f '00 t filler_%g' 1000
	} >"$work/boot/System.map-$other"
	run -0 iotracer doctor -k "$other"
	sed -i 's/^CONFIG_KPROBES=y//' "$work/boot/config-$other"
	run -3 iotracer doctor -k "$other"
	[[ $output == *'kprobes     missing  no CONFIG_KPROBES'* ]]
}

# names_in_module: print the names that the module's source hooks or looks up
names_in_module() {
	# without rejected.c and most of hook/, which do not belong to one category
	{
		cat "$TOP"/module/probe/[!r]*.c "$TOP"/module/probe/r[!e]*.c "$TOP"/module/file/{originator,paths}.c \
			"$TOP"/module/hook/symbol.c "$TOP"/module/compat/io_uring.h
		sed 's/iot_symbol_data/iot_symbol_find/' "$TOP"/module/file/supers.c # two variables
	} |
		tr '\n' ' ' |
		grep -oE '\b(SYSCALL|COMPAT|FUNCTION|SITE|SENDS|RECEIVES|SPLICES|REQUEST|CALLED|LOOKUP|iot_symbol_(find|checked))\("\w+"|\.(newer|symbol|instead|name) = (IOT_SYSCALL(_32)? )?"\w+"(, \.(newer|probe|what|tag|op))?|IOT_KIND_(SOCKET|PIPE), "\w+", "\w+"|define IOT_URING_SUBMIT_POINT\s+"\w+"' |
		grep -vE '\.name = "('"$(categories | paste -sd '|')"'|read|write|read_iter|write_iter|splice_read|splice_write|copy_file_range|remap_file_range)"' |
		grep -oE '"\w+"' | tr -d '"' | sed -E 's/^__(x64|ia32)_sys_//' | sort -u
}

@test "doctor knows what the module's source hooks and looks up, and nothing else" {
	names_in_module >"$work/module"
	[ "$(wc -l <"$work/module")" -gt 150 ]
	iotracer doctor --format=json |
		jq -r '.categories[].needs[] | select(.kind != "option").names[]' | sort -u >"$work/doctor"
	# Left out of the module's names: functions of the journals of ext4 and xfs, whose modules
	# may not be loaded, and kallsyms_lookup_name, which the module can do without. Left out of
	# doctor's: bh_submit, which stands for the kernels without end_bio_bh_io_sync and is not
	# looked up.
	diff <(grep -vxE 'journal_end_buffer_io_sync|xlog_bio_end_io|kallsyms_lookup_name' "$work/module") \
		<(grep -vx bh_submit "$work/doctor")
	# the functions of io_uring that call hooked functions
	diff <(grep -oE 'CALLED\("\w+", \w+, "\w+"' "$TOP/module/probe/fs_calls.c" | grep -oE '"\w+"$' | sort -u) \
		<(needs | sed -nE 's/^CALLED(_IF)?~.*~(\w+)$/"\2"/p' | sort -u)
}
