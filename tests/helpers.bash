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

unload_module() {
	[ ! -d /sys/module/iotracer ] || rmmod iotracer
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
