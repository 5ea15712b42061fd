# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Where things are, for all suites in bats and for the other files here. Python finds lib, and what the
# suites have beside them, each by its own name.

TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
# shellcheck disable=SC2034 # used by the suites
TOP=${TESTS%/*}
PYTHONPATH=$TESTS:$TOP/tools/python
for folder in "$TESTS"/*/ "$TESTS"/vm/*/; do
	# Its modules are lib.fuse and so on.
	[ "$folder" = "$TESTS/lib/" ] || PYTHONPATH+=:${folder%/}
done
export PYTHONPATH
