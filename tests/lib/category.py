# SPDX-License-Identifier: GPL-2.0
"""What the tests of categories share: commands, counts, the log and the stream."""
import os
import re
import struct

from lib.iot import IOT, is_equal, is_true, join, must, slurp, write_bytes
from lib.process import spawn, waits_in

FS = IOT + '/fs'
ONLY = 'op=READ,WRITE,DIO_READ,DIO_WRITE'
DEFAULT = 'stop\nsize 16384\nsample 1\nmode overwrite\nfilter none\n'
BLOCK = struct.Struct('<IIIIQQ')
HEADER = struct.Struct('<QIIQIIQII')


def command(*lines, category='fs'):
    for line in lines:
        must(line, f'{IOT}/{category}/control')


def settings(category='fs'):
    """What control shows without its comments: lines that can be written back."""
    lines = slurp(f'{IOT}/{category}/control').splitlines(True)
    return ''.join(line for line in lines if not line.startswith('#'))


def stats(category='fs'):
    text = slurp(f'{IOT}/{category}/stats')
    return {k: int(v) for k, v in (line.split() for line in text.split('\n')[:-1])}


def is_conserved(category='fs'):
    s = stats(category)
    is_true(s['seen'] == s['stored'] + s['overwritten'] + s['lost'], str(s))
    return s


def events(path=None, category='fs'):
    """Lines of the log as dictionaries, all or those of a path. EARLY, of block, has no comm."""
    rows = []
    for line in slurp(f'{IOT}/{category}/log').split('\n')[:-1]:
        m = re.fullmatch(r'(\d+\.\d{9}) (\w+) (\S*)-(\d+)/(\d+)((?: \w+=\S+)*)', line)
        is_true(m, f'not a line of a log: {line!r}')
        row = dict(f.split('=', 1) for f in m[6].split())
        row.update(time=float(m[1]), op=m[2], comm=m[3], pid=int(m[4]), tid=int(m[5]))
        rows.append(row)
    return [r for r in rows if path is None or r.get('path') == path]


class Stream:
    """An open stream of category fs: a header, then blocks."""

    def __init__(self):
        self.fd = os.open(FS + '/stream', os.O_RDONLY)
        self.data = os.read(self.fd, 1 << 20)
        magic, self.version, size, _, event, self.record, _, layout, self.cpus = \
            HEADER.unpack_from(self.data)
        is_equal((magic, event, layout, size), (0x3152544f49, 2, 1, HEADER.size))
        self.data = self.data[size:]
        self.next = {}
        self.gaps = 0
        self.rows = []
        self.take()

    def take(self):
        """Parse the blocks that were read. Each seq follows the previous one and the gap."""
        at = 0
        while at < len(self.data):
            magic, cpu, event, count, first, gap = BLOCK.unpack_from(self.data, at)
            is_equal((magic, event), (0x4b4c4249, 2))
            is_true(cpu < self.cpus, cpu)
            is_equal(first, self.next.get(cpu, first - gap) + gap)
            self.gaps += gap
            at += BLOCK.size
            for i in range(count):
                row = self.data[at:at + self.record]
                is_equal(struct.unpack_from('<Q', row)[0], first + i)
                self.rows.append(row)
                at += self.record
            self.next[cpu] = first + count
        is_equal(at, len(self.data))

    def read(self, size=1 << 20):
        n = 0
        while True:
            self.data = os.read(self.fd, size)
            if not self.data:
                return n
            n += len(self.data)
            self.take()

    def close(self):
        os.close(self.fd)


def mine(*conditions):
    """Trace the reads and writes of this process's children only."""
    command('filter ' + ' '.join((f'tree={os.getpid()}', ONLY) + conditions))


def do(function, *args):
    """Call it in a child, and wait for that. Return the child's pid."""
    pid = spawn(function, *args)
    join(pid)
    return pid


def overlapping(path):
    """
    A child begins to read a pipe on one CPU. Another one writes a file three times on another
    CPU before that read ends. The first CPU has no other event of theirs, or of who ends the read,
    before it. Return: their pids.
    """
    def on(cpu, function, *args):
        os.sched_setaffinity(0, {cpu})
        function(*args)

    reading, writing = os.pipe()
    reader = spawn(on, 0, os.read, reading, 1)
    waits_in(reader, 'pipe_read', 'anon_pipe_read')
    writer = do(on, 1, write_bytes, path, 0, 3)
    do(on, 1, os.write, writing, b'x')
    join(reader)
    os.close(reading)
    os.close(writing)
    return reader, writer


def clean_up():
    must(DEFAULT, FS + '/control')
    command('reset')


def stops(*categories):
    """What stops categories that a test may leave started."""
    def after():
        for name in categories:
            if os.path.exists(f'{IOT}/{name}'):
                command('stop', category=name)
    return after


def cleaning(test):
    def run():
        clean_up()
        try:
            test()
        finally:
            os.chdir('/')
            if os.path.exists(FS):
                clean_up()
    return run
