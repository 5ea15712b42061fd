# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The parts of scripts/check and scripts/check-all: a name and a command a line, the longest first.
# Sourced by both after scripts/parts.sh and scripts/lib.sh, never executed.

: "${logs:?}"

# The suites for arm64.
core=(interface.py totals.py fs.py block.py)

# What has to pass before anything else is worth its time: three machines take the suites of 6.12 from one
# queue, and two runs those of this machine, so that no part is so long that it runs alone in the end.
list_first() {
	local vm="with 6.12 scripts/check-vm --again --queue $logs/queue-6.12 6.12"
	local host="with 6.12 scripts/check-host --again --queue $logs/queue-host"
	cat <<-END
		vm-6.12-1 $vm
		host-1 $host
		vm-6.12-2 $vm
		lint with 6.12 scripts/lint
		unit make --no-print-directory -C tests/unit check
		vm-6.12-3 $vm
		host-2 $host
	END
}

# The rest of scripts/check: what depends on the kernel, on two others; arm64, all builds, the packages.
list_second() {
	cat <<-END
		vm-6.1-1 with 6.1 scripts/check-vm --again --queue $logs/queue-6.1 6.1
		vm-7.3-1 with 7.3 scripts/check-vm --again --queue $logs/queue-7.3 7.3
		vm-6.1-2 with 6.1 scripts/check-vm --again --queue $logs/queue-6.1 6.1
		vm-7.3-2 with 7.3 scripts/check-vm --again --queue $logs/queue-7.3 7.3
		kernels kernels_tap
		vm-7.3-arm64 with 7.3-arm64 scripts/check-vm --again --no-once 7.3-arm64 ${core[*]}
		packages packages_tap
		storm-6.12 with 6.12 env STORM_SECONDS=60 scripts/check-vm --again 6.12 storm.bats
	END
}

# What is left to scripts/check-all, but for its debug kernels.
list_third() {
	cat <<-END
		guests-6.12 with 6.12 env IOTRACER_TEST_TIMEOUT=1200 scripts/check-vm --again 6.12 vm_guest.bats vm_migration.bats libvirt_trace.bats
		power-cut with 6.12 env POWER_CUTS=100 IOTRACER_TEST_TIMEOUT=3000 scripts/check-host --again power_cut.bats
		storm-6.12-rt with 6.12-rt env STORM_SECONDS=60 IOTRACER_TEST_TIMEOUT=1800 scripts/check-vm --again 6.12-rt storm.bats
		cost-6.12 with 6.12 scripts/check-vm --again --icount 6.12 hostile_renames.py hostile_targets.py
		without-6.12 with 6.12,6.12-without scripts/check-vm --again 6.12 left_out.bats
		left-out with 6.12 scripts/check-host --again left_out_parts.bats
		poison-6.12 with 6.12,6.12-poison scripts/check-vm --again 6.12 poison.py
		off-6.12 with 6.12 scripts/check-vm --again 6.12 doctor_off.bats
		locked-6.12 with 6.12 scripts/check-vm --again 6.12 doctor_locked.bats
		cpus-6.1 with 6.1 scripts/check-vm --again --cpus 4 --append maxcpus=2 --append possible_cpus=256 6.1 hostile_cpus.py
		vm-7.2 with 7.2 scripts/check-vm --again --no-once 7.2 totals.py fs.py
		vm-6.12-arm64 with 6.12-arm64 scripts/check-vm --again --no-once 6.12-arm64 ${core[*]}
		dkms-6.12 with 6.12 dkms_tap 6.12
		dkms-6.1 with 6.1 dkms_tap 6.1
		storm-6.12-long with 6.12 scripts/check-vm --again 6.12 storm.bats
		storm-7.3 with 7.3 scripts/check-vm --again 7.3 storm.bats
		storm-6.1 with 6.1 scripts/check-vm --again 6.1 storm.bats
		loop loop_tap
		mutants with 6.12 scripts/mutate ${MINUTES:+--seconds $((MINUTES * 60))}
		fields with 6.12 scripts/check-fields ${MINUTES:+--seconds $((MINUTES * 60))}
	END
}

# Print the lines of standard input from number CHECK_TURN on, modulo how many there are, and then those
# before it.
from_turn() {
	local lines turn
	mapfile -t lines
	turn=$((${CHECK_TURN:-0} % ${#lines[@]}))
	printf '%s\n' "${lines[@]:turn}" "${lines[@]:0:turn}"
}

# Build the tool, and the programs that tests run.
build_tap() {
	made "make tools" make --no-print-directory tools
	made "test programs" make --no-print-directory -C tests
	iot_tap_end
}

# The module as `make` builds it, in the tree, and for all kernels.
kernels_tap() {
	made "make modules" make --no-print-directory modules
	made "all kernels" build_others
	iot_tap_end
}

build_others() {
	local flavour failed=0
	for flavour in 6.12-poison 6.12-without $IOT_INSTALLED $IOT_FOREIGN; do
		with "$flavour" true || failed=1
	done
	return $failed
}

packages_tap() {
	made "Debian packages" scripts/check-deb
	made "DKMS" scripts/check-dkms
	iot_tap_end
}

dkms_tap() {
	scripts/check-dkms --archive "$1" 2>&1 || {
		echo "not ok - DKMS builds for $1"
		return 1
	}
	scripts/check-vm --again "$1" dkms.bats
}

# The loop of CONTRIBUTING.md, as it stands there, in a fresh clone; but not what runs parts itself.
loop_tap() {
	local command clone=$PWD/build/loop
	rm -rf "$clone"
	git clone -q . "$clone" || return
	while read -r command; do
		made "$command" env -u CHECK_UNTIL -u CHECK_TURN -u CHECK_SECONDS -u CHECK_LIMIT \
			sh -c "cd '$clone' && ${command/COMMAND/uname -r}" </dev/null
	done < <(sed -n '/^## The loop/,/^## Add/s/^    //p' CONTRIBUTING.md | sed 's/  *#.*//' | grep -v '^make check')
	iot_tap_end
}

# made NAME COMMAND...: run a command, whose own TAP does not count; the result is whether it succeeds
made() {
	local name=$1
	shift
	if "$@" | sed 's/^\(ok\|1\.\.\)/# &/'; then
		iot_tap ok "$name"
	else
		iot_tap 'not ok' "$name"
	fi
}

# with FLAVOUR[,FLAVOUR]... COMMAND...: build the modules for these kernels, and run the command. Each is
# built once, by the first part that needs it: a build begins by removing the module, which others use.
with() {
	local flavours flavour log
	IFS=, read -ra flavours <<<"$1"
	for flavour in "${flavours[@]}"; do
		log=$logs/build-$flavour
		(
			flock 9
			[ -s "$log" ] || scripts/build-all "$flavour" >"$log" 2>&1
		) 9>"$log.lock"
		if ! grep -q '^ok ' "$log" || grep -q '^not ok ' "$log"; then
			sed 's/^/# /' "$log"
			echo "not ok - build for $flavour"
			return 1
		fi
	done
	"${@:2}"
}
