# SPDX-License-Identifier: GPL-2.0
"""
The work of fuse.bats, and what its traces are compared with.

    python3 fuse.py work DIRECTORY
    python3 fuse.py equal_to_fuse|releases_of_fuse|equal_lines OURS THEIRS DIRECTORY

FUSE itself changes what a program does, so these are not compared:

- It looks up each component of a path (GETATTR), and asks for ACCESS 1 of a directory when a
  program enters it.
- A program reads a directory until nothing comes. FUSE may know that nothing will come.
- It cuts a write where a page ends: writes that follow one another are joined.
- RELEASE comes when the kernel finds the time.
- umount(8) asks for STATFS of the root.

Neither is what iotracer log asks for to find its directory: GETATTR of the root, and READLINK, as
it may be a symbolic link.

Reads are made with O_DIRECT, since FUSE fills the page cache by reads of its own.
"""
import os
import re
import sys

from collections import Counter


def work(top):
    os.umask(0) # which FUSE applies before it asks
    os.chdir(top)
    os.mkdir('hello', 0o755)
    fd = os.open('hello/world.txt', os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(fd, b'Hello World!\n')
    os.pwrite(fd, bytes(10000), 5000)
    os.fsync(fd)
    os.fdatasync(fd)
    os.ftruncate(fd, 9000)
    os.close(fd)
    fd = os.open('hello/world.txt', os.O_RDWR | os.O_DIRECT)
    os.pread(fd, 4096, 100)
    os.pread(fd, 100000, 0)
    os.close(fd)
    fd = os.open('hello/world.txt', os.O_WRONLY | os.O_APPEND)
    os.write(fd, b'more')
    os.close(fd)
    os.truncate('hello/world.txt', 77)
    os.close(os.open('hello/world.txt', os.O_WRONLY | os.O_TRUNC))
    fd = os.open('hello/world.txt', os.O_WRONLY)
    os.posix_fallocate(fd, 0, 8192)
    os.close(fd)
    os.chmod('hello/world.txt', 0o600)
    os.chmod('hello', 0o700)
    os.chown('hello/world.txt', 12, 34)
    os.chown('hello/world.txt', -1, 35)
    os.utime('hello/world.txt', (1, 2))
    os.link('hello/world.txt', 'again')
    os.symlink('hello/world.txt', 'soft')
    os.readlink('soft')
    os.rename('again', 'hello/moved')
    os.mkfifo('fifo', 0o640)
    os.mknod('null', 0o20666, os.makedev(1, 3))
    os.listdir('hello')
    os.access('hello', os.W_OK)
    os.statvfs('hello')
    os.stat('hello/moved')
    for name in 'hello/moved', 'hello/world.txt', 'soft', 'fifo', 'null':
        os.unlink(name)
    os.rmdir('hello')
    os.chdir('/')


def ours(path):
    """The lines of a trace without the time: operation and arguments."""
    with open(path, encoding='utf-8') as f:
        return [line.rstrip('\n').split(': ', 1)[1].lstrip() for line in f]


def octal(text):
    return int(text, 8)


def signed(text):
    return int(text) - (1 << 32) * (int(text) == (1 << 32) - 1)


class FuseLog:
    """The log of libfuse as lines of IOTraceCollector. It has paths where a file is opened."""

    forms = {
        r'mkdir (\S+) 0(\d+) umask': lambda s, p, m: f'MKDIR: path={p}; mode={octal(m)}',
        r'create flags: \S+ (\S+) (\d+) umask':
            lambda s, p, m: f'CREATE: path={p}; mode={octal(m)}; fi=None',
        r'open flags: (\S+) (\S+)': lambda s, f, p: f'OPEN: path={p}; flags={int(f, 16)}',
        r'read\[(\d+)\] (\d+) bytes from (\d+)':
            lambda s, fd, n, at: f'READ: path={s.paths[fd]}; length={n}; offset={at}',
        r'fsync\[(\d+)\]': lambda s, fd: f'FSYNC: path={s.paths[fd]}',
        r'truncate\[NULL\] (\d+)': lambda s, n: f'TRUNCATE: path={s.looked_up}; length={n}',
        r'truncate\[(\d+)\] (\d+)': lambda s, fd, n: f'TRUNCATE: path={s.paths[fd]}; length={n}',
        r'chmod\S* (\S+) (\d+)': lambda s, p, m: f'CHMOD: path={p}; mode={octal(m)}',
        r'chown\S* (\S+) (\d+) (\d+)':
            lambda s, p, u, g: f'CHOWN: path={p}; uid={signed(u)}; gid={signed(g)}',
        r'utimens\S* (\S+)': lambda s, p: f'UTIMENS: path={p}',
        r'link (\S+) (\S+)': lambda s, p, q: f'LINK: path={p}; new={q}',
        r'rename (\S+) (\S+)': lambda s, p, q: f'RENAME: path={p}; new={q}',
        r'symlink (\S+) (\S+)': lambda s, target, p: f'SYMLINK: path={p}; target={target}',
        r'mknod (\S+) (\d+) (\S+) umask':
            lambda s, p, m, d: f'MKNOD: path={p}; mode={octal(m)}; dev={int(d, 16)}',
        r'readlink (\S+)': lambda s, p: f'READLINK: path={p}',
        r'unlink (\S+)': lambda s, p: f'UNLINK: path={p}',
        r'rmdir (\S+)': lambda s, p: f'RMDIR: path={p}',
        r'statfs (\S+)': lambda s, p: f'STATFS: path={p}',
        r'access (\S+) (\d+)': lambda s, p, m: f'ACCESS: path={p}; mode={octal(m)}',
        r'release\[(\d+)\]': lambda s, fd: f'RELEASE: path={s.paths[fd]}',
        r'write\[(\d+)\] (\d+) bytes to (\d+)':
            lambda s, fd, n, at: s.write(s.paths[fd], int(n), int(at)),
    }

    def __init__(self, path, top):
        self.paths = {}
        self.looked_up = None
        self.lines = []
        self.end = None     # of the last write: path, offset and index of its line
        with open(path, encoding='utf-8') as f:
            for line in f:
                self.add(line.rstrip('\n').replace(top, ''))

    def write(self, path, length, offset):
        start = offset
        if self.end and self.end[:2] == (path, offset) and self.end[3] == len(self.lines):
            start = self.end[2]
            self.lines.pop()
        self.end = (path, offset + length, start, len(self.lines) + 1)
        return f'WRITE: path={path}; offset={start}; length_buf={offset + length - start}'

    def add(self, line):
        opened = re.match(r'   (?:open|create)\[(\d+)\] flags: \S+ (\S+)', line)
        if opened:
            self.paths[opened[1]] = opened[2]
        looked_up = re.match(r'LOOKUP (\S+)', line)
        if looked_up:
            self.looked_up = looked_up[1]
        for form, make in self.forms.items():
            found = re.match(form, line)
            if found:
                self.lines.append(make(self, *found.groups()))
                return


def is_compared(line):
    op = line.split(':')[0]
    return op not in ('GETATTR', 'READDIR', 'RELEASE', 'FLUSH') and \
        not (op == 'ACCESS' and line.endswith('mode=1')) and \
        line not in ('STATFS: path=/', 'READLINK: path=/')


def is_equal(is_, expected):
    if is_ != expected:
        for line in is_:
            print(line, '' if line in expected else '<- not there')
        sys.exit('expected:\n' + '\n'.join(expected))


def equal_to_fuse(our_path, their_path, top):
    expected = [line for line in FuseLog(their_path, top).lines if is_compared(line)]
    if len({line.split(':')[0] for line in expected}) < 19:
        sys.exit(f'not all operations are there: {expected}')
    is_equal([line for line in ours(our_path) if is_compared(line)], expected)


def releases(lines):
    return sorted(Counter(line for line in lines if line.startswith('RELEASE')).items())


def releases_of_fuse(our_path, their_path, top):
    is_equal(releases(ours(our_path)), releases(FuseLog(their_path, top).lines))


def equal_lines(our_path, their_path, _):
    """NFS answers READDIR otherwise, and closes what a file was opened for later."""
    is_equal([line for line in ours(our_path) if is_compared(line)],
             [line for line in ours(their_path) if is_compared(line)])


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
