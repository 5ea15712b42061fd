# SPDX-License-Identifier: GPL-2.0
"""What tests that make or change traces need: see tools/trace.h."""
import re
import struct
import sys
import zlib


def table_entry(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    return byte


TABLE = [table_entry(byte) for byte in range(256)]


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 255]
    return value ^ 0xffffffff


def frame(content, events):
    """The first frame of a file, filled up."""
    head = struct.pack("<IIIIQQQI", 0x4d415246, 0, len(content), len(content), events, 0, 0,
                       crc32c(content))
    head += struct.pack("<I", crc32c(head))
    return head + content + bytes(-len(head + content) % 4096)


def seal_header(name):
    """Makes the checksum of a trace file's header right."""
    with open(name, "r+b") as f:
        f.write(struct.pack("<I", crc32c(f.read(52))))


def seal_metadata(name):
    """Makes that of metadata.json right."""
    with open(name, "r+b") as f:
        text = re.sub(rb'(?<="crc32": ")[0-9a-f]{8}', b"0" * 8, f.read(), count=1)
        f.seek(0)
        f.write(text.replace(b'"crc32": "00000000', b'"crc32": "%08x' % zlib.crc32(text), 1))


if __name__ == "__main__":
    {"seal_header": seal_header, "seal_metadata": seal_metadata}[sys.argv[1]](*sys.argv[2:])
