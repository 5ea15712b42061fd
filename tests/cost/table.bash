# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Rows of the tables of costs. The caller sets measure, the function that prints the times of all
# columns, and base, the times without the module.
# shellcheck disable=SC2154

# added LABEL: print a row of the table. Waits first, as a kernel is slower for a moment
# after its code has been patched.
added() {
	local now i row="| $1 |"

	sleep 3
	mapfile -t now < <("$measure")
	for i in "${!base[@]}"; do
		row+=$(awk -v a="${now[i]}" -v b="${base[i]}" 'BEGIN { printf " %+.0f |", a - b }')
	done
	echo "$row"
}
