# SPDX-License-Identifier: GPL-2.0
"""
The tests of fs.bats. Usage: python3 fs.py FUNCTION...

Each operation of category fs is done once. check(call, row...) requires that it leaves exactly
these records, with the right value in every field. Only this process is traced.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import signal
import struct
import threading
import time

from lib.category import cleaning, command, events, FS, stats
from lib.iot import is_equal, is_true, join, main, slurp
from lib.kernel import VERSION
from lib.process import waits_in
from lib.syscalls import Calls32, MACHINE, Uring, native

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
    check(lambda: native.ioctl(b, 0x40049409, a),
          Row('CLONE', f, g, of=of, of2=og, fd=b))
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
    finally:
        is_equal(os.system(f'losetup -d {device}'), 0)
    command(f'filter op=READ inode={os.stat(script).st_ino}', 'reset')
    is_equal(os.system(script), 0)
    is_equal([(e['flags'], e['requested']) for e in events() if e['path'] == script],
             [('KERNEL', '256')])


@everywhere
def locks(home):
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
    # a signal ends the wait
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, True)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    check(lambda: native.flock(twin, fcntl.LOCK_SH),
          Row('LOCK', f, fd=twin, flags='LOCK_FLOCK', flags2='F_RDLCK', result=error('EINTR')))
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


@everywhere
def programs(home):
    script = home + '/script'
    with open(script, 'w') as f:
        f.write('#!/bin/false x\n')
    os.chmod(script, 0o755)
    command('filter op=PROCESS_EXEC,PROCESS_EXIT', 'reset')
    nothing = struct.pack('<Q', 0)
    pid = os.fork()
    if pid == 0:
        for program in 'none', home, script:
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


def overlay():
    """What overlayfs does with the files below it is not recorded; its own FLUSH is."""
    home = '/mnt/ext4/overlay'
    os.system(f'mkdir -p {home}/low {home}/up {home}/work {home}/all && echo x >{home}/low/f')
    is_equal(os.system(f'mount -t overlay overlay -o lowerdir={home}/low,upperdir={home}/up,'
                       f'workdir={home}/work {home}/all'), 0)
    f = home + '/all/f'
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
    os.close(fd)
    os.close(ring.fd)


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


if __name__ == '__main__':
    main({name: cleaning(test) for name, test in list(globals().items()) if callable(test)})
