# SPDX-License-Identifier: GPL-2.0
"""
Category fs records what happens: each operation is done once, on four filesystems. Then there must
be exactly its records, and every field must agree with stat(2), the arguments and the result of the
call.

Each operation of category fs is done once. check(call, row...) requires that it leaves exactly
these records, with the right value in every field. Only this process is traced.
"""
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import re
import signal
import struct
import subprocess
import threading
import time

import new_kinds
from lib.category import cleaning, command, events, FS, stats
from lib.iot import is_equal, is_true, join, reload, slurp, unload
from lib.kernel import HAS_BTF, VERSION
from lib.machine import new_filesystem, new_tmpfs, umount
from lib.process import PAUSE, spawn, waits_in
from lib.suite import reloads, Skip, Suite
from lib.syscalls import Calls32, MACHINE, native, Uring


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/small', '8M')
    new_filesystem('ext4', '/dev/vdb', '/mnt/ext4')
    new_filesystem('xfs', '/dev/vdc', '/mnt/xfs')
    new_filesystem('btrfs', '/dev/vdd', '/mnt/btrfs')


def teardown():
    unload()
    umount('/mnt/files', '/mnt/small', '/mnt/ext4', '/mnt/xfs', '/mnt/btrfs')


def needs(symbol, words):
    """Skip the test on a kernel without a function whose line in kallsyms matches."""
    with open('/proc/kallsyms', encoding='ascii') as f:
        if not re.search(symbol, f.read(), re.M):
            raise Skip(words)


SUITE = Suite(setup=setup, teardown=teardown, after=new_kinds.unmount, around=cleaning)

BASES = '/mnt/ext4', '/mnt/xfs', '/mnt/btrfs', '/mnt/files'
AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_SYMLINK_NOFOLLOW = 0x100
AT_REMOVEDIR = 0x200
AT_EACCESS = 0x200
NOBODY = 65534
BAD_ADDRESS = -4096  # an address of the kernel
OLD_KERNEL = VERSION < (6, 2)
ALL_BUT_PSEUDO = 'file,dir,symlink,pipe,socket,device,other'
EVENTS = 500         # that the ring of a CPU keeps: more than the call of a check() causes
RETURNED = object()  # stands for what the call returned
# Stands for the reads and writes by which the kernel carries out a call. They transfer as many
# bytes as the call, and have the flags of INNER_FLAGS.
INNER = object()
INNER_FLAGS = {'SENDFILE': 'KERNEL|SENDFILE', 'SPLICE': 'SPLICE|KERNEL',
               'COPY_FILE_RANGE': 'KERNEL|COPY'}
COMMON = {'seq', 'time', 'latency', 'cpu', 'cgroup', 'ppid', 'uid', 'pid', 'tid', 'comm'}


def number(device):
    return f'{os.major(device)}:{os.minor(device)}'


def identity(stat, suffix=''):
    return {'inode' + suffix: str(stat.st_ino), 'device' + suffix: number(stat.st_dev)}


def exists(path):
    try:
        return os.lstat(path)
    except OSError:
        return None


class Row:
    """
    One record. Its inode and device are those that stat(2) reports for the path now, or
    those of @of, an earlier result of stat(2). If @of is None, the record has neither.
    """

    def __init__(self, op, path=None, path2=None, of=..., of2=..., result=RETURNED, **fields):
        self.op, self.path, self.path2, self.of, self.of2 = op, path, path2, of, of2
        self.result, self.fields = result, fields

    def expected(self, returned):
        row = {'op': self.op}
        for suffix, path, of in ('', self.path, self.of), ('2', self.path2, self.of2):
            if path is None:
                continue
            row['path' + suffix] = path.replace(' ', '\\040')
            of = exists(path) if of is ... else of
            if of:
                row |= identity(of, suffix)
        for name, value in self.fields.items() | {('result', self.result)}:
            value = returned if value is RETURNED else value
            if name == 'address':
                row[name] = hex(value)
            elif value != 0 or name in ('result', 'fd'):
                row[name] = str(value)
        return row


def is_caller(row, before, after, worker, uid, program):
    """The record names the caller, and its latency is within the time of the call."""
    pid, parent = (program.pid, os.getpid()) if program else (os.getpid(), os.getppid())
    is_equal((row['pid'], row.get('ppid'), row.get('uid', '0')), (pid, str(parent), str(uid)))
    if not worker:
        is_equal((row['tid'], row['comm']),
                 (pid, os.path.basename(program.args[0])) if program else
                 (threading.get_native_id(), 'python3'))
    is_true(0 <= int(row.get('latency', 0)) <= after - before, (row, after - before))
    is_true(int(row['cpu']) < os.cpu_count(), row)


def check(call, *rows, worker=False, uid=0, program=None):
    """
    The call leaves exactly these records. Return: what the call returned.

    worker: another thread may have carried out the call; uid: the user of the caller;
    program: the Popen of the caller, if it is not this process.
    """
    command('reset')
    before = time.monotonic_ns()
    returned = call()
    after = time.monotonic_ns()
    seen = [e for e in events() if e['pid'] == (program.pid if program else os.getpid())]
    s = stats()
    is_equal((s['overwritten'], s['lost']), (0, 0))
    for row in seen:
        is_caller(row, before, after, worker, uid, program)
    if INNER in rows:
        rows = [row for row in rows if row is not INNER]
        flags = INNER_FLAGS[rows[0].op] + ('|URING' if worker else '')
        inner = [e for e in seen if e.get('flags') == flags]
        for op in 'READ', 'WRITE':
            sizes = [int(e['result']) for e in inner if e['op'] == op]
            is_true(sum(sizes) in (0, returned), seen)
        if rows[0].op == 'SENDFILE':
            is_true('WRITE' in [e['op'] for e in inner], seen)
        seen = [e for e in seen if e not in inner]
    found = [{k: v for k, v in row.items() if k == 'op' or k not in COMMON} for row in seen]
    # It depends on the kernel whether a CLOSE or the RELEASE that it causes ends first.
    expected = [row.expected(returned) for row in rows]
    is_equal(sorted(found, key=in_order), sorted(expected, key=in_order))
    return returned


def in_order(row):
    return sorted(row.items())


def closes(fd, path, flags='O_RDWR|O_LARGEFILE', of=...):
    """The records of a close(2) that drops the last reference to the open file."""
    of = os.fstat(fd) if of is ... else of
    return (Row('CLOSE', path, of=of, fd=fd, result=0),
            Row('RELEASE', path, of=of, flags=flags, result=0))


def everywhere(test):
    """Run a test in an empty directory of each filesystem, and trace this process."""
    def one(home):
        os.system(f'rm -rf {home}')
        os.mkdir(home)
        os.chdir(home)
        command(f'filter pid={os.getpid()}')
        try:
            test(home)
        except AssertionError as e:
            raise AssertionError(f'in {home}: {e}') from e
        finally:
            os.chdir('/')

    def run():
        command(f'size {EVENTS}', 'start')
        try:
            for base in BASES:
                one(f'{base}/{test.__name__}')
        finally:
            command('stop')
    run.__name__ = test.__name__
    return run


def make(path, size=0):
    with open(path, 'wb') as f:
        f.truncate(size)
    return path


def as_nobody(call):
    os.seteuid(NOBODY)
    try:
        return call()
    finally:
        os.seteuid(0)


def buffer(size=4096):
    return ctypes.create_string_buffer(size)


def error(name):
    return -getattr(errno, name)

# Opening and closing


@everywhere
def opening(home):
    f = home + '/f'
    fd = check(lambda: native.openat(AT_FDCWD, 'f', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640),
               Row('CREATE', f, flags='O_RDWR|O_CREAT|O_EXCL', flags2='0640', fd=RETURNED))
    check(lambda: native.close(fd), *closes(fd, f))
    is_equal(os.stat(f).st_mode & 0o777, 0o640)
    fd = check(lambda: native.open(f, os.O_RDONLY | os.O_CLOEXEC),
               Row('OPEN', f, flags='O_CLOEXEC', fd=RETURNED))
    # The descriptor is closed, the file stays open.
    twin = os.dup(fd)
    check(lambda: native.close(fd), Row('CLOSE', f, fd=fd))
    check(lambda: native.close(twin), *closes(twin, f, 'O_LARGEFILE'))
    fd = check(lambda: native.creat('f', 0o600),
               Row('OPEN', f, flags='O_WRONLY|O_CREAT|O_TRUNC', fd=RETURNED))
    check(lambda: native.close(fd), *closes(fd, f, 'O_WRONLY|O_LARGEFILE'))
    how = struct.pack('<QQQ', os.O_WRONLY | os.O_APPEND, 0, 8)
    fd = check(lambda: native.openat2(AT_FDCWD, 'f', how, 24),
               Row('OPEN', f, flags='O_WRONLY|O_APPEND', fd=RETURNED))
    check(lambda: native.close(fd), *closes(fd, f, 'O_WRONLY|O_APPEND|O_LARGEFILE'))
    directory = check(lambda: native.open('.', os.O_DIRECTORY),
                   Row('OPEN', home, flags='O_DIRECTORY', fd=RETURNED))
    fd = check(lambda: native.openat(directory, 'f', os.O_RDONLY),
               Row('OPEN', f, flags='O_RDONLY', fd=RETURNED))
    check(lambda: native.dup2(directory, fd), *closes(fd, f, 'O_LARGEFILE')[:1],
          Row('RELEASE', f, flags='O_LARGEFILE', result=0))
    command('reset')
    fd = native.dup3(directory, fd, os.O_CLOEXEC)
    is_equal([(e['op'], e['path'], e['fd']) for e in events() if e['op'] != 'RELEASE'],
             [('CLOSE', home, str(fd))])
    check(lambda: native.close_range(directory, fd, 4)) # CLOSE_RANGE_CLOEXEC
    check(lambda: native.close_range(directory, fd, 0),
          Row('CLOSE', home, fd=directory), Row('CLOSE', home, fd=fd),
          Row('RELEASE', home, flags='O_LARGEFILE|O_DIRECTORY', result=0))
    check(lambda: native.close(fd), Row('CLOSE', fd=fd, result=error('EBADF')))
    # O_PATH gives a descriptor without opening the file itself
    fd = check(lambda: native.open('f', os.O_PATH), Row('OPEN', f, flags='O_PATH', fd=RETURNED))
    check(lambda: native.close(fd), *closes(fd, f, 'O_PATH'))


