#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The names by which scripts know a kernel (scripts/lib.sh): releases, versions and flavours, of
# kernels that are installed and of fetched ones.
#
# bats file_tags=host

bats_require_minimum_version 1.5.0

load ../lib/top

setup() {
	local release
	cd "$BATS_TEST_TMPDIR" || return
	export IOT_BOOT=$PWD/boot XDG_CACHE_HOME=$PWD/cache
	mkdir -p boot cache/iotracer/kernels/trixie/boot
	for release in 6.1.0-56-amd64 6.12.9+deb12-amd64 6.12.117+deb12-amd64 6.12.117+deb12-cloud-amd64 6.12.117+deb12-rt-amd64; do
		: >"boot/vmlinuz-$release"
	done
	: >cache/iotracer/kernels/trixie/boot/7.3.4+deb13-amd64.ready
	# shellcheck source=scripts/lib.sh
	. "$TOP/scripts/lib.sh"
}

@test "kernels: a release, any part of its version, and a flavour name a kernel" {
	while read -r name release; do
		[ "$(iot_kernel_find "$name")" = "$release" ] || { echo "$name: $(iot_kernel_find "$name"), not $release"; false; }
	done <<-'END'
		6.12.117+deb12-amd64 6.12.117+deb12-amd64
		6.12.117+deb12 6.12.117+deb12-amd64
		6.12.117 6.12.117+deb12-amd64
		6.12 6.12.117+deb12-amd64
		6.12.9 6.12.9+deb12-amd64
		6 6.12.117+deb12-amd64
		6.12-rt 6.12.117+deb12-rt-amd64
		6.12.117-cloud 6.12.117+deb12-cloud-amd64
		6.1 6.1.0-56-amd64
		6.1.0 6.1.0-56-amd64
		6.1.0-56 6.1.0-56-amd64
		7.3 7.3.4+deb13-amd64
		7.3.4 7.3.4+deb13-amd64
	END
	for name in 6.12.11 6.2 .12 7.3-rt deb12; do
		run ! iot_kernel_find "$name"
	done
}

@test "kernels: guest-build takes the names that vm takes, and says which there are" {
	run "$TOP/scripts/guest-build" 6.12.11
	[ "$status" = 1 ]
	[[ $output == "guest-build: no kernel '6.12.11': give one of 6.1.0-56-amd64 "*" 7.3.4+deb13-amd64, or run scripts/install-deps "* ]]
	run "$TOP/scripts/vm" --kernel 6.12.11 -- true
	[ "$status" != 0 ]
	[[ $output == *"no kernel '6.12.11': give one of 6.1.0-56-amd64 "* ]]
	run "$TOP/scripts/guest-build"
	[ "$status" = 1 ]
}
