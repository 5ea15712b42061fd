#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=plain,slow
#
# DKMS accepts the source tree as it is: add, build, install, load, unload, remove. Runs
# in a virtual machine, with which all changes to /usr/src, /var/lib/dkms and /lib/modules
# are lost.

load ../lib/top

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
source=/usr/src/iotracer-$version

# Copy the files of a release, without objects of a build in the tree.
copy_tree() {
	mkdir -p "$source"
	(cd "$TOP" && find Kbuild Makefile dkms.conf module scripts/lib.sh -type f ! -name '*.o' \
		! -name '.*' ! -path module/compat/config.h -exec cp --parents -t "$source" {} +)
}

# An emulated machine takes minutes to compile.
setup_file() {
	export BATS_TEST_TIMEOUT=1000
}

teardown() {
	[ ! -d /sys/module/iotracer ] || rmmod iotracer
	dkms remove "iotracer/$version" --all >/dev/null 2>&1 || true
	rm -rf "$source"
}

@test "dkms adds, builds and installs the module, modprobe loads it, dkms removes it" {
	local release installed
	release=$(uname -r)
	copy_tree

	dkms add "iotracer/$version"
	dkms build "iotracer/$version" -k "$release"
	dkms install "iotracer/$version" -k "$release"
	[[ $(dkms status "iotracer/$version" -k "$release") == *installed* ]]
	installed=$(find "/lib/modules/$release/updates/dkms" -name 'iotracer.ko*')
	[ -n "$installed" ]
	[ "$(modinfo -F version iotracer)" = "$version" ]

	modprobe iotracer
	[ "$(</sys/module/iotracer/parameters/MAX_EVENTS)" = 10 ]
	[ -e /proc/iotracer/control ]
	rmmod iotracer
	[ ! -e /proc/iotracer ]

	dkms remove "iotracer/$version" --all
	[ ! -e "$installed" ]
	[ -z "$(dkms status "iotracer/$version")" ]
}