@everywhere
def opening_fails(home):
    f = make(home + '/f')
    check(lambda: native.open('none', os.O_RDONLY),
          Row('OPEN', home + '/none', flags='O_RDONLY', result=error('ENOENT')))
    check(lambda: native.open('none/in', os.O_CREAT | os.O_WRONLY, 0o600),
          Row('OPEN', home + '/none/in', flags='O_WRONLY|O_CREAT', result=error('ENOENT')))
    check(lambda: native.open('f/in', os.O_RDONLY),
          Row('OPEN', home + '/f/in', flags='O_RDONLY', result=error('ENOTDIR')))
    check(lambda: native.open('f', os.O_CREAT | os.O_EXCL, 0o600),
          Row('OPEN', f, flags='O_CREAT|O_EXCL', result=error('EEXIST')))
    check(lambda: native.open('.', os.O_WRONLY),
          Row('OPEN', home, flags='O_WRONLY', result=error('EISDIR')))
    check(lambda: native.openat(99, 'x', os.O_RDONLY),
          Row('OPEN', 'x', flags='O_RDONLY', result=error('EBADF')))
    check(lambda: native.openat(AT_FDCWD, 1, os.O_RDONLY),
          Row('OPEN', flags='O_RDONLY', result=error('EFAULT')))
    os.chmod(f, 0)
    os.chmod('.', 0o755)
    check(lambda: as_nobody(lambda: native.open('f', os.O_RDWR)),
          Row('OPEN', f, flags='O_RDWR', result=error('EACCES')), uid=NOBODY)
    os.mkdir('shut', 0o700)
    make('shut/f')
    check(lambda: as_nobody(lambda: native.open('shut/f', os.O_RDONLY)),
          Row('OPEN', home + '/shut/f', flags='O_RDONLY', of=None, result=error('EACCES')),
          uid=NOBODY)


@everywhere
def by_handle(home):
    """A file opened by its handle has a path if one is known."""
    f = make(home + '/f')
    handle = ctypes.create_string_buffer(struct.pack('<Ii', 128, 0), 136)
    mount_id = ctypes.c_int()
    if native.name_to_handle_at(AT_FDCWD, f, handle, ctypes.byref(mount_id), 0) < 0:
        raise AssertionError('no handle')
    directory = os.open(home, os.O_RDONLY)
    fd = check(lambda: native.open_by_handle_at(directory, handle, os.O_RDONLY),
               Row('OPEN', f, flags='O_RDONLY', fd=RETURNED))
    check(lambda: native.close(fd), *closes(fd, f, 'O_LARGEFILE'))
    os.close(directory)

# Syncing


@everywhere
def syncing(home):
    f = make(home + '/f', 8192)
    fd = os.open(f, os.O_RDWR)
    check(lambda: native.fsync(fd), Row('FSYNC', f, fd=fd))
    check(lambda: native.fdatasync(fd), Row('FDATASYNC', f, fd=fd))
    check(lambda: native.syncfs(fd), Row('SYNCFS', f, fd=fd))
    check(native.sync, Row('SYNC'))
    check(lambda: native.sync_file_range(fd, 4096, 1000, 7),
          Row('SYNC_FILE_RANGE', f, fd=fd, offset=4096, requested=1000,
              flags='SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER'))
    check(lambda: native.fsync(99), Row('FSYNC', fd=99, result=error('EBADF')))
    check(lambda: native.fadvise64(fd, 512, 4096, 3),
          Row('FADVISE', f, fd=fd, offset=512, requested=4096, flags='POSIX_FADV_WILLNEED'))
    check(lambda: native.readahead(fd, 0, 4096),
          Row('FADVISE', f, fd=fd, requested=4096, flags='POSIX_FADV_WILLNEED'))
    os.close(fd)

# Mappings


@everywhere
def mappings(home):
    f = make(home + '/f', 4 * 4096)
    fd = os.open(f, os.O_RDWR)
    rw, shared = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED
    at = check(lambda: native.mmap(0, 3 * 4096, rw, shared, fd, 4096),
               Row('MMAP', f, fd=fd, address=RETURNED, offset=4096, requested=3 * 4096,
                   flags='MAP_SHARED', flags2='PROT_READ|PROT_WRITE'))
    check(lambda: native.msync(at, 4096, 4),
          Row('MSYNC', f, address=at, offset=4096, requested=4096, flags='MS_SYNC'))
    check(lambda: native.madvise(at + 4096, 4096, mmap.MADV_DONTNEED),
          Row('MADVISE', f, address=at + 4096, offset=8192, requested=4096,
              flags='MADV_DONTNEED'))
    # a hole in the middle leaves two mappings; from now on a call has an event for each
    check(lambda: native.munmap(at + 4096, 4096),
          Row('MUNMAP', f, address=at + 4096, offset=8192, requested=4096, flags='MAP_SHARED',
              flags2='PROT_READ|PROT_WRITE'))
    check(lambda: native.msync(at, 3 * 4096, 1),
          Row('MSYNC', f, address=at, offset=4096, requested=4096, flags='MS_ASYNC',
              result=error('ENOMEM')),
          Row('MSYNC', f, address=at + 8192, offset=3 * 4096, requested=4096, flags='MS_ASYNC',
              result=error('ENOMEM')))
    check(lambda: native.remap_file_pages(at, 4096, 0, 3, 0),
          Row('MMAP', f, address=at, offset=3 * 4096, requested=4096, flags='MAP_SHARED|MAP_FIXED',
              flags2='PROT_READ|PROT_WRITE'))
    native.remap_file_pages(at, 4096, 0, 1, 0)
    # of this process, by a descriptor of it; the advice ends where nothing is mapped
    process = native.pidfd_open(os.getpid(), 0)
    ranges = struct.pack('<QQQQ', at, 4096, at + 8192, 4096)
    check(lambda: native.process_madvise(process, ranges, 2, 20, 0),
          *[Row('MADVISE', f, fd=process, address=at + n * 4096, offset=4096 + n * 4096, requested=4096,
                flags='MADV_COLD') for n in (0, 2)])
    check(lambda: native.process_madvise(process, ranges, 2, 20, 1),
          Row('MADVISE', fd=process, flags='MADV_COLD', result=error('EINVAL')))
    os.close(process)
    moved = check(lambda: native.mremap(at, 4096, 2 * 4096, 1, 0),
                  Row('MREMAP', f, address=at, offset=4096, requested=8192,
                      flags='MREMAP_MAYMOVE'))
    os.close(fd)
    # to unmap the last mapping releases the file
    for address, offset, size, *more in ((moved, 4096, 2 * 4096), (
            at + 8192, 3 * 4096, 4096, Row('RELEASE', f, flags='O_RDWR|O_LARGEFILE'))):
        check(lambda: native.munmap(address, size),
              Row('MUNMAP', f, address=address, offset=offset, requested=size,
                  flags='MAP_SHARED', flags2='PROT_READ|PROT_WRITE'), *more)
    check(lambda: native.mmap(0, 4096, rw, shared, 99, 0),
          Row('MMAP', fd=99, requested=4096, flags='MAP_SHARED', flags2='PROT_READ|PROT_WRITE',
              result=error('EBADF')))


@everywhere
def old_mapping(home):
    """A mapping from before the trace, of a file that was renamed since."""
    command('stop')
    f = make(home + '/f', 4096)
    fd = os.open(f, os.O_RDONLY)
    at = native.mmap(0, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0)
    os.close(fd)
    os.rename('f', 'g')
    command(f'filter pid={os.getpid()} op=MMAP,MUNMAP,RELEASE', 'start')
    check(lambda: native.munmap(at, 4096),
          Row('MUNMAP', home + '/g', address=at, requested=4096, flags='MAP_PRIVATE',
              flags2='PROT_READ'),
          Row('RELEASE', home + '/g', flags='O_LARGEFILE'))
    check(lambda: native.mmap(0, 4096, 0, mmap.MAP_PRIVATE, 99, 0),
          Row('MMAP', fd=99, requested=4096, flags='MAP_PRIVATE', flags2='PROT_NONE',
              result=error('EBADF')))

# Attributes


