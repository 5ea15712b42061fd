# SPDX-License-Identifier: GPL-2.0
"""
A FUSE filesystem that has one file, /mnt/fuse/file. A test can hold up its reads and its
lookups of names for any time, and so make calls that may sleep without bound.

The protocol is that of <linux/fuse.h>, 7.31.
"""
import contextlib
import ctypes
import errno
import os
import select
import signal
import struct
import subprocess

from lib.process import spawn

TOP = '/mnt/fuse'
FILE = TOP + '/file'
ROOT, INODE = 1, 2

IN = struct.Struct('<IIQQIIII')
OUT = struct.Struct('<IiQ')
ATTR = struct.Struct('<6Q10I')
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR = \
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27
RELEASEDIR, INTERRUPT, BATCH_FORGET = 29, 36, 42
FOREVER = 1 << 30


def attributes(node, size):
    mode = 0o040755 if node == ROOT else 0o100644
    return ATTR.pack(node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Server:
    """Answers requests of /dev/fuse; those of @waits only if the pipe @hold is empty."""

    def __init__(self, fd, hold, size, waits=()):
        self.fd, self.hold, self.size, self.waits = fd, hold, size, waits
        self.held = []

    def reply(self, unique, data=b'', error=0):
        with contextlib.suppress(FileNotFoundError): # the caller did not wait
            os.write(self.fd, OUT.pack(OUT.size + len(data), -error, unique) + data)

    def read(self, unique, body):
        offset, size = struct.unpack_from('<8xQI', body)
        self.reply(unique, b'\1' * max(0, min(size, self.size - offset)))

    def is_held(self):
        return bool(select.select([self.hold], [], [], 0)[0])

    def answer(self, op, unique, node, body):
        if op in self.waits and self.is_held():
            self.held.append((op, unique, node, body))
        elif op == INIT:
            self.reply(unique, struct.pack('<IIIIHHIIHH32x', 7, 31, 1 << 17, 0, 16, 12, 4096, 1,
                                           32, 0))
        elif op == LOOKUP and body == b'file\0':
            self.reply(unique, struct.pack('<QQQQII', INODE, 0, FOREVER, FOREVER, 0, 0) +
                       attributes(INODE, self.size))
        elif op == LOOKUP:
            self.reply(unique, error=errno.ENOENT)
        elif op == GETATTR:
            self.reply(unique, struct.pack('<QII', FOREVER, 0, 0) + attributes(node, self.size))
        elif op in (OPEN, OPENDIR):
            self.reply(unique, bytes(16))
        elif op == READ:
            self.read(unique, body)
        elif op == STATFS:
            self.reply(unique, bytes(80))
        elif op in (RELEASE, RELEASEDIR, FLUSH):
            self.reply(unique)
        elif op not in (FORGET, BATCH_FORGET, INTERRUPT):
            self.reply(unique, error=errno.ENOSYS)

    def run(self):
        while True:
            if self.held and not self.is_held():
                self.answer(*self.held.pop(0))
                continue
            if not select.select([self.fd], [], [], 0.02)[0]:
                continue
            try:
                request = os.read(self.fd, 1 << 18)
            except OSError as e:
                if e.errno == errno.ENODEV: # unmounted
                    return
                raise
            _, op, unique, node = IN.unpack_from(request)[:4]
            self.answer(op, unique, node, request[IN.size:])


class Hold:
    """While it is set the server answers no request that waits for it."""

    def __init__(self):
        self.r, self.w = os.pipe()

    def set(self):
        os.write(self.w, b'x')

    def clear(self):
        os.read(self.r, 1)


@contextlib.contextmanager
def mounted(pages, waits=(LOOKUP, READ)):
    """Mount the filesystem, with @pages pages in FILE. Yields: the Hold of its server."""
    subprocess.run(['modprobe', 'fuse'], check=True)
    os.makedirs(TOP, exist_ok=True)
    fd = os.open('/dev/fuse', os.O_RDWR)
    hold = Hold()
    options = f'fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other'
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b'fuse', TOP.encode(), b'fuse', 0, options.encode()):
        raise OSError(ctypes.get_errno(), 'mount -t fuse')
    server = spawn(Server(fd, hold.r, pages * 4096, waits).run)
    os.close(fd)
    try:
        yield hold
    finally:
        libc.umount2(TOP.encode(), 2) # MNT_DETACH
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
