# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the tests of the tool that need no module.

# build_tool: build the tool, tool-stream, which writes streams as the module does, and
# tool-preload.so, which replaces system calls.
build_tool() {
	local top=$BATS_TEST_DIRNAME/..
	make -s -C "$top/tools"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$top/module" \
		-o "$BATS_FILE_TMPDIR/tool-stream" \
		"$top/tests/unit/tool-stream.c" "$top/module/core/schema.c"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC \
		-o "$BATS_FILE_TMPDIR/tool-preload.so" "$top/tests/unit/tool-preload.c" -ldl
}

# preloaded VARIABLE=VALUE... COMMAND: run COMMAND with the system calls of tool-preload.c.
preloaded() {
	env LD_PRELOAD="$BATS_FILE_TMPDIR/tool-preload.so" "$@"
}

# seal_header FILE, seal_metadata TRACE: correct the checksum
seal_header() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$BATS_TEST_DIRNAME/lib/trace_file.py" seal_header "$1"
}

seal_metadata() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$BATS_TEST_DIRNAME/lib/trace_file.py" seal_metadata "$1/metadata.json"
}

# idle_category NAME: make the files of a stopped category below proc/ in the current directory.
idle_category() {
	mkdir -p "proc/$1"
	printf '%s\n' stop 'size 16384' 'sample 1' 'mode overwrite' 'filter none' >"proc/$1/control"
	printf '%s\n' 'seen 0' 'missed 0' 'cpus 4' 'paths_missed 0' >"proc/$1/stats"
}

# with_trace_file: run the Python code on standard input, with all of trace_file.py imported.
with_trace_file() {
	{ echo 'from lib.trace_file import *'; cat; } |
		PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 python3 -
}