@everywhere
def attributes(home):
    f = make(home + '/f')
    os.symlink('f', 'l')
    fd = os.open(f, os.O_RDWR)
    b = buffer()
    check(lambda: native.stat('l', b), Row('GETATTR', f))
    check(lambda: native.lstat('l', b), Row('GETATTR', home + '/l', flags='AT_SYMLINK_NOFOLLOW'))
    check(lambda: native.fstat(fd, b), Row('GETATTR', f, fd=fd))
    check(lambda: native.newfstatat(AT_FDCWD, 'l', b, AT_SYMLINK_NOFOLLOW),
          Row('GETATTR', home + '/l', flags='AT_SYMLINK_NOFOLLOW'))
    check(lambda: native.newfstatat(fd, '', b, AT_EMPTY_PATH),
          Row('GETATTR', f, fd=fd, flags='AT_EMPTY_PATH'))
    check(lambda: native.statx(AT_FDCWD, 'f', 0x4000, 0x7ff, b),
          Row('GETATTR', f, flags='AT_STATX_DONT_SYNC'))
    check(lambda: native.stat('none', b), Row('GETATTR', home + '/none', result=error('ENOENT')))
    check(lambda: native.chmod('l', 0o4751), Row('CHMOD', f, flags2='04751'))
    check(lambda: native.fchmod(fd, 0o640), Row('CHMOD', f, fd=fd, flags2='0640'))
    check(lambda: native.fchmodat(AT_FDCWD, 'f', 0o600), Row('CHMOD', f, flags2='0600'))
    check(lambda: native.chown('l', 1, 2), Row('CHOWN', f, offset=1, requested=2))
    check(lambda: native.lchown('l', 3, -1),
          Row('CHOWN', home + '/l', offset=3, requested=2**64 - 1, flags='AT_SYMLINK_NOFOLLOW'))
    check(lambda: native.fchown(fd, 4, 5), Row('CHOWN', f, fd=fd, offset=4, requested=5))
    check(lambda: native.fchownat(AT_FDCWD, 'l', 6, 7, AT_SYMLINK_NOFOLLOW),
          Row('CHOWN', home + '/l', offset=6, requested=7, flags='AT_SYMLINK_NOFOLLOW'))
    check(lambda: as_nobody(lambda: native.chown('f', NOBODY, NOBODY)),
          Row('CHOWN', f, offset=NOBODY, requested=NOBODY, result=error('EPERM')), uid=NOBODY)
    check(lambda: native.utime('f', 0), Row('UTIMENS', f))
    check(lambda: native.utimes('f', 0), Row('UTIMENS', f))
    check(lambda: native.futimesat(AT_FDCWD, 'f', 0), Row('UTIMENS', f))
    check(lambda: native.utimensat(AT_FDCWD, 'l', 0, AT_SYMLINK_NOFOLLOW),
          Row('UTIMENS', home + '/l', flags='AT_SYMLINK_NOFOLLOW'))
    check(lambda: native.utimensat(fd, 0, 0, 0), Row('UTIMENS', f, fd=fd))
    check(lambda: native.truncate('f', 10000), Row('TRUNCATE', f, requested=10000))
    check(lambda: native.ftruncate(fd, 5), Row('TRUNCATE', f, fd=fd, requested=5))
    check(lambda: native.access('f', os.R_OK | os.W_OK), Row('ACCESS', f, flags2='R_OK|W_OK'))
    check(lambda: native.faccessat(AT_FDCWD, 'f', os.X_OK),
          Row('ACCESS', f, flags2='X_OK', result=error('EACCES')))
    check(lambda: native.faccessat2(AT_FDCWD, 'l', 0, AT_SYMLINK_NOFOLLOW | AT_EACCESS),
          Row('ACCESS', home + '/l', flags='AT_SYMLINK_NOFOLLOW|AT_EACCESS', flags2='F_OK'))
    check(lambda: native.fchmodat2(AT_FDCWD, 'f', 0o644, 0),
          *[] if OLD_KERNEL else [Row('CHMOD', f, flags2='0644')])
    b = buffer(120)
    check(lambda: native.statfs('f', b), Row('STATFS', f))
    check(lambda: native.fstatfs(fd, b), Row('STATFS', f, fd=fd))
    os.close(fd)


@everywhere
def advice_to_others(home):
    """process_madvise(2) on a mapping of another process."""
    f = make(home + '/f', 4 * 4096)
    pid = os.fork()
    if pid == 0:
        fd = os.open(f, os.O_RDONLY)
        native.mmap(0x700000000000, 4 * 4096, mmap.PROT_READ, mmap.MAP_SHARED | 0x10, fd, 0)
        signal.pause()
    waits_in(pid, *PAUSE)
    process = native.pidfd_open(pid, 0)
    ranges = struct.pack('<QQ', 0x700000000000 + 4096, 8192)
    check(lambda: native.process_madvise(process, ranges, 1, 3, 0), # MADV_WILLNEED
          Row('MADVISE', f, fd=process, address=0x700000001000, offset=4096, requested=8192,
              flags='MADV_WILLNEED', result=8192))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(process)


@everywhere
def newer_calls(home):
    """System calls that not every kernel has: there is no record where there is no call."""
    f = make(home + '/f')
    os.symlink('f', 'l')
    b = buffer()
    at = ctypes.addressof(b)
    arguments = struct.pack('<QII', at, 5, 1)

    def newer(call, row):
        there = call() != error('ENOSYS')
        check(call, *[row] if there else [])

    newer(lambda: native.setxattrat(AT_FDCWD, 'l', 0, 'user.b', arguments, 16),
          Row('SETXATTR', f, requested=5, flags='XATTR_CREATE'))
    newer(lambda: native.getxattrat(AT_FDCWD, 'l', AT_SYMLINK_NOFOLLOW, 'user.b', struct.pack('<QII', at, 9, 0), 16),
          Row('GETXATTR', home + '/l', requested=9, flags='AT_SYMLINK_NOFOLLOW'))
    newer(lambda: native.listxattrat(AT_FDCWD, 'l', 0, b, 100), Row('LISTXATTR', f, requested=100))
    newer(lambda: native.removexattrat(AT_FDCWD, 'l', 0, 'user.b'), Row('REMOVEXATTR', f))
    newer(lambda: native.file_getattr(AT_FDCWD, 'l', b, 24, AT_SYMLINK_NOFOLLOW),
          Row('GETATTR', home + '/l', flags='AT_SYMLINK_NOFOLLOW'))
    newer(lambda: native.file_setattr(AT_FDCWD, 'l', struct.pack('<QIIII', 0x40, 0, 0, 0, 0), 24, 0),
          Row('SETFLAGS', f, flags2='0x40'))
    command('reset')
    fd = native.open_tree_attr(AT_FDCWD, home, 1, 0, 0)
    if fd >= 0:
        opened = [(e['op'], e['flags'], e['fd']) for e in events() if e['pid'] == os.getpid()]
        is_equal(opened, [('OPEN', 'O_PATH', str(fd))])
        os.close(fd)


@everywhere
def bound_sockets(home):
    """bind(2) of a Unix socket makes a file, unless its name is abstract."""
    command(f'filter pid={os.getpid()} kind={ALL_BUT_PSEUDO},none')
    s, t = native.socket(1, 1, 0), native.socket(1, 1, 0)

    def address(name):
        return struct.pack('<H', 1) + name

    os.chmod(f'/proc/self/fd/{s}', 0o777)
    check(lambda: native.bind(s, address(b's'), 3), Row('MKNOD', home + '/s', flags2='0140777'))
    check(lambda: native.bind(t, address(b's\0'), 4),
          Row('MKNOD', home + '/s', of=None, flags2='0140777', result=error('EADDRINUSE')))
    check(lambda: native.bind(t, address(b'none/s'), 8),
          Row('MKNOD', home + '/none/s', of=None, flags2='0140777', result=error('ENOENT')))
    check(lambda: native.bind(t, address(b'\0abstract'), 11))
    os.close(s)
    os.close(t)


@everywhere
def extended_attributes(home):
    f = make(home + '/f')
    os.symlink('f', 'l')
    fd = os.open(f, os.O_RDWR)
    b, name = buffer(100), 'user.a'
    # a tmpfs may not support attributes of users: then these calls fail
    check(lambda: native.setxattr('l', name, b'value', 5, 1),
          Row('SETXATTR', f, requested=5, flags='XATTR_CREATE'))
    check(lambda: native.fsetxattr(fd, name, b'longer', 6, 2),
          Row('SETXATTR', f, fd=fd, requested=6, flags='XATTR_REPLACE'))
    check(lambda: native.lsetxattr('l', 'trusted.a', b'v', 1, 0),
          Row('SETXATTR', home + '/l', requested=1))
    check(lambda: native.getxattr('l', name, b, 100), Row('GETXATTR', f, requested=100))
    check(lambda: native.fgetxattr(fd, name, b, 3), Row('GETXATTR', f, fd=fd, requested=3))
    check(lambda: native.lgetxattr('l', name, b, 100),
          Row('GETXATTR', home + '/l', requested=100))
    check(lambda: native.listxattr('l', b, 100), Row('LISTXATTR', f, requested=100))
    check(lambda: native.llistxattr('l', b, 100), Row('LISTXATTR', home + '/l', requested=100))
    check(lambda: native.flistxattr(fd, b, 0), Row('LISTXATTR', f, fd=fd))
    check(lambda: native.removexattr('l', name), Row('REMOVEXATTR', f))
    check(lambda: native.lremovexattr('l', 'trusted.a'), Row('REMOVEXATTR', home + '/l'))
    check(lambda: native.fremovexattr(fd, name), Row('REMOVEXATTR', f, fd=fd))
    os.close(fd)

# Directories and names


@everywhere
def directories(home):
    os.umask(0o022)
    d = home + '/d e'
    check(lambda: native.mkdir('d e', 0o777), Row('MKDIR', d, flags2='0777'))
    check(lambda: native.mkdirat(AT_FDCWD, 'd e', 0o700),
          Row('MKDIR', d, flags2='0700', result=error('EEXIST')))
    check(lambda: native.mkdir('none/d', 0o700),
          Row('MKDIR', home + '/none/d', flags2='0700', result=error('ENOENT')))
    fd = os.open('d e', os.O_RDONLY)
    b = buffer()
    size = check(lambda: native.getdents64(fd, b, 4096),
                 Row('READDIR', d, fd=fd, requested=4096))
    is_true(size > 0, size)
    position = os.lseek(fd, 0, os.SEEK_CUR)
    check(lambda: native.getdents(fd, b, 4096),
          Row('READDIR', d, fd=fd, requested=4096, offset=position, result=0))
    check(lambda: native.chdir('d e'), Row('CHDIR', d))
    check(lambda: native.chdir('..'), Row('CHDIR', home))
    check(lambda: native.fchdir(fd), Row('CHDIR', d, fd=fd))
    os.chdir('..')
    check(lambda: native.chdir('none'), Row('CHDIR', home + '/none', result=error('ENOENT')))
    make('d e/f')
    was = os.stat(d)
    check(lambda: native.rmdir('d e'), Row('RMDIR', d, result=error('ENOTEMPTY')))
    os.unlink('d e/f')
    check(lambda: native.unlinkat(AT_FDCWD, 'd e', AT_REMOVEDIR), Row('RMDIR', d, of=was))
    check(lambda: native.close(fd), Row('CLOSE', d, of=was, fd=fd),
          Row('RELEASE', d, of=was, flags='O_LARGEFILE'))


