# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by the tests of the tool that need no module.

# shellcheck source=tests/lib/categories.bash
. "${BASH_SOURCE[0]%/*}/categories.bash"
# shellcheck source=tests/lib/wait.bash
. "${BASH_SOURCE[0]%/*}/wait.bash"

# build_tool: build the tool, tool-stream, which writes streams as the module does, and
# tool-preload.so, which replaces system calls.
build_tool() {
	make -s -C "$TOP/tools"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$TOP/module" \
		-o "$BATS_FILE_TMPDIR/tool-stream" \
		"$TOP/tests/unit/tool-stream.c" "$TOP/module/core/schema.c"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC \
		-o "$BATS_FILE_TMPDIR/tool-preload.so" "$TOP/tests/unit/tool-preload.c" -ldl
}

# tool_libraries: print what the tool is linked with
tool_libraries() {
	# shellcheck disable=SC2016 # for make
	make -s -C "$TOP/tools" --eval 'libraries: ; @echo $(LDLIBS)' libraries
}

# use_tool: find the tool and what build_tool made beside it
use_tool() {
	PATH=$TOP/tools:$BATS_FILE_TMPDIR:$PATH
	export LC_ALL=C.UTF-8 IOTRACER_RUN=$BATS_TEST_TMPDIR/run
}

# preloaded VARIABLE=VALUE... COMMAND: run COMMAND with the system calls of tool-preload.c.
preloaded() {
	env LD_PRELOAD="$BATS_FILE_TMPDIR/tool-preload.so" "$@"
}

# seal_header FILE, seal_metadata TRACE: correct the checksum
seal_header() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$TESTS/lib/trace_file.py" seal_header "$1"
}

seal_metadata() {
	PYTHONDONTWRITEBYTECODE=1 python3 "$TESTS/lib/trace_file.py" seal_metadata "$1/metadata.json"
}

# idle_category NAME: make the files of a stopped category below proc/ in the current directory.
idle_category() {
	mkdir -p "proc/$1"
	printf '%s\n' stop 'size 16384' 'sample 1' 'mode overwrite' 'filter none' >"proc/$1/control"
	printf '%s\n' 'seen 0' 'missed 0' 'cpus 4' 'paths_missed 0' >"proc/$1/stats"
}

# small_trace TRACE [OPTION]...: a trace of four frames of twelve events of three CPUs, and a loss of
# three more, which is recorded once. In the current
# directory are proc/, with category fs, and $work.
small_trace() {
	local kept=$BATS_FILE_TMPDIR/small${*:2}
	[ -d "$kept" ] || record_small "$kept" "${@:2}"
	cp -r "$kept" "$1"
}

record_small() {
	tool-stream layout=1 event=2 </dev/null >proc/fs/stream
	tool-stream layout=2 </dev/null >proc/paths
	cat >work <<-'END'
		for frame in 0 1 2 3; do
			for ((i = 12 * frame; i < 12 * frame + 12; i++)); do
				cpu=$((i % 3)) gap=
				[ "$i" != 28 ] || gap=gap=3
				seq=$((i / 3 + 5 * (cpu == 2) + 3 * (cpu == 1 && i > 27)))
				echo "cpu=$cpu seq=$seq time=$((1000000 + 1000 * i)) latency=5 op=1 comm=x path=$((frame + 1)) $gap"
			done | tool-stream continue layout=1 event=2 >>proc/fs/stream
			echo "id=$((frame + 1)) text=/d/f$frame" | tool-stream continue layout=2 >>proc/paths
			# wait until the recorder has written these events as a frame of their own
			until [ "$(stat -c %s "$1/fs.iot")" -ge $((8192 + 4096 * frame)) ]; do sleep 0.1; done
		done
	END
	# shellcheck disable=SC2154 # set by the suite
	iotracer record -o "$@" -- bash -e work "$1" 2>"$work/summary"
}

# with_trace_file: run the Python code on standard input, with all of trace_file.py imported.
with_trace_file() {
	{ echo 'from lib.trace_file import *'; cat; } |
		PYTHONDONTWRITEBYTECODE=1 python3 -
}

# target NAME FILE [LISTED_PATH [GENERATION]]: make a target as the module would show it
target() {
	local dir=$IOTRACER_PROC/$1
	mkdir "$dir"
	echo "1 364.358689497 100 3" >"$dir/control"
	{
		echo "target $1"
		stat -c $'device %Hd:%Ld\ninode %i' "$2"
		printf '%s\n' "generation ${4:-$(generation "$2")}" 'max_events 100' 'memory_bytes 16384' \
			'level seen stored overwritten lost missed' \
			'vfs 10 3 7 0 0' 'blk 3 0 2 1 4' 'total 13 3 9 1 4'
	} >"$dir/stats"
	tool-stream </dev/null >"$dir/stream"
	printf '86.525308709;W;0;4096;VFS;dd;1847\n' >"$dir/log"
	echo "$1 ${3:-$2}" >>"$IOTRACER_PROC/control"
}

# generation FILE: print what FS_IOC_GETVERSION returns, 0 if the filesystem does not support it
generation() {
	lsattr -dv "$1" 2>/dev/null | { read -r number _ && echo "$number" || echo 0; }
}

# no_losses NAME: set the counters of a target so that no event is missing
no_losses() {
	sed -i 's/^\(vfs\|blk\|total\) .*/\1 0 0 0 0 0/' "$IOTRACER_PROC/$1/stats"
}

# unprivileged COMMAND...: run it as nobody if root runs the tests
unprivileged() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# completed WORD...: print what bash offers for the last word, which is incomplete
completed() {
	bash -c 'source "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		complete -p iotracer >/dev/null && _iotracer iotracer && printf "%s\n" "${COMPREPLY[@]}"' \
		- "$TOP/tools/completion/iotracer.bash" "$@" | sort | tr '\n' ' '
}
