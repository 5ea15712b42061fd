# SPDX-License-Identifier: GPL-2.0
"""
A FUSE filesystem in /mnt/fuse: file, dir/file, and link, which leads to file. A test can hold up its
reads and its lookups of names for any time, and so make calls that may sleep without bound. Or it
has the server stop answering altogether at any of its requests (Hold.stop()), and go on later.

The protocol is that of <linux/fuse.h>, 7.31.
"""
import contextlib
import ctypes
import errno
import mmap
import os
import select
import signal
import struct
import subprocess
import time

from lib.process import spawn

TOP = '/mnt/fuse'
FILE = TOP + '/file'
ROOT, INODE, DIR, INNER, LINK = range(1, 6)
NODES = {(ROOT, b'file'): INODE, (ROOT, b'dir'): DIR, (DIR, b'file'): INNER, (ROOT, b'link'): LINK}
MODES = {ROOT: 0o040755, DIR: 0o040755, LINK: 0o120777}

IN = struct.Struct('<IIQQIIII')
OUT = struct.Struct('<IiQ')
ATTR = struct.Struct('<6Q10I')
LOOKUP, FORGET, GETATTR, READLINK, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = \
    1, 2, 3, 5, 14, 15, 16, 17, 18, 20, 25, 26
OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 27, 28, 29, 36, 42
UNANSWERED = FORGET, BATCH_FORGET, INTERRUPT
FOREVER = 1 << 30


class Hold:
    """
    What the server answers. In memory that it shares with the test. Each word has one writer, the
    test or the server: what the one says, the other does not take back.
    """

    ANSWERS, HOLDS, STOPS = range(3)
    ANY = 0
    # The words: three that the test writes first, two of the server, the kinds of all requests.
    MODE, OP, AFTER, STOP, STOPPED, N, OPS = range(7)

    def __init__(self):
        self.memory = mmap.mmap(-1, 1 << 16)
        self.state = memoryview(self.memory).cast('I')
        self.answered = self.at_stop = 0 # of the server: requests answered since a stop(), which one

    def set(self):
        """Answer none of the requests that @waits names."""
        self.state[self.MODE] = self.HOLDS

    def clear(self):
        """Answer everything, also what was held up."""
        self.state[self.MODE] = self.ANSWERS

    def stop(self, after=0, op=ANY):
        """Answer that many more requests, or requests of a kind, and nothing after that."""
        self.clear()
        self.state[self.OP], self.state[self.AFTER] = op, after
        self.state[self.STOP] += 1
        self.state[self.MODE] = self.STOPS

    def has_stopped(self):
        """Has the server, since the last stop(), had a request that it does not answer?"""
        return self.state[self.STOPPED] == self.state[self.STOP] > 0

    def wait_stopped(self):
        end = time.monotonic() + 300
        while not self.has_stopped():
            if time.monotonic() > end:
                raise TimeoutError('the server was not asked')
            time.sleep(0.01)

    def requests(self):
        """The kinds of all requests so far."""
        return list(self.state[self.OPS:self.OPS + self.state[self.N]])

    # Called by the server

    def note(self, op):
        n = self.state[self.N]
        if n < len(self.state) - self.OPS:
            self.state[self.OPS + n] = op
            self.state[self.N] = n + 1

    def count(self, op):
        """A request while the server is to stop. It stops at the first that it is not to answer."""
        if self.at_stop != self.state[self.STOP]:
            self.at_stop, self.answered = self.state[self.STOP], 0
        if self.state[self.OP] in (self.ANY, op):
            if self.answered == self.state[self.AFTER]:
                self.state[self.STOPPED] = self.at_stop
            self.answered += 1

    def holds(self, op, waits):
        if op in UNANSWERED or op == INIT:
            return False
        mode = self.state[self.MODE]
        if mode == self.STOPS:
            self.count(op)
            return self.has_stopped()
        return mode == self.HOLDS and op in waits

    def holds_none(self):
        mode = self.state[self.MODE]
        return mode == self.ANSWERS or (mode == self.STOPS and not self.has_stopped())