@everywhere
def names(home):
    f, g, h = (home + '/' + name for name in 'fgh')
    make(f)
    directory = os.open('.', os.O_RDONLY)
    check(lambda: native.link('f', 'g'), Row('LINK', f, g))
    check(lambda: native.linkat(directory, 'f', directory, 'h', 0), Row('LINK', f, h))
    check(lambda: native.link('f', 'g'), Row('LINK', f, g, result=error('EEXIST')))
    check(lambda: native.symlink('../some where', 'l'),
          Row('SYMLINK', home + '/l', '../some where', of2=None))
    check(lambda: native.symlinkat('x', directory, 'm'), Row('SYMLINK', home + '/m', 'x', of2=None))
    b = buffer()
    check(lambda: native.readlink('l', b, 100), Row('READLINK', home + '/l', requested=100))
    check(lambda: native.readlinkat(directory, 'f', b, 100),
          Row('READLINK', f, requested=100, result=error('EINVAL')))
    was = os.stat(f)
    check(lambda: native.unlink('h'), Row('UNLINK', h, of=was))
    check(lambda: native.unlinkat(directory, 'h', 0), Row('UNLINK', h, result=error('ENOENT')))
    # to rename a hard link onto another one of the same file does nothing, and returns 0
    check(lambda: native.rename('f', 'g'), Row('RENAME', f, g))
    check(lambda: native.rename('f', 'n'), Row('RENAME', f, home + '/n', of=was, of2=None))
    make(home + '/o')
    replaced = os.stat('o')
    check(lambda: native.renameat(directory, 'n', directory, 'o'),
          Row('RENAME', home + '/n', home + '/o', of=was, of2=replaced))
    make(home + '/p')
    other = os.stat('p')
    check(lambda: native.renameat2(AT_FDCWD, 'o', AT_FDCWD, 'p', 2),
          Row('RENAME', home + '/o', home + '/p', of=was, of2=other, flags='RENAME_EXCHANGE'))
    check(lambda: native.renameat2(AT_FDCWD, 'o', AT_FDCWD, 'p', 1),
          Row('RENAME', home + '/o', home + '/p', of=other, of2=was, flags='RENAME_NOREPLACE',
              result=error('EEXIST')))
    check(lambda: native.rename('none', 'x'),
          Row('RENAME', home + '/none', home + '/x', result=error('ENOENT')))
    check(lambda: native.mknod('q', 0o100644, 0), Row('MKNOD', home + '/q', flags2='0100644'))
    check(lambda: native.mknodat(directory, 'r', 0o100600, 0),
          Row('MKNOD', home + '/r', flags2='0100600'))
    os.close(directory)
    command(f'filter pid={os.getpid()} kind={ALL_BUT_PSEUDO}')
    check(lambda: native.mknod('b', 0o60600, os.makedev(7, 300)),
          Row('MKNOD', home + '/b', flags2='060600', device2='7:300'))
    check(lambda: native.mknod('c', 0o10600, 0), Row('MKNOD', home + '/c', flags2='010600'))

# Data


@everywhere
def space(home):
    f = make(home + '/f')
    fd = os.open(f, os.O_RDWR)
    check(lambda: native.fallocate(fd, 0, 4096, 8192),
          Row('FALLOCATE', f, fd=fd, offset=4096, requested=8192))
    check(lambda: native.fallocate(fd, 3, 0, 4096),
          Row('FALLOCATE', f, fd=fd, requested=4096,
              flags='FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE'))
    check(lambda: native.fallocate(fd, 0, -1, 1),
          Row('FALLOCATE', f, fd=fd, offset=2**64 - 1, requested=1, result=error('EINVAL')))
    os.close(fd)


@everywhere
def reading_and_writing(home):
    f = make(home + '/f', 100)
    fd = os.open(f, os.O_RDWR)
    b = buffer()
    check(lambda: native.pwrite64(fd, b, 50, 20), Row('WRITE', f, offset=20, requested=50))
    check(lambda: native.pread64(fd, b, 4096, 30), Row('READ', f, offset=30, requested=4096))
    check(lambda: native.read(fd, b, 7), Row('READ', f, requested=7))
    check(lambda: native.write(fd, b, 8), Row('WRITE', f, offset=7, requested=8))
    check(lambda: native.pwrite64(fd, 1, 10, 0),
          Row('WRITE', f, requested=10, result=error('EFAULT')))
    check(lambda: native.read(99, b, 1))
    os.close(fd)


@everywhere
def between_files(home):
    f, g = make(home + '/f', 10000), make(home + '/g')
    a, b = os.open(f, os.O_RDWR), os.open(g, os.O_RDWR)
    where = struct.pack('<q', 100)
    of, og = os.stat(f), os.stat(g)
    check(lambda: native.copy_file_range(a, where, b, where, 4096, 0), INNER,
          Row('COPY_FILE_RANGE', f, g, of=of, of2=og, fd=a, offset=100, requested=4096))
    where = struct.pack('<q', 1000)
    check(lambda: native.sendfile(b, a, where, 500), INNER,
          Row('SENDFILE', f, g, of=of, of2=og, fd=a, offset=1000, requested=500))
    # of a whole file, and to its end, that is as many bytes as there are
    check(lambda: native.ioctl(b, 0x40049409, a),
          Row('CLONE', f, g, of=of, of2=og, fd=b, requested=10000))
    check(lambda: native.ioctl(b, 0x4020940d, struct.pack('<qQQQ', a, 4096, 0, 8192)),
          Row('CLONE', f, g, of=of, of2=og, fd=b, offset=4096, requested=10000 - 4096))
    check(lambda: native.ioctl(b, 0x4020940d, struct.pack('<qQQQ', a, 4096, 8192, 0)),
          Row('CLONE', f, g, of=of, of2=og, fd=b, offset=4096, requested=8192))
    r, w = os.pipe()
    r2, w2 = os.pipe()
    pipe, pipe2 = os.fstat(r), os.fstat(r2)
    check(lambda: native.splice(a, struct.pack('<q', 50), w, 0, 200, 2), INNER,
          Row('SPLICE', f, f'pipe:[{pipe.st_ino}]', of=of, of2=pipe, fd=a, offset=50,
              requested=200, flags='SPLICE_F_NONBLOCK'))
    check(lambda: native.splice(r, 0, b, struct.pack('<q', 9), 100, 0), INNER,
          Row('SPLICE', f'pipe:[{pipe.st_ino}]', g, of=pipe, of2=og, fd=r, offset=9,
              requested=100))
    # no file takes part in a tee between pipes: a filter without kind= drops it
    check(lambda: native.tee(r, w2, 10, 0))
    command(f'filter pid={os.getpid()} kind={ALL_BUT_PSEUDO}')
    check(lambda: native.tee(r, w2, 20, 2),
          Row('TEE', f'pipe:[{pipe.st_ino}]', f'pipe:[{pipe2.st_ino}]', of=pipe, of2=pipe2, fd=r,
              requested=20, flags='SPLICE_F_NONBLOCK'))
    data = buffer(10)
    vector = struct.pack('<QQ', ctypes.addressof(data), 10)
    check(lambda: native.vmsplice(w, vector, 1, 8),
          Row('VMSPLICE', f'pipe:[{pipe.st_ino}]', of=pipe, fd=w, flags='SPLICE_F_GIFT'))
    for fd in a, b, r, w, r2, w2:
        os.close(fd)


@everywhere
def deduplicated(home):
    """FIDEDUPERANGE has a record for each destination, with what the program gets of it."""
    f, g = home + '/f', home + '/g'
    block = os.urandom(4096)
    for path, data in (f, block), (g, block + os.urandom(4096)):
        with open(path, 'wb') as file:
            file.write(data)
    os.system('sync')
    a, b = os.open(f, os.O_RDWR), os.open(g, os.O_RDWR)
    of, og = os.stat(f), os.stat(g)
    places = (b, 0), (b, 4096), (99, 0)
    works = home.startswith(('/mnt/xfs', '/mnt/btrfs'))
    results = [4096, error('EBADE'), error('EBADF')] if works else [error('EOPNOTSUPP')] * 3
    ranges = ctypes.create_string_buffer(struct.pack('<QQHHI', 0, 4096, len(places), 0, 0) + b''.join(
        struct.pack('<qQQiI', fd, at, 0, 0, 0) for fd, at in places))
    check(lambda: native.ioctl(a, 0xc0189436, ranges),
          *[Row('DEDUPE', f, g if fd == b else None, of=of, of2=og, requested=4096, result=result)
            for (fd, _), result in zip(places, results)])
    told = [struct.unpack_from('<qQQiI', ranges, 24 + 32 * i)[2:4] for i in range(len(places))]
    is_equal(told, [(4096, 0), (0, 1), (0, error('EBADF'))] if works else [(0, 0)] * 3)
    os.close(a)
    os.close(b)


@everywhere
def ioctls(home):
    f, g = make(home + '/f', 1 << 20), make(home + '/g', 1 << 20)
    a, b, d = os.open(f, os.O_RDWR), os.open(g, os.O_RDWR), os.open(home, os.O_RDONLY)
    check(lambda: native.ioctl(a, 0x40086602, struct.pack('<Q', 0x80)), # FS_IOC_SETFLAGS, FS_NOATIME_FL
          Row('SETFLAGS', f, fd=a, flags2='0x80'))
    check(lambda: native.ioctl(a, 0x401c5820, struct.pack('<IIIII8x', 0x40, 0, 0, 0, 0)),
          Row('SETFLAGS', f, fd=a, flags2='0x40')) # FS_IOC_FSSETXATTR, FS_XFLAG_NOATIME
    for command_, flags in (0x4030582a, 'FALLOC_FL_KEEP_SIZE'),                            (0x4030582b, 'FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE'),                            (0x40305839, 'FALLOC_FL_KEEP_SIZE|FALLOC_FL_ZERO_RANGE'):
        check(lambda: native.ioctl(a, command_, struct.pack('<hhxxxxqqiI16x', 0, 0, 4096, 8192, 0, 0)),
              Row('FALLOCATE', f, fd=a, offset=4096, requested=8192, flags=flags))
    check(lambda: native.ioctl(d, 0xc0185879, ctypes.create_string_buffer(struct.pack('<QQQ', 4096, 1 << 30, 1 << 29))),
          Row('IOCTL', home, fd=d, flags2='FITRIM', offset=4096, requested=1 << 30))
    move = ctypes.create_string_buffer(struct.pack('<IIQQQQ', 0, b, 1, 1, 2, 0))
    check(lambda: native.ioctl(a, 0xc028660f, move),
          Row('IOCTL', f, g, fd=a, flags2='EXT4_IOC_MOVE_EXT', offset=4096, requested=8192))
    check(lambda: native.ioctl(a, 0x40285881, struct.pack('<iiQQQQ', b, 0, 0, 4096, 8192, 0)),
          Row('IOCTL', f, g, fd=a, flags2='XFS_IOC_EXCHANGE_RANGE', offset=4096, requested=8192))
    for command_, name in (0x5000940e, 'BTRFS_IOC_SUBVOL_CREATE'), (0x5000940f, 'BTRFS_IOC_SNAP_DESTROY'):
        check(lambda: native.ioctl(d, command_, struct.pack('<q4088s', 0, b'sub')),
              Row('IOCTL', home, home + '/sub', of2=None, fd=d, flags2=name))
    # one that is neither for files, nor in the list
    check(lambda: native.ioctl(a, 0x5401, buffer()))
    for fd in a, b, d:
        os.close(fd)


