# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the scripts: find kernels and headers, the place for generated files, TAP, copies
# of the tree. Sourced, never executed.

# Releases of the installed kernels that can be booted, oldest first.
iot_kernel_list() {
	find "${IOT_BOOT:-/boot}" -maxdepth 1 -name 'vmlinuz-*' -printf '%f\n' | sed 's/^vmlinuz-//' | sort -V
}

# Releases whose headers are installed, oldest first.
iot_headers_list() {
	local dir
	for dir in /lib/modules/*/build; do
		[ ! -e "$dir/Makefile" ] || basename "${dir%/build}"
	done | sort -V
}

# Releases of the installed kernels, newest first; of one version first plain, then cloud, then rt.
iot_kernels_to_try() {
	local release version kind
	iot_kernel_list | while read -r release; do
		version=${release%-*} kind=0
		case $release in
		*-cloud-*) version=${version%-cloud} kind=1 ;;
		*-rt-*) version=${version%-rt} kind=2 ;;
		esac
		printf '%s\t%s\t%s\n' "$version" "$kind" "$release"
	done | sort -t $'\t' -k 1,1Vr -k 2,2n | cut -f 3
}

# Whether a module can be built for release $1. Its headers, the headers that these include
# and the programs that they need may come in separate packages.
iot_headers_are_complete() {
	local dir=${IOT_MODULES:-/lib/modules}/$1/build file
	for file in Makefile Module.symvers include/generated/autoconf.h scripts/mod/modpost; do
		[ -s "$dir/$file" ] || return 1
	done
	make -s -C "$dir" kernelrelease >/dev/null 2>&1
}

# Whether kernel $1, a release or a flavour, is for arm64 and this machine is not.
iot_is_foreign_arch() {
	[[ $1 == *-arm64 ]] && [ "$(uname -m)" != aarch64 ]
}

# Print the newest of the releases on standard input that matches $1: a release
# itself, a version (6.1, 6.12, 6.12.117: the plain flavour), or a version and a flavour
# (6.12-rt, 6.1-cloud, 7.3-arm64). An empty $1 matches every plain one.
iot_release_match() {
	local wanted=$1 version flavour=plain release found='' kind
	version=$wanted
	case $wanted in
	*-rt) version=${wanted%-rt} flavour=rt ;;
	*-cloud) version=${wanted%-cloud} flavour=cloud ;;
	*-arm64) version=${wanted%-arm64} flavour=arm64 ;;
	esac
	while read -r release; do
		[ "$release" != "$wanted" ] || { echo "$release"; return 0; }
		case $release in
		*-rt-*) kind=rt ;;
		*-cloud-*) kind=cloud ;;
		*) if iot_is_foreign_arch "$release"; then kind=arm64; else kind=plain; fi ;;
		esac
		[ "$kind" = "$flavour" ] || continue
		case $release in
		${version:+"$version"[.+-]}*) found=$release ;;
		esac
	done
	[ -n "$found" ] && echo "$found"
}

# The root directory below which scripts/kernel-get keeps kernels that are not installed, and in
# which modules are built for them.
iot_foreign_root() {
	echo "$(iot_cache)/kernels/trixie"
}

# The root directory of arm64 machines, which has their kernels.
iot_arm64_root() {
	echo "$(iot_cache)/kernels/arm64"
}

# Releases of these kernels, oldest first.
iot_foreign_list() {
	find "$(iot_foreign_root)/boot" -maxdepth 1 -name '*.ready' -printf '%f\n' 2>/dev/null |
		sed 's/\.ready$//' | sort -V
}

# The release of kernel $1, if it is installed, fetched by scripts/kernel-get, or a debug
# kernel that has been built.
iot_kernel_find() {
	if iot_kernel_is_debug "${1:-}"; then
		cat "$(iot_debug_kernel_dir "$1")/release" 2>/dev/null
	else
		iot_kernel_list | iot_release_match "${1:-}" || iot_foreign_list | iot_release_match "${1:?}"
	fi
}

iot_headers_find() {
	if iot_kernel_is_debug "${1:-}"; then
		iot_kernel_find "$1"
	else
		iot_headers_list | iot_release_match "${1:-}" || iot_foreign_list | iot_release_match "${1:?}"
	fi
}

# Whether kernel $1 was fetched by scripts/kernel-get, and is not installed.
iot_kernel_is_foreign() {
	! { iot_kernel_list; iot_headers_list; } | iot_release_match "${1:-}" >/dev/null &&
		iot_foreign_list | iot_release_match "${1:-}" >/dev/null
}

# The directory that has the boot/ and lib/modules/ of kernel $1; empty for an
# installed kernel, which has them below /.
iot_kernel_home() {
	if iot_kernel_is_debug "${1:-}"; then
		iot_debug_kernel_dir "$1"
	elif iot_is_foreign_arch "${1:-}"; then
		iot_arm64_root
	elif iot_kernel_is_foreign "${1:-}"; then
		iot_foreign_root
	fi
}

# The same of the headers of kernel $1.
iot_headers_home() {
	if iot_is_foreign_arch "${1:-}"; then
		iot_foreign_root
	else
		iot_kernel_home "${1:-}"
	fi
}

# A directory outside the checkout for files that can be made again.
iot_cache() {
	local dir=${XDG_CACHE_HOME:-${HOME:-/var}/.cache}/iotracer
	mkdir -p "$dir" && echo "$dir"
}

# The version of Debian's source of kernel $1, installed or fetched by scripts/kernel-get; empty
# if there is none.
iot_source_version() {
	dpkg-query -W -f '${Version}\n' "linux-source-$1" 2>/dev/null ||
		cat "$(iot_foreign_root)/usr/src/linux-source-$1.version" 2>/dev/null
}

# The archive of that source.
iot_source_archive() {
	local archive=/usr/src/linux-source-$1.tar.xz
	[ -e "$archive" ] || archive=$(iot_foreign_root)$archive
	echo "$archive"
}

# The configuration of a debug kernel of kind $1, on top of allnoconfig.
iot_debug_kernel_config() {
	local configs=tests/debug
	[ -d "$configs" ] || configs=$(dirname "${BASH_SOURCE[0]}")/../tests/debug
	cat "$configs/base.config" "$configs/${1#*-}.config"
	[ "${1%%.*}" -ge 7 ] || cat "$configs/before-7.config"
}

# The directory in which scripts/debug-kernel keeps its kernel of kind $1 (6.1-kasan...),
# named after what goes into it. It has a file `release` if the kernel has been built.
iot_debug_kernel_dir() {
	local key
	key=$({
		iot_source_version "${1%%-*}"
		iot_debug_kernel_compiler "$1" | cut -d ' ' -f 2
		iot_debug_kernel_config "$1"
	} | sha256sum | cut -c1-12)
	echo "$(iot_cache)/kernels/$1-$key"
}

# The arguments of make that choose the compiler of kernel or release $1, and of modules for it.
iot_kernel_llvm() {
	[[ $1 != *-kcfi ]] || echo LLVM=-19
}

# The compiler of debug kernel $1, and its version.
iot_debug_kernel_compiler() {
	if [ -n "$(iot_kernel_llvm "$1")" ]; then
		echo "clang $(clang-19 -dumpversion)"
	else
		echo "gcc $(gcc -dumpfullversion)"
	fi
}

# Whether $1 names a debug kernel, rather than an installed one.
iot_kernel_is_debug() {
	[[ $1 == *-kasan || $1 == *-kcsan || $1 == *-kcfi ]]
}

# The kernel to build for if none is named: the running one if its headers are
# installed, else the newest plain one that has them.
iot_headers_default() {
	if [ -e "/lib/modules/$(uname -r)/build/Makefile" ]; then
		uname -r
	else
		iot_headers_find ''
	fi
}

# The flavours that must build: those that are installed, and those that
# scripts/kernel-get fetches. 6.1, 6.12 and 7.3 are tested in full, on x86-64. scripts/debug-kernel builds
# the debug kernels.
# shellcheck disable=SC2034 # used by scripts that source this
IOT_DEBUG_KERNELS='6.12-kasan 7.3-kasan 6.12-kcsan 6.1-kcsan 6.1-kasan 6.12-kcfi'
# shellcheck disable=SC2034 # used by scripts that source this
IOT_INSTALLED='6.12 6.1 6.12-rt 6.1-rt 6.12-cloud 6.1-cloud'
IOT_FOREIGN='7.2 7.3 7.2-cloud 7.3-cloud 6.12-arm64 7.3-arm64'

# Options of scripts/vm for a machine that runs suites. One thread emulates all processors, as
# several are confused when the kernel's text is patched under load. The kernel looks for dirty
# pages once an hour. By default it does so every five seconds, and then it may write even the newest
# pages of a disk, if little was written to that disk lately and much to others (fs/fs-writeback.c,
# wb_check_background_flush()). So nothing is written back unless a test asks for it.
# shellcheck disable=SC2034 # used by scripts that source this
IOT_TEST_MACHINE=(--one-thread --preload --disk 4G --disk 4G --disk 4G --disk 4G
	--append sysctl.vm.dirty_writeback_centisecs=360000)

# What a healthy kernel never prints. printk's time stamp, and on some kernels the caller, precede the
# text of a line.
# shellcheck disable=SC2034 # used by scripts that source this
IOT_FAULTS='(^|\] ?)(BUG[: ]|WARNING: |Oops|Kernel panic|kernel BUG|Internal error|INFO: (task .* blocked|rcu|possible|suspicious|lockdep|trying to register)|rcu: INFO|rcu: .*(stall|starved)|watchdog: BUG|NMI watchdog: (BUG|Watchdog detected)|general protection|stack segment|double fault|traps: PANIC|UBSAN|KASAN|KCSAN|KFENCE|refcount_t:|list_(add|del) corruption|usercopy: Kernel memory|page_owner|workqueue lockup)|unable to handle|soft lockup|hard LOCKUP|hung_task: blocked|circular locking|inconsistent lock state|cut here|ftrace bug|Objects remaining|ODEBUG: |kmemleak: leak'

# iot_has_tag TAG SUITE...: whether one of these files is a suite in bats with this tag
iot_has_tag() {
	grep -qsE "^# bats file_tags=(.*,)?$1(,|\$)" "${@:2}"
}

# Print the suites that run on this machine, but for slow ones. Call it in the top directory.
iot_host_suites() {
	local suite
	find tests -name '*.bats' | sort | while read -r suite; do
		! iot_has_tag host "$suite" || iot_has_tag slow "$suite" || echo "$suite"
	done
}

# Fetch kernel $1, if it is one of IOT_FOREIGN, and print its release. Call it in the top
# directory.
iot_bring() {
	[[ " $IOT_FOREIGN " == *" $1 "* ]] && scripts/kernel-get "$1"
}

# Test results are lines of TAP: `ok N - what` and `not ok N - what`.
iot_tap_number=0
iot_tap_failed=0

iot_tap() {
	local outcome=$1
	shift
	iot_tap_number=$((iot_tap_number + 1))
	[ "$outcome" = ok ] || iot_tap_failed=$((iot_tap_failed + 1))
	echo "$outcome $iot_tap_number - $*"
}

# Print the plan, after all tests. Fails if a test failed.
iot_tap_end() {
	echo "1..$iot_tap_number"
	[ "$iot_tap_failed" -eq 0 ]
}

# Make directory $1 hold links to all of the module's source files below the current
# directory, and no dangling link.
iot_link_sources() {
	local dir=$1 file
	mkdir -p "$dir"
	# what is gone, and links into the tree that this one is a copy of
	find "$dir" -type l \( -xtype l -o -lname '/*' ! -lname "$PWD/*" \) -delete
	find ./Kbuild ./module -type f ! -name '*.o' ! -name '.*' ! -name '*.mod*' \
		! -name '*.ko' ! -path ./module/compat/config.h | while read -r file; do
		[ "$dir/$file" -ef "$file" ] && continue
		mkdir -p "$dir/${file%/*}" 2>/dev/null
		ln -sf "$PWD/$file" "$dir/$file"
	done
}

# Copy the tree below the current directory, without the files of builds, into directory $1.
iot_copy_tree() {
	rm -rf "$1"
	mkdir -p "$1"
	tar -c --exclude-vcs --exclude=./build --exclude='*.o' --exclude='.*.cmd' . | tar -x -C "$1"
}

# iot_in_root ROOT COMMAND...: run COMMAND with ROOT as root, and /proc mounted there for objtool.
iot_in_root() {
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --mount -- sh -c 'mount -t proc proc "$1/proc" && shift && exec chroot "$@"' sh "$1" "$@"
}

# Whether KVM boots kernel image $1 here. /dev/kvm may exist and still not work (nested,
# filtered), which only a boot shows. The answer is kept until this machine reboots.
iot_kvm_works() {
	local answer dir status
	[ -w /dev/kvm ] || return 1
	answer=$(iot_cache)/kvm-$(tr -d - </proc/sys/kernel/random/boot_id)
	if [ ! -e "$answer" ]; then
		dir=$(mktemp -d) || return 1
		status=no
		# The message of an abort is the inner shell's, and so is discarded, too.
		(timeout -k 1 8 qemu-system-x86_64 -accel kvm -cpu max -m 512 \
			-nodefaults -no-user-config -display none -no-reboot \
			-serial "file:$dir/console" -kernel "$1" \
			-append "console=ttyS0 panic=-1"; :) </dev/null >/dev/null 2>&1
		grep -qs 'Unable to mount root' "$dir/console" && status=yes
		rm -f "$(iot_cache)"/kvm-*
		echo "$status" >"$dir/answer" && mv "$dir/answer" "$answer"
		rm -rf "$dir"
	fi
	[ "$(cat "$answer")" = yes ]
}

# Print the module of file $1, whatever has packed it.
iot_unpack_module() {
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -dcq "$1" ;;
	*.gz) gzip -dc "$1" ;;
	*) cat "$1" ;;
	esac
}
