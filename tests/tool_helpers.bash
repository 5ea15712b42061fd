# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of the tool share that need no module.

# build_tool: the tool, what writes streams as the module does, and the system calls of
# tool-preload.c.
build_tool() {
	local top=$BATS_TEST_DIRNAME/..
	make -s -C "$top/tools"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I"$top/module" \
		-o "$BATS_FILE_TMPDIR/tool-stream" \
		"$top/tests/unit/tool-stream.c" "$top/module/schema.c"
	gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC \
		-o "$BATS_FILE_TMPDIR/tool-preload.so" "$top/tests/unit/tool-preload.c" -ldl
}

# preloaded VARIABLE=VALUE... COMMAND: with the system calls of tool-preload.c.
preloaded() {
	env LD_PRELOAD="$BATS_FILE_TMPDIR/tool-preload.so" "$@"
}

# seal_header FILE: makes the checksum of a trace file's header right
seal_header() {
	python3 - "$1" <<-'END'
		import struct, sys, zlib
		with open(sys.argv[1], "r+b") as f:
		    head = f.read(52)
		    f.write(struct.pack("<I", zlib.crc32(head)))
	END
}

# seal_metadata TRACE: likewise of metadata.json
seal_metadata() {
	python3 - "$1/metadata.json" <<-'END'
		import re, sys, zlib
		with open(sys.argv[1], "r+b") as f:
		    text = re.sub(rb'(?<="crc32": ")[0-9a-f]{8}', b"0" * 8, f.read(), count=1)
		    f.seek(0)
		    f.write(text.replace(b'"crc32": "00000000', b'"crc32": "%08x' % zlib.crc32(text), 1))
	END
}