def rejects(home, calls, position):
    """Each way in which the VFS rejects a read or write. position(n): n as arguments of @calls."""
    f = make(home + '/f', 100)
    reader, writer = os.open(f, os.O_RDONLY), os.open(f, os.O_WRONLY)
    both, directory, name = os.open(f, os.O_RDWR), os.open(home, os.O_RDONLY), os.open(f, os.O_PATH)
    b = buffer(8)

    def rejected(result, path, fd, call, *args, **fields):
        op = 'WRITE' if 'write' in call else 'READ'
        check(lambda: getattr(calls, call)(fd, *args),
              Row(op, path, fd=fd, result=error(result), **fields))

    before = {'offset': 2**64 - 5}
    rejected('EBADF', f, reader, 'write', b, 8, requested=8)
    rejected('EBADF', f, writer, 'read', b, 8, requested=8)
    rejected('EBADF', f, reader, 'writev', b, 0)
    rejected('EBADF', f, writer, 'readv', b, 0)
    rejected('EBADF', f, reader, 'pwrite64', b, 8, *position(5), requested=8, offset=5)
    rejected('EBADF', f, writer, 'pread64', b, 8, *position(5), requested=8, offset=5)
    rejected('EBADF', f, writer, 'preadv', b, 0, 5, 0, offset=5)
    rejected('EBADF', f, reader, 'pwritev2', b, 0, 5, 0, 0, offset=5)
    rejected('EBADF', f, writer, 'preadv2', b, 0, -1, -1, 0)
    rejected('EINVAL', f, both, 'pread64', b, 8, *position(-5), requested=8, **before)
    rejected('EINVAL', f, both, 'pwrite64', b, 8, *position(-5), requested=8, **before)
    rejected('EINVAL', f, both, 'preadv', b, 0, -5, -1, **before)
    rejected('EINVAL', f, both, 'pwritev', b, 0, -5, -1, **before)
    rejected('EBADF', None, 999, 'read', b, 8, requested=8)
    rejected('EBADF', None, 999, 'pwrite64', b, 8, *position(5), requested=8, offset=5)
    rejected('EBADF', f, name, 'read', b, 8, requested=8)
    rejected('EBADF', home, directory, 'write', b, 8, requested=8)
    # a call that the VFS does not reject is seen once only; a rejected one on a pipe, whose
    # kind the filter does not include, is not seen
    check(lambda: calls.pread64(both, b, 8, *position(5)),
          Row('READ', f, requested=8, offset=5))
    check(lambda: calls.pwrite64(both, b, 8, *position(5)),
          Row('WRITE', f, requested=8, offset=5))
    check(lambda: calls.read(directory, b, 8),
          Row('READ', home, requested=8, result=error('EISDIR')))
    pipe = os.pipe()
    check(lambda: calls.pread64(pipe[0], b, 8, *position(5)))
    for fd in reader, writer, both, directory, name, *pipe:
        os.close(fd)


@everywhere
def rejected_calls(home):
    command(f'filter pid={os.getpid()} rejected=1')
    rejects(home, native, lambda n: (n,))
    if MACHINE == 'x86_64' and home.startswith('/mnt/xfs'):
        rejects(home, Calls32(), lambda n: (n, -1 if n < 0 else 0))
    fd = os.open('f', os.O_RDONLY)
    b = buffer(8)
    check(lambda: native.pread64(fd, b, 8, 2**63 - 4),
          Row('READ', home + '/f', fd=fd, requested=8, offset=2**63 - 4, result=error('EINVAL')))
    check(lambda: native.read(fd, BAD_ADDRESS, 8),
          Row('READ', home + '/f', fd=fd, requested=8, result=error('EFAULT')))
    command(f'filter pid={os.getpid()}')
    check(lambda: native.write(fd, b, 8))
    is_true('rejected' not in slurp(FS + '/../hooks'), 'still hooked')
    command(f'filter pid={os.getpid()} kind=pipe rejected=1')
    check(lambda: native.write(fd, b, 8))
    pipe = os.pipe()
    stat = os.fstat(pipe[0])
    check(lambda: native.pread64(pipe[0], b, 8, 5),
          Row('READ', f'pipe:[{stat.st_ino}]', of=stat, fd=pipe[0], requested=8, offset=5,
              result=error('ESPIPE')))
    for end in fd, *pipe:
        os.close(end)


def loop_requests(image, device):
    """What a loop device does to its image for a flush, and ioctls of the device."""
    command(f'filter inode={os.stat(image).st_ino} op=FSYNC,FDATASYNC', 'reset')
    fd = os.open(device, os.O_RDWR)
    os.pwrite(fd, bytes(4096), 0)
    os.fsync(fd)
    is_equal({(e['op'], e['path'], e['flags']) for e in events()}, {('FSYNC', image, 'KERNEL')})
    discard = struct.pack('<QQ', 4096, 8192)
    command(f'filter pid={os.getpid()} kind=device op=IOCTL')
    node = {'path': device, 'of': None, 'inode': os.stat(device).st_ino, 'device': number(os.stat(device).st_dev)}
    check(lambda: native.ioctl(fd, 0x1277, discard),
          Row('IOCTL', fd=fd, flags2='BLKDISCARD', offset=4096, requested=8192, **node))
    check(lambda: native.ioctl(fd, 0x4c06, 99),
          Row('IOCTL', fd=fd, flags2='LOOP_CHANGE_FD', **node))
    os.close(fd)


class Aio:
    """A context of io_setup(2), for one request at a time."""

    def __init__(self):
        self.context = ctypes.c_ulong()
        is_equal(native.io_setup(1, ctypes.byref(self.context)), 0)

    def do(self, opcode, fd):
        block = ctypes.create_string_buffer(struct.pack('<QIIHhIQQqQII', 0, 0, 0, opcode, 0, fd, 0, 0, 0, 0, 0, 0))
        is_equal(native.io_submit(self.context, 1, struct.pack('<Q', ctypes.addressof(block))), 1)
        event = ctypes.create_string_buffer(32)
        is_equal(native.io_getevents(self.context, 1, 1, event, 0), 1)
        return struct.unpack_from('<QQqq', event)[2]


@everywhere
def synced_by_aio(home):
    """IOCB_CMD_FSYNC and IOCB_CMD_FDSYNC of io_submit(2): a thread of the kernel does them."""
    f = make(home + '/f', 4096)
    fd, aio = os.open(f, os.O_RDWR), Aio()
    command(f'filter inode={os.stat(f).st_ino} op=FSYNC,FDATASYNC', 'reset')
    is_equal([aio.do(opcode, fd) for opcode in (2, 3)], [0, 0])
    is_equal([(e['op'], e['path'], e['flags'], e['result'], e['comm'][:8]) for e in events()],
             [(op, f, 'KERNEL', '0', 'kworker/') for op in ('FSYNC', 'FDATASYNC')])
    os.close(fd)


@everywhere
def by_the_kernel(home):
    """Reads and writes of the kernel itself: for a loop device, and to start a program."""
    script, image = home + '/script', make(home + '/image', 1 << 20)
    with open(script, 'w') as f:
        f.write('#!/bin/true\n')
    os.chmod(script, 0o755)
    is_equal(os.system('modprobe loop'), 0)
    device = os.popen(f'losetup -f --show {image}').read().strip()
    try:
        command(f'filter op=READ,WRITE inode={os.stat(image).st_ino}', 'reset')
        fd = os.open(device, os.O_RDWR)
        os.write(fd, bytes(8192))
        os.fsync(fd)
        os.close(fd)
        found = [e for e in events() if e['path'] == image]
        is_equal({e['flags'] for e in found}, {'KERNEL'})
        is_equal(sum(int(e['result']) for e in found if e['op'] == 'WRITE'), 8192)
        loop_requests(image, device)
    finally:
        is_equal(os.system(f'losetup -d {device}'), 0)
    command(f'filter op=READ inode={os.stat(script).st_ino}', 'reset')
    is_equal(os.system(script), 0)
    is_equal([(e['flags'], e['requested']) for e in events() if e['path'] == script],
             [('KERNEL', '256')])


@contextlib.contextmanager
def signalled(*functions, then=None):
    """
    A child sends a signal when this process sleeps in one of these functions. The call ends then or,
    if the child has something to do after that, is made again.
    """
    signal.signal(signal.SIGUSR1, lambda *_: None)
    signal.siginterrupt(signal.SIGUSR1, not then)
    parent = os.getpid()

    def child():
        waits_in(parent, *functions)
        os.kill(parent, signal.SIGUSR1)
        if then:
            then()
    pid = spawn(child)
    yield
    join(pid)


@SUITE.test('calls that a signal interrupts')
def interrupted():
    """A signal ends a read: its result is EINTR, also where the kernel makes the call again."""
    r, w = os.pipe()
    pipe, b = os.fstat(r), buffer()
    path = f'pipe:[{pipe.st_ino}]'
    where = 'pipe_read', 'anon_pipe_read'
    command(f'filter pid={os.getpid()} kind=pipe op=READ', 'start')
    ended = Row('READ', path, of=pipe, requested=10, flags='RESTARTED', result=error('EINTR'))
    with signalled(*where):
        check(lambda: native.read(r, b, 10), ended)

    def write():
        waits_in(os.getppid(), *where)
        os.write(w, b'xyz')
    with signalled(*where, then=write):
        check(lambda: native.read(r, b, 10), ended, Row('READ', path, of=pipe, requested=10, result=3))
    command('stop')
    os.close(r)
    os.close(w)


