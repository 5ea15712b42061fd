#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=plain,slow
#
# DKMS installs what it has built, modprobe loads it, and DKMS removes it. Runs in a virtual machine, with which
# all changes to /usr/src, /var/lib/dkms and /lib/modules are lost:
#
#	scripts/check-dkms --archive 6.12 && scripts/check-vm 6.12 dkms.bats
#
# The first adds and builds the source tree as it is, which takes an emulated machine a quarter of an hour.

load ../lib/top

version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
source=/usr/src/iotracer-$version

# An emulated machine takes minutes to unpack it and to list its modules.
setup_file() {
	export BATS_TEST_TIMEOUT=3000
}

teardown() {
	[ ! -d /sys/module/iotracer ] || rmmod iotracer
	dkms remove "iotracer/$version" --all >/dev/null 2>&1 || true
	rm -rf "$source"
}

@test "dkms installs the module that it has built, modprobe loads it, dkms removes it" {
	local release installed
	release=$(uname -r)
	dkms ldtarball "$TOP/build/dkms-$release.tar.gz"
	[[ $(dkms status "iotracer/$version" -k "$release") == *built* ]]
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
