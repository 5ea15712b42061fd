# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash

# wait_for COMMAND...: repeat it until it succeeds. It is for what has to happen: the limit, five
# minutes, only ends a test that has failed, however slow the machine is.
wait_for() {
	local i
	for ((i = 0; i < 3000; i++)); do
		"$@" && return
		sleep 0.1
	done
	echo "in five minutes this did not succeed: $*" >&2
	return 1
}