@SUITE.test('locks: fcntl and flock, EAGAIN, EINTR')
@everywhere
def locks(home):
    needs(' fcntl_setlk$', 'this kernel has no locks')
    f = make(home + '/f', 100)
    fd = os.open(f, os.O_RDWR)
    lock = struct.pack('<hhxxxxqqixxxx', fcntl.F_WRLCK, 0, 10, 20, 0)
    check(lambda: native.fcntl(fd, fcntl.F_SETLK, lock),
          Row('LOCK', f, fd=fd, offset=10, requested=20, flags='F_SETLK', flags2='F_WRLCK'))
    check(lambda: native.fcntl(fd, fcntl.F_OFD_SETLK, lock),
          Row('LOCK', f, fd=fd, offset=10, requested=20, flags='F_OFD_SETLK', flags2='F_WRLCK',
              result=error('EAGAIN')))
    unlock = struct.pack('<hhxxxxqqixxxx', fcntl.F_UNLCK, 0, 0, 0, 0)
    check(lambda: native.fcntl(fd, fcntl.F_SETLKW, unlock),
          Row('LOCK', f, fd=fd, flags='F_SETLKW', flags2='F_UNLCK'))
    check(lambda: native.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
          Row('LOCK', f, fd=fd, flags='LOCK_FLOCK|LOCK_NB', flags2='F_WRLCK'))
    twin = os.open(f, os.O_RDONLY)
    check(lambda: native.flock(twin, fcntl.LOCK_SH | fcntl.LOCK_NB),
          Row('LOCK', f, fd=twin, flags='LOCK_FLOCK|LOCK_NB', result=error('EAGAIN'),
              flags2='F_RDLCK'))
    with signalled('flock_lock_inode_wait', 'locks_lock_inode_wait', '__do_sys_flock', '__x64_sys_flock'):
        check(lambda: native.flock(twin, fcntl.LOCK_SH),
              Row('LOCK', f, fd=twin, flags='LOCK_FLOCK|RESTARTED', flags2='F_RDLCK', result=error('EINTR')))
    check(lambda: native.flock(fd, fcntl.LOCK_UN),
          Row('LOCK', f, fd=fd, flags='LOCK_FLOCK', flags2='F_UNLCK'))
    os.close(twin)
    os.close(fd)


def no_space(home='/mnt/small'):
    """A full filesystem."""
    f, g = home + '/f', home + '/g'
    os.chdir(home)
    fd, gd = (os.open(name, os.O_RDWR | os.O_CREAT, 0o600) for name in (f, g))
    command(f'filter pid={os.getpid()}', 'start')
    check(lambda: native.fallocate(fd, 0, 0, 1 << 30),
          Row('FALLOCATE', f, fd=fd, requested=1 << 30, result=error('ENOSPC')))
    data = buffer(1 << 20)
    while native.write(fd, data, 1 << 20) == 1 << 20:
        pass
    check(lambda: native.pwrite64(gd, data, 1 << 20, 0),
          Row('WRITE', g, requested=1 << 20, result=error('ENOSPC')))
    command('stop')
    os.close(fd)
    os.close(gd)
    os.chdir('/')

# Programs


@SUITE.test('exec and exit')
@everywhere
def programs(home):
    needs(' taskstats_exit$', 'this kernel has no hook for PROCESS_EXIT')
    script = home + '/script'
    with open(script, 'w') as f:
        f.write('#!/bin/false x\n')
    os.chmod(script, 0o755)
    command('filter op=PROCESS_EXEC,PROCESS_EXIT', 'reset')
    nothing = struct.pack('<Q', 0)
    pid = os.fork()
    if pid == 0:
        directory = os.open(home, os.O_RDONLY)
        native.execveat(directory, 'none', nothing, nothing, 0)
        for program in '.', 'script':
            native.execve(program, nothing, nothing)
        os._exit(99)
    status = os.waitpid(pid, 0)[1]
    is_equal(os.waitstatus_to_exitcode(status), 1)
    # the end of a thread is no PROCESS_EXIT; the end of a process that is killed is one
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    killed = os.fork()
    if killed == 0:
        signal.pause()
    os.kill(killed, signal.SIGKILL)
    os.waitpid(killed, 0)
    program = os.stat('/bin/false')
    python = os.path.realpath('/proc/self/exe')
    seen = {pid: [], killed: []}
    for e in events():
        seen.get(e['pid'], []).append(e)
    found = [{k: v for k, v in e.items() if k == 'op' or k not in COMMON} for e in seen[pid]]
    is_equal(found, [row.expected(0) for row in (
        Row('PROCESS_EXEC', home + '/none', result=error('ENOENT')),
        Row('PROCESS_EXEC', home, result=error('EACCES')),
        Row('PROCESS_EXEC', script, os.path.realpath('/bin/false'), of2=program),
        Row('PROCESS_EXIT', os.path.realpath('/bin/false'), of=program, result=1 << 8))])
    is_equal([e['comm'] for e in seen[pid]], ['python3', 'python3', 'script', 'script'])
    is_equal([(e['op'], e['path'], e['result']) for e in seen[killed]],
             [('PROCESS_EXIT', python, '9')])

# Paths


@everywhere
def bind_mounts(home):
    """A file has the path in the mount through which it was opened."""
    for name in 'a/b/c', 'a/b/n', 'm', 'deep':
        os.makedirs(name)
    make('a/b/c/f')
    is_equal(os.system('mount --bind a/b m && mount --bind m/c deep && mount --bind a/b/c m/n'), 0)
    try:
        for name in 'a/b/c/f', 'm/c/f', 'deep/f', 'm/n/f':
            path = f'{home}/{name}'
            fd = check(lambda: native.open(path, os.O_RDONLY),
                       Row('OPEN', path, flags='O_RDONLY', fd=RETURNED))
            check(lambda: native.close(fd), *closes(fd, path, 'O_LARGEFILE'))
            check(lambda: native.open(path + '/none', os.O_RDONLY),
                  Row('OPEN', path + '/none', flags='O_RDONLY', result=error('ENOTDIR')))
        os.chdir('m/c')
        check(lambda: native.open('none', os.O_RDONLY),
              Row('OPEN', home + '/m/c/none', flags='O_RDONLY', result=error('ENOENT')))
        os.chdir(home)
    finally:
        is_equal(os.system(f'umount {home}/m/n {home}/deep {home}/m'), 0)


def works_without_path(mount):
    """What is done to a file below a mount leaves its records, with inode and device, without a path."""
    f = os.open('f', os.O_RDWR | os.O_CREAT, 0o600, dir_fd=mount)
    of, data = identity(os.fstat(f)), buffer()
    os.close(f)
    fd = check(lambda: native.openat(mount, 'f', os.O_RDWR),
               Row('OPEN', flags='O_RDWR', fd=RETURNED, **of))
    check(lambda: native.pwrite64(fd, data, 100, 7), Row('WRITE', requested=100, offset=7, **of))
    check(lambda: native.pread64(fd, data, 50, 7), Row('READ', requested=50, offset=7, **of))
    check(lambda: native.fsync(fd), Row('FSYNC', fd=fd, **of))
    check(lambda: native.ftruncate(fd, 5), Row('TRUNCATE', fd=fd, requested=5, **of))
    check(lambda: native.close(fd), Row('CLOSE', fd=fd, **of),
          Row('RELEASE', flags='O_RDWR|O_LARGEFILE', **of))
    check(lambda: native.newfstatat(mount, 'f', data, 0), Row('GETATTR', **of))
    if VERSION < (7, 0): # newer kernels do not keep where a name was: what it leads to is not known
        check(lambda: native.renameat(mount, 'f', mount, 'g'), Row('RENAME', **of))
        check(lambda: native.unlinkat(mount, 'g', 0), Row('UNLINK', **of))
    command('reset')
    new = os.open('h', os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=mount)
    made = {k: e.get(k) for e in events() if e['op'] == 'CREATE' for k in ('path', *of)}
    is_equal(made, {'path': None} | identity(os.fstat(new)))
    os.close(new)


@everywhere
def in_no_namespace(home):
    """A mount that is not attached yet, by open_tree(2) or fsmount(2), or is unmounted lazily."""
    os.mkdir('d')
    place = check(lambda: native.open_tree(AT_FDCWD, 'd', os.O_CLOEXEC),
                  Row('OPEN', home + '/d', flags='O_CLOEXEC|O_PATH', fd=RETURNED))
    check(lambda: native.open_tree(AT_FDCWD, 'none', 0),
          Row('OPEN', home + '/none', flags='O_PATH', result=error('ENOENT')))
    os.close(place)
    tree = check(lambda: native.open_tree(AT_FDCWD, 'd', 1), # OPEN_TREE_CLONE
                 Row('OPEN', flags='O_PATH', fd=RETURNED, **identity(os.stat('d'))))
    fs = native.fsopen('tmpfs', 0)
    is_equal(native.fsconfig(fs, 6, 0, 0, 0), 0) # FSCONFIG_CMD_CREATE
    command('reset')
    new = native.fsmount(fs, 0, 0)
    is_equal([{k: e.get(k) for k in ('op', 'flags', 'fd', 'inode', 'device', 'path')} for e in events()],
             [{'op': 'OPEN', 'flags': 'O_PATH', 'fd': str(new), 'path': None} | identity(os.fstat(new))])
    is_equal(os.system(f'mount -t tmpfs tmpfs {home}/d'), 0)
    lazy = os.open('d', os.O_RDONLY)
    is_equal(os.system(f'umount -l {home}/d'), 0)
    for mount in tree, new, lazy:
        works_without_path(mount)
    for fd in tree, fs, new, lazy:
        os.close(fd)


@everywhere
def changed_roots(home):
    """The paths of a process in a chroot are those that processes outside it use."""
    os.makedirs('root/d')
    make('root/d/f')
    command('filter comm=python3')
    pid = os.fork()
    if pid == 0:
        os.chroot('root')
        os.chdir('/')
        fd = native.open('/d/f', os.O_RDWR)
        native.open('/d/none', os.O_RDONLY)
        native.open('d/none', os.O_RDONLY)
        native.open('/', os.O_PATH)
        native.unlink('/none')
        native.mkdir('/e', 0o700)
        native.flock(fd, fcntl.LOCK_EX)
        native.symlink('/x', '/s')
        native.rename('/d/f', '/e/g')
        native.fsync(fd)
        os._exit(0)
    is_equal(os.waitpid(pid, 0)[1], 0)
    is_equal([(e['op'], e.get('path'), e.get('path2')) for e in events()
              if e['pid'] == pid and e['op'] not in ('PROCESS_EXIT', 'RELEASE', 'CHDIR')],
             [('OPEN', home + '/root/d/f', None),
              ('OPEN', home + '/root/d/none', None),
              ('OPEN', home + '/root/d/none', None),
              ('OPEN', home + '/root', None),
              ('UNLINK', home + '/root/none', None),
              ('MKDIR', home + '/root/e', None),
              ('LOCK', home + '/root/d/f', None),
              ('SYMLINK', home + '/root/s', '/x'),
              ('RENAME', home + '/root/d/f', home + '/root/e/g'),
              ('FSYNC', home + '/root/e/g', None)])


