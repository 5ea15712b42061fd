# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The categories, read from the module's lists, so that a new one needs no edit in a suite.

# shellcheck source=tests/lib/top.bash
. "${BASH_SOURCE[0]%/*}/top.bash"

# categories [NAME...]: print the names of all categories but these, one a line
categories() {
	sed -n 's/^IOT_CATEGORY(\([a-z_]*\),.*/\1/p' "$TOP/module/uapi/categories.def" |
		grep -vxFf <(printf '%s\n' "$@" '#')
}

# event_id NAME: print the id of the records of a category
event_id() {
	sed -n "s/^IOT_EVENT($1, [A-Z_]*, \([0-9]*\),.*/\1/p" "$TOP/module/uapi/events.def"
}

# has_path NAME: whether the records of a category name a file
has_path() {
	grep -qE "^IOT_FIELD\($1, u64, path, path," "$TOP/module/uapi/events.def"
}