class Server:
    """
    Answers requests of /dev/fuse as @hold allows. The data of files is zeros, or that of the
    descriptor @data. The kernel keeps names and attributes for @valid seconds.
    """

    def __init__(self, fd, hold, size, waits=(), data=None, valid=FOREVER):
        self.fd, self.hold, self.size, self.waits = fd, hold, size, waits
        self.data, self.valid = data, valid
        self.held = []

    def attributes(self, node):
        size = 4 if node == LINK else self.size if node not in MODES else 0
        return ATTR.pack(node, size, size // 512, 0, 0, 0, 0, 0, 0, MODES.get(node, 0o100644), 1,
                         0, 0, 0, 4096, 0)

    def reply(self, unique, data=b'', error=0):
        with contextlib.suppress(FileNotFoundError): # the caller did not wait
            os.write(self.fd, OUT.pack(OUT.size + len(data), -error, unique) + data)

    def read(self, unique, body):
        offset, size = struct.unpack_from('<8xQI', body)
        size = max(0, min(size, self.size - offset))
        self.reply(unique, b'\1' * size if self.data is None else os.pread(self.data, size, offset))

    def write(self, unique, body):
        offset, size = struct.unpack_from('<8xQI', body)
        os.pwrite(self.data, body[40:40 + size], offset)
        self.reply(unique, struct.pack('<II', size, 0))

    def look_up(self, unique, node, body):
        found = NODES.get((node, body.rstrip(b'\0')))
        if not found:
            self.reply(unique, error=errno.ENOENT)
            return
        self.reply(unique, struct.pack('<QQQQII', found, 0, self.valid, self.valid, 0, 0) +
                   self.attributes(found))

    def answer(self, op, unique, node, body):
        if self.hold.holds(op, self.waits):
            self.held.append((op, unique, node, body))
        elif op == INIT:
            self.reply(unique, struct.pack('<IIIIHHIIHH32x', 7, 31, 1 << 17, 0, 16, 12, 4096, 1,
                                           32, 0))
        elif op == LOOKUP:
            self.look_up(unique, node, body)
        elif op == GETATTR:
            self.reply(unique, struct.pack('<QII', self.valid, 0, 0) + self.attributes(node))
        elif op == READLINK:
            self.reply(unique, b'file')
        elif op in (OPEN, OPENDIR):
            self.reply(unique, bytes(16))
        elif op == READ:
            self.read(unique, body)
        elif op == WRITE and self.data is not None:
            self.write(unique, body)
        elif op == STATFS:
            self.reply(unique, struct.pack('<QQQQQIIII24x', 1000, 0, 0, 10, 0, 4096, 255, 4096, 0))
        elif op in (RELEASE, RELEASEDIR, FLUSH, READDIR, FSYNC):
            self.reply(unique)
        elif op not in UNANSWERED:
            self.reply(unique, error=errno.ENOSYS)

    def run(self):
        while True:
            if self.held and self.hold.holds_none():
                self.answer(*self.held.pop(0))
                continue
            if not select.select([self.fd], [], [], 0.02)[0]:
                continue
            try:
                request = os.read(self.fd, 1 << 18)
            except OSError as e:
                if e.errno == errno.ENODEV: # unmounted
                    return
                if e.errno == errno.ENOENT: # interrupted
                    continue
                raise
            _, op, unique, node = IN.unpack_from(request)[:4]
            self.hold.note(op)
            self.answer(op, unique, node, request[IN.size:])


def mount(top, options=''):
    """Mount a filesystem that has no server yet. Return: its /dev/fuse."""
    fd = os.open('/dev/fuse', os.O_RDWR)
    options = f'fd={fd},rootmode=40000,user_id=0,group_id=0{options}'
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b'fuse', top.encode(), b'fuse', 0, options.encode()):
        raise OSError(ctypes.get_errno(), 'mount -t fuse')
    return fd


@contextlib.contextmanager
def mounted(pages, waits=(LOOKUP, READ), data=None, valid=FOREVER):
    """
    Mount the filesystem, with @pages pages in each file. Yields: the Hold of its server. Then the
    server is killed, whatever it holds up.
    """
    subprocess.run(['modprobe', 'fuse'], check=True)
    os.makedirs(TOP, exist_ok=True)
    hold = Hold()
    fd = mount(TOP, ',allow_other')
    server = spawn(Server(fd, hold, pages * 4096, waits, data, valid).run)
    os.close(fd)
    try:
        yield hold
    finally:
        ctypes.CDLL(None).umount2(TOP.encode(), 2) # MNT_DETACH
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