@everywhere
def nameless(home):
    """Files that never had a name, and files that were unlinked."""
    fd = native.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)
    if fd >= 0:
        seen = [e for e in events() if e['pid'] == os.getpid() and e['op'] in ('OPEN', 'CREATE')]
        is_equal([(e['op'], e['inode'], e['fd'], e['result']) for e in seen],
                 [('CREATE', str(os.fstat(fd).st_ino), str(fd), str(fd))])
        is_true(seen[0]['path'].startswith(home + '/#'), seen)
        os.close(fd)
    fd = os.open('f', os.O_CREAT | os.O_RDWR)
    os.unlink('f')
    was = os.fstat(fd)
    make('f')
    check(lambda: native.fsync(fd), Row('FSYNC', home + '/f', of=was, fd=fd))
    check(lambda: native.close(fd), *closes(fd, home + '/f', of=was))


@everywhere
def fifos(home):
    """Opening a FIFO may sleep without bound, so it is recorded when it begins."""
    os.mkfifo('p')
    path = home + '/p'
    command(f'filter pid={os.getpid()} kind={ALL_BUT_PSEUDO}')
    other = os.fork()
    if other == 0:
        waits_in(os.getppid(), 'wait_for_partner', 'fifo_open')
        os.open('p', os.O_WRONLY)
        os._exit(0)
    fd = check(lambda: native.open('p', os.O_RDONLY),
               Row('OPEN', path, flags='O_RDONLY', result=error('EINPROGRESS')))
    join(other)
    check(lambda: native.open('p', os.O_WRONLY | os.O_NONBLOCK),
          Row('OPEN', path, flags='O_WRONLY|O_NONBLOCK', fd=RETURNED))
    os.close(fd)


@SUITE.test('paths: an overlay')
def overlay():
    """What overlayfs does with the files below it is not recorded; its own FLUSH is."""
    home = '/mnt/ext4/overlay'
    os.system(f'mkdir -p {home}/low {home}/up {home}/work {home}/all && echo x >{home}/low/f')
    is_equal(os.system(f'mount -t overlay overlay -o lowerdir={home}/low,upperdir={home}/up,'
                       f'workdir={home}/work {home}/all'), 0)
    f = home + '/all/f'
    os.close(os.open(f, os.O_RDWR)) # this copies it up
    command(f'filter pid={os.getpid()}', 'start')
    try:
        fd = check(lambda: native.open(f, os.O_RDWR), Row('OPEN', f, flags='O_RDWR', fd=RETURNED))
        b = buffer()
        check(lambda: native.read(fd, b, 10), Row('READ', f, requested=10))
        check(lambda: native.write(fd, b, 10), Row('WRITE', f, offset=2, requested=10))
        check(lambda: native.close(fd), flushes(fd, f), *closes(fd, f))
        each_close_flushes(f)
    finally:
        command('stop')
        is_equal(os.system(f'umount {home}/all'), 0)


def flushes(fd, path):
    """The record of the FLUSH of a descriptor that is closed."""
    return Row('FLUSH', path, of=os.fstat(fd), result=0)


def each_close_flushes(f):
    """
    Each way to close a descriptor has one FLUSH, also where the compiler of the kernel has put a
    copy of filp_flush() into it (module/probe/fs_flush.c); so if only one operation is wanted.
    """
    def opened():
        return os.open(f, os.O_RDWR)

    ops = 'op=CLOSE,FLUSH,RELEASE'
    command(f'filter pid={os.getpid()} {ops}')
    fd, other = opened(), opened()
    check(lambda: native.dup2(other, fd), flushes(fd, f), *closes(fd, f))
    check(lambda: native.close_range(fd, fd, 0), flushes(fd, f), closes(fd, f)[0])
    # a worker of the ring would release the file when the close is already complete
    ring, fd = Uring(), os.dup(other)
    check(lambda: ring.close(fd=fd), flushes(fd, f), Row('CLOSE', f, of=os.fstat(fd), result=0),
          worker=True)
    os.close(ring.fd)
    calls = Calls32()
    if calls.program:
        command(f'filter pid={calls.program.pid} {ops}')
        fd, of = calls.open(f, os.O_RDWR), os.stat(f)
        check(lambda: calls.close(fd), Row('FLUSH', f, of=of, result=0),
              *closes(fd, f, 'O_RDWR', of=of), program=calls.program)
    calls.end()
    for op in 'CLOSE', 'FLUSH':
        command(f'filter pid={os.getpid()} op={op}')
        fd = opened()
        check(lambda: native.close(fd),
              *[row for row in (flushes(fd, f), *closes(fd, f)) if row.op == op])
    os.close(other)

# Other ways into the kernel


@everywhere
def programs_of_32_bits(home):
    calls = Calls32()
    f = home + '/f'
    if calls.program:
        command(f'filter pid={calls.program.pid}')

    def check32(call, *rows):
        return check(call, *rows, program=calls.program)

    fd = check32(lambda: calls.openat(AT_FDCWD, 'f', os.O_RDWR | os.O_CREAT, 0o640),
                 Row('CREATE', f, flags='O_RDWR|O_CREAT', flags2='0640', fd=RETURNED))
    check32(lambda: calls.ftruncate64(fd, 0x1000, 1), Row('TRUNCATE', f, fd=fd, requested=0x100001000))
    check32(lambda: calls.truncate64('f', 0x2000, 0), Row('TRUNCATE', f, requested=0x2000))
    check32(lambda: calls.fallocate(fd, 1, 0x1000, 0, 0x2000, 0),
            Row('FALLOCATE', f, fd=fd, offset=0x1000, requested=0x2000,
                flags='FALLOC_FL_KEEP_SIZE'))
    check32(lambda: calls.fadvise64_64(fd, 0x1000, 1, 0x2000, 0, 3),
            Row('FADVISE', f, fd=fd, offset=0x100001000, requested=0x2000,
                flags='POSIX_FADV_WILLNEED'))
    check32(lambda: calls.readahead(fd, 0x1000, 0, 0x2000),
            Row('FADVISE', f, fd=fd, offset=0x1000, requested=0x2000, flags='POSIX_FADV_WILLNEED'))
    check32(lambda: calls.sync_file_range(fd, 0x1000, 0, 0x2000, 0, 2),
            Row('SYNC_FILE_RANGE', f, fd=fd, offset=0x1000, requested=0x2000,
                flags='SYNC_FILE_RANGE_WRITE'))
    at = check32(lambda: calls.mmap2(0, 4096, 1, 2, fd, 1) & 0xffffffff,
                 Row('MMAP', f, fd=fd, address=RETURNED, offset=4096, requested=4096,
                     flags='MAP_PRIVATE', flags2='PROT_READ'))
    check32(lambda: calls.munmap(at, 4096),
            Row('MUNMAP', f, address=at, offset=4096, requested=4096, flags='MAP_PRIVATE',
                flags2='PROT_READ'))
    if MACHINE == 'x86_64': # calls that 32-bit ARM does not have
        at = check32(lambda: calls.mmap(struct.pack('<IIIIII', 0, 4096, 1, 2, fd, 8192)) & 0xffffffff,
                     Row('MMAP', f, fd=fd, address=RETURNED, offset=8192, requested=4096,
                         flags='MAP_PRIVATE', flags2='PROT_READ'))
        calls.munmap(at, 4096)
        check32(lambda: calls.utime('f', 0), Row('UTIMENS', f))
    check32(lambda: calls.stat64('f', bytes(200)), Row('GETATTR', f))
    check32(lambda: calls.lstat64('f', bytes(200)), Row('GETATTR', f, flags='AT_SYMLINK_NOFOLLOW'))
    check32(lambda: calls.fstat64(fd, bytes(200)), Row('GETATTR', f, fd=fd))
    check32(lambda: calls.fstatat64(AT_FDCWD, 'f', bytes(200), 0), Row('GETATTR', f))
    check32(lambda: calls.chown('f', 0xffff, 7),
            Row('CHOWN', f, offset=2**64 - 1, requested=7))
    check32(lambda: calls.fchown32(fd, 5, 0xffffffff),
            Row('CHOWN', f, fd=fd, offset=5, requested=2**64 - 1))
    check32(lambda: calls.utimensat(AT_FDCWD, 'f', 0, 0), Row('UTIMENS', f))
    check32(lambda: calls.statfs64('f', 84, bytes(100)), Row('STATFS', f))
    check32(lambda: calls.mkdir('d', 0o700), Row('MKDIR', home + '/d', flags2='0700'))
    was = os.stat('d')
    check32(lambda: calls.rmdir('d'), Row('RMDIR', home + '/d', of=was))
    os.link('f', 'g')
    check32(lambda: calls.unlink('g'), Row('UNLINK', home + '/g', of=os.stat('f')))
    lock = struct.pack('<hhiii', fcntl.F_WRLCK, 0, 10, 20, 0)
    check32(lambda: calls.fcntl64(fd, fcntl.F_SETLK, lock),
            Row('LOCK', f, fd=fd, offset=10, requested=20, flags='F_SETLK', flags2='F_WRLCK'))
    check32(lambda: calls.flock(fd, fcntl.LOCK_EX),
            Row('LOCK', f, fd=fd, flags='LOCK_FLOCK', flags2='F_WRLCK'))
    check32(lambda: calls.open('none', 0),
            Row('OPEN', home + '/none', flags='O_RDONLY', result=error('ENOENT')))
    check32(lambda: calls.close(fd), *closes(fd, f, 'O_RDWR', of=os.stat(f)))
    calls.end()


