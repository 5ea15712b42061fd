# SPDX-License-Identifier: GPL-2.0
"""What tests need to make or change the files of a trace. tools/trace/trace.h describes them."""
import ctypes
import json
import os
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


# Bytes of struct trace_frame.
FRAME = 128
# The index of a frame that may have anything: no reader skips it.
ANYTHING = struct.pack("<10Q", *4 * (0, 2**64 - 1), 2**64 - 1, 0)


def frame(content, events, packed=None, encoding=0, number=0, index=ANYTHING):
    """A frame of a file, the first one, padded. @packed: the content in that encoding"""
    stored = packed or content
    head = struct.pack("<IIIIQQQ", 0x4d415246, encoding, len(stored), len(content), events, 0, number)
    head += index + struct.pack("<I", crc32c(stored))
    head += struct.pack("<I", crc32c(head))
    return head + stored + bytes(-len(head + stored) % 4096)


def zstd(data):
    """The data compressed, by the library that the tool uses."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = ctypes.c_size_t,
    library.ZSTD_compress.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
                                      ctypes.c_int)
    packed = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    length = library.ZSTD_compress(packed, len(packed), data, len(data), 1)
    return packed.raw[:length]


def unzstd(data, length):
    """Undoes zstd()."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    plain = ctypes.create_string_buffer(length)
    assert library.ZSTD_decompress(plain, length, data, len(data)) == length
    return plain.raw


def transposed(records, size):
    """Records as tools/trace/transpose.h says."""
    words = [struct.unpack_from("<QQ", records, at) for at in range(0, len(records), size)]
    last, changed = (0, 0), b""
    for at, head in zip(range(0, len(records), size), words):
        changed += struct.pack("<QQ", *((new - old) % 2**64 for new, old in zip(head, last)))
        changed += records[at + 16:at + size]
        last = head
    return b"".join(changed[i::size] for i in range(size))


def block(cpu, event, count, first, gap=0):
    """The head of a block: struct iot_stream_block."""
    return struct.pack("<IIIIQQ", 0x4b4c4249, cpu, event, count, first, gap)


def record(size, seq):
    """A record of any category: seq, time and latency. All other fields are 0."""
    return struct.pack("<QQQ", seq, 1000 * (seq + 1), 5).ljust(size, b"\0")


def heads_of_blocks(trace):
    """(CPU, first seq, events, gap) of each block in the first frame of fs, which is compressed."""
    with open(trace + "/fs.iot", "rb") as f:
        size = struct.unpack_from("<I", f.read(4096), 28)[0]
        stored, length = struct.unpack_from("<II", f.read(FRAME), 8)
        content, at = unzstd(f.read(stored), length), 0
    while at < length and struct.unpack_from("<I", content, at)[0] == 0x4b4c4249:
        _, cpu, _, count, first, gap = struct.unpack_from("<IIIIQQ", content, at)
        yield cpu, first, count, gap
        at += 32 + count * size


def sizes_of_frames(trace):
    """Bytes of content of each frame of fs."""
    with open(trace + "/fs.iot", "rb") as f:
        f.seek(4096)
        while head := f.read(FRAME):
            stored, length = struct.unpack_from("<II", head, 8)
            yield length
            f.seek(-(-(FRAME + stored) // 4096) * 4096 - FRAME, os.SEEK_CUR)


def note(length, seq, cpu=0, text=None):
    """The command line of the process that a record is about: struct trace_note."""
    text = text or b"\1" * length
    return struct.pack("<IIQQ", 0x45544f4e, length, seq, cpu) + text


def add_note(file, cpu, seq, text):
    """Add a note to the only frame of a file, which stays as long as it is: it is padded."""
    with open(file, "r+b") as f:
        f.seek(4096)
        stored, _, events = struct.unpack_from("<IIQ", f.read(FRAME), 8)
        content = f.read(stored)
        length = os.fstat(f.fileno()).st_size
        f.seek(4096)
        f.write(frame(content + note(len(text), seq, cpu, text + bytes(-len(text) % 8)), events))
        assert f.tell() == length, (f.tell(), length)


def one_frame(trace, content, events, compress=False):
    """
    Replace all frames of fs by one with @events events: content(bytes of a record). @compress: its
    records are transposed already
    """
    with open(trace + "/fs.iot", "r+b") as f:
        size = struct.unpack_from("<I", f.read(4096), 28)[0]
        f.truncate(4096)
        made = content(size)
        f.write(frame(made, events, zstd(made), 2) if compress else frame(made, events))
        length = f.tell()
    with open(trace + "/metadata.json", "r+", encoding="utf-8") as f:
        metadata = json.load(f)
        metadata["categories"][0].update(events=events, frames=1, bytes=length, seq_by_cpu={})
        f.seek(0)
        f.truncate()
        json.dump(metadata, f)
    seal_metadata(trace + "/metadata.json")


def set_clocks(trace, realtime):
    """The trace begins at 1 s of the monotonic clock; at its end, at 2 s, the time of day is this."""
    name = trace + "/metadata.json"
    with open(name, encoding="utf-8") as f:
        metadata = json.load(f)
    metadata["begin"].update(monotonic_ns=1000000000, realtime_ns=1500000000000000000)
    metadata["end"].update(monotonic_ns=2000000000, realtime_ns=realtime)
    with open(name, "w", encoding="utf-8") as f:
        json.dump(metadata, f)
    seal_metadata(name)


def seal_header(name):
    """Correct the checksum of a trace file's header."""
    with open(name, "r+b") as f:
        f.write(struct.pack("<I", crc32c(f.read(52))))


def seal_metadata(name):
    """Correct the checksum of metadata.json."""
    with open(name, "r+b") as f:
        text = re.sub(rb'(?<="crc32": ")[0-9a-f]{8}', b"0" * 8, f.read(), count=1)
        f.seek(0)
        f.write(text.replace(b'"crc32": "00000000', b'"crc32": "%08x' % zlib.crc32(text), 1))


if __name__ == "__main__":
    {"seal_header": seal_header, "seal_metadata": seal_metadata}[sys.argv[1]](*sys.argv[2:])