@everywhere
def by_io_uring(home):
    ring = Uring()
    f, g = home + '/f', home + '/g'

    def one(call, *rows):
        return check(call, *rows, worker=True)

    def extended(call, row):
        """Without BTF it is not known where such a request has its arguments: it is missed, and counted."""
        missed = stats()['missed']
        one(call, *((row,) if HAS_BTF else ()))
        is_equal(stats()['missed'], missed + (not HAS_BTF))

    fd = one(lambda: ring.openat(fd=AT_FDCWD, addr='f', op_flags=os.O_RDWR | os.O_CREAT, len=0o640),
             Row('CREATE', f, flags='O_RDWR|O_CREAT|O_LARGEFILE', flags2='0640', result=0))
    one(lambda: ring.fallocate(fd=fd, off=4096, addr=8192, len=0),
        Row('FALLOCATE', f, offset=4096, requested=8192))
    one(lambda: ring.fsync(fd=fd), Row('FSYNC', f))
    one(lambda: ring.fsync(fd=fd, op_flags=1), Row('FDATASYNC', f))
    one(lambda: ring.sync_file_range(fd=fd, off=4096, len=4096, op_flags=2),
        Row('SYNC_FILE_RANGE', f, offset=4096, requested=4096, flags='SYNC_FILE_RANGE_WRITE'))
    one(lambda: ring.fadvise(fd=fd, off=512, len=4096, op_flags=3),
        Row('FADVISE', f, offset=512, requested=4096, flags='POSIX_FADV_WILLNEED'))
    at = native.mmap(0, 8192, mmap.PROT_READ, mmap.MAP_SHARED, fd, 4096)
    one(lambda: ring.madvise(addr=at, len=4096, op_flags=mmap.MADV_RANDOM),
        Row('MADVISE', f, address=at, offset=4096, requested=4096, flags='MADV_RANDOM'))
    native.munmap(at, 8192)
    b = buffer()
    one(lambda: ring.statx(fd=AT_FDCWD, addr='f', off=b, len=0x7ff, op_flags=0),
        Row('GETATTR', f))
    one(lambda: ring.statx(fd=AT_FDCWD, addr='none', off=b, len=0x7ff, op_flags=0),
        Row('GETATTR', home + '/none', result=error('ENOENT')))
    one(lambda: ring.linkat(fd=AT_FDCWD, addr='f', off='g', len=AT_FDCWD & 0xffffffff),
        Row('LINK', f, g))
    was = os.stat(g)
    one(lambda: ring.renameat(fd=AT_FDCWD, addr='g', off='h', len=AT_FDCWD & 0xffffffff),
        Row('RENAME', g, home + '/h', of=was, of2=None))
    one(lambda: ring.unlinkat(fd=AT_FDCWD, addr='h'), Row('UNLINK', home + '/h', of=was))
    one(lambda: ring.mkdirat(fd=AT_FDCWD, addr='d', len=0o700),
        Row('MKDIR', home + '/d', flags2='0700'))
    was = os.stat('d')
    one(lambda: ring.unlinkat(fd=AT_FDCWD, addr='d', op_flags=AT_REMOVEDIR),
        Row('RMDIR', home + '/d', of=was))
    one(lambda: ring.symlinkat(fd=AT_FDCWD, addr='f', off='l'),
        Row('SYMLINK', home + '/l', 'f', of2=None))
    r, w = os.pipe()
    pipe = os.fstat(r)
    one(lambda: ring.splice(fd=w, off=2**64 - 1, addr=100, len=50, splice_fd=fd), INNER,
        Row('SPLICE', f, f'pipe:[{pipe.st_ino}]', of2=pipe, offset=100, requested=50))
    os.close(r)
    os.close(w)
    one(lambda: ring.write(fd=fd, addr=b, len=100, off=10),
        Row('WRITE', f, offset=10, requested=100, flags='URING'))
    one(lambda: ring.read(fd=fd, addr=b, len=200, off=20),
        Row('READ', f, offset=20, requested=200, flags='URING'))
    how = struct.pack('<QQQ', os.O_RDONLY, 0, 0)
    again = one(lambda: ring.openat2(fd=AT_FDCWD, addr='f', off=how, len=24),
                Row('OPEN', f, flags='O_LARGEFILE', result=0))
    was = os.fstat(again)
    one(lambda: ring.close(fd=again), Row('CLOSE', f, of=was),
        Row('RELEASE', f, of=was, flags='O_LARGEFILE', result=0))
    one(lambda: ring.openat(fd=AT_FDCWD, addr='none', op_flags=0),
        Row('OPEN', home + '/none', result=error('ENOENT'), flags='O_RDONLY'))
    if not OLD_KERNEL:
        one(lambda: ring.ftruncate(fd=fd, off=3), Row('TRUNCATE', f, requested=3))
    name, value = 'user.a', buffer(5)
    extended(lambda: ring.setxattr(addr=name, off=value, addr3='f', len=5, op_flags=1),
             Row('SETXATTR', f, requested=5, flags='XATTR_CREATE'))
    extended(lambda: ring.fsetxattr(fd=fd, addr=name, off=value, len=3, op_flags=2),
             Row('SETXATTR', f, requested=3, flags='XATTR_REPLACE'))
    extended(lambda: ring.getxattr(addr=name, off=value, addr3='f', len=5), Row('GETXATTR', f, requested=5))
    extended(lambda: ring.fgetxattr(fd=fd, addr=name, off=value, len=4), Row('GETXATTR', f, requested=4))
    extended(lambda: ring.getxattr(addr=name, off=value, addr3='none', len=5),
             Row('GETXATTR', home + '/none', requested=5, result=error('ENOENT')))
    os.close(fd)
    os.close(ring.fd)


@SUITE.test("the kernel's own files, by ->read and ->write")
def own_files_of_the_kernel():
    """Files that have only ->read and ->write, and files whose ->read calls another ->read."""
    command(f'filter pid={os.getpid()} kind=pseudo op=OPEN,READ,WRITE', 'start')
    comm = f'/proc/{os.getpid()}/comm'
    try:
        for path, flags in (comm, os.O_RDWR), ('/proc/filesystems', os.O_RDONLY), \
                           ('/proc/self/limits', os.O_RDONLY), ('/proc/cpuinfo', os.O_RDONLY), \
                           ('/sys/devices/system/cpu/online', os.O_RDONLY):
            fd = os.open(path, flags)
            b = buffer(100)
            command('reset')
            n = native.read(fd, b, 100)
            m = native.write(fd, b'python3', 7) if flags else None
            seen = [e for e in events() if e['pid'] == os.getpid() and '/iotracer/' not in e['path']]
            real = os.path.realpath(path)
            is_equal([(e['op'], e['path'], e['requested'], e['result']) for e in seen],
                     [('READ', real, '100', str(n))] +
                     ([('WRITE', real, '7', str(m))] if flags else []))
            os.close(fd)
    finally:
        command('stop')


SUITE.add('opening and closing files', opening)
SUITE.add('opens that fail', opening_fails)
SUITE.add('opening by handle', by_handle)
SUITE.add('files without a name', nameless)
SUITE.add('opening FIFOs', fifos)
SUITE.add('syncing and advice', syncing)
SUITE.add('mappings', mappings)
SUITE.add('advice to another process', advice_to_others)
SUITE.add('calls of newer kernels', newer_calls)
SUITE.add('names: sockets', bound_sockets)
SUITE.add('a mapping from before the trace', old_mapping)
SUITE.add('attributes, by name and descriptor', attributes)
SUITE.add('extended attributes, by name and descriptor', extended_attributes)
SUITE.add('directories: mkdir, rmdir, getdents', directories)
SUITE.add('names: link, symlink, unlink, rename, mknod', names)
SUITE.add('data: fallocate and truncate', space)
SUITE.add('data: read and write', reading_and_writing)
SUITE.add('data: io_submit makes it durable', synced_by_aio)
SUITE.add('data: deduplication', deduplicated)
SUITE.add('data: ioctls', ioctls)
SUITE.add('data: copy, clone, sendfile, splice', between_files)
SUITE.add('data: a full filesystem', no_space)
SUITE.add('data: reads and writes by the kernel itself have the flag KERNEL', by_the_kernel)
SUITE.add('data: calls that the VFS rejects, if the filter asks for them', rejected_calls)
SUITE.add('paths: bind mounts', bind_mounts)
SUITE.add('paths: a mount that is in no namespace', in_no_namespace)
SUITE.add('paths: a changed root', changed_roots)
SUITE.add('by io_uring', by_io_uring)
SUITE.add('by programs of 32 bits', programs_of_32_bits)


def by_kretprobe(function):
    """A test of the module with attach=kprobe."""
    def run():
        reload('attach=kprobe')
        function()
    return reloads(run)


def names_by_kretprobe():
    """Names are recorded as the program gave them."""
    missed = stats()['missed']
    command('start')
    for _ in range(3):
        subprocess.run(('/bin/false', '/mnt/ext4'), check=False)
    subprocess.run('mkdir one && mv one two && rmdir two && ln -s to link && rm link', shell=True, check=True,
                   cwd='/mnt/ext4')
    command('stop')
    log, false = slurp(FS + '/log'), os.path.realpath('/bin/false')
    for regex in ('MKDIR mkdir-.* path=one ', 'RENAME mv-.* path=one path2=two ', 'RMDIR rmdir-.* path=two ',
                  'SYMLINK ln-.* path=link path2=to ', 'UNLINK rm-.* path=link ', 'PROCESS_EXEC false-',
                  'CLOSE false-', 'OPEN false-'):
        is_true(re.search(' ' + regex, log), f'no {regex} in {log}')
    is_equal(len(re.findall(f' PROCESS_EXIT false-.* path={re.escape(false)}', log)), 3)
    is_equal(stats()['missed'], missed)


SUITE.add('each kind of file, opened after the start', new_kinds.later)
SUITE.add('each kind of file alone, opened after the start', new_kinds.kind_by_kind)
SUITE.add('each kind of file, opened before the start', new_kinds.earlier)
SUITE.add('by kretprobe: pipes and sockets that appear after the start', by_kretprobe(new_kinds.by_kretprobe))
SUITE.add('by kretprobe, which may not sleep: names, open, close, exec and exit',
          by_kretprobe(names_by_kretprobe))
