# SPDX-License-Identifier: GPL-2.0
"""
Each operation is done once by a process of its own making. Exactly its rows have to be there.
"""
import ctypes
import errno
import json
import mmap
import os
import struct
import subprocess

from block import traced
from lib import category
from lib.disk import DISK, partition, PARTS, unpartition
from lib.iot import (is_equal, is_true, join, lines, must, reload, slurp, Target)
from lib.machine import execute, three_filesystems, umount_three_filesystems, with_tool
from lib.process import spawn
from lib.suite import reloads, Suite

LETTERS = 'RWFTAPZCID'
BLOCK = 65536   # a multiple of the blocks of all filesystems
KEEP, PUNCH, COLLAPSE, ZERO, INSERT = 1, 2, 8, 16, 32
PLACES = '/mnt/ext4', '/mnt/xfs', '/mnt/btrfs', '/mnt/files'

SUITE = Suite(setup=three_filesystems, teardown=umount_three_filesystems, after=category.stops('block'))

libc = ctypes.CDLL(None, use_errno=True)


def fallocate(fd, mode, offset, length):
    """fallocate(2). Returns 0 or the error."""
    result = libc.fallocate(fd, mode, ctypes.c_long(offset), ctypes.c_long(length))
    return ctypes.get_errno() if result else 0


def rows(t, level='VFS'):
    """The events of one level, as (operation, address, bytes)."""
    return [(f[1], int(f[2]), int(f[3])) for f in lines(t.log(), LETTERS) if f[4] == level]


def filled(path, size=4 * BLOCK):
    with open(path, 'wb') as f:
        f.write(b'x' * size)
        os.fsync(f.fileno())
    return path


def add_all(path, options='-a'):
    must(' '.join(f'add {options} {path} 1000'.split()))
    return Target(path)


def work(path):
    """Do each operation once, as all filesystems can. Returns the rows that have to be there."""
    fd = os.open(path, os.O_RDWR)
    os.pwrite(fd, b'y' * 100, 5)
    os.fsync(fd)
    os.fdatasync(fd)
    os.ftruncate(fd, 3 * BLOCK + 1)
    os.truncate(path, 3 * BLOCK)
    is_equal(fallocate(fd, 0, 3 * BLOCK, BLOCK), 0)
    is_equal(fallocate(fd, KEEP, 4 * BLOCK, BLOCK), 0)
    is_equal(fallocate(fd, PUNCH | KEEP, BLOCK, BLOCK), 0)
    with mmap.mmap(fd, 2 * BLOCK) as m:
        m[BLOCK] = 1
        m.flush(BLOCK, BLOCK)
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
    os.close(fd)
    return [('W', 5, 100), ('F', 0, 0), ('F', 0, 0), ('T', 3 * BLOCK + 1, 0), ('T', 3 * BLOCK, 0),
            ('A', 3 * BLOCK, BLOCK), ('A', 4 * BLOCK, BLOCK), ('P', BLOCK, BLOCK),
            ('F', BLOCK, BLOCK), ('T', 0, 0)]


def cut(path):
    """What only filesystems on disks can, and an error. btrfs neither collapses nor inserts."""
    filled(path)
    can = not path.startswith('/mnt/btrfs')
    fd = os.open(path, os.O_RDWR)
    is_equal(fallocate(fd, ZERO, BLOCK, BLOCK), 0)
    done = [('Z', BLOCK, BLOCK)]
    if can:
        is_equal(fallocate(fd, COLLAPSE, BLOCK, BLOCK), 0)
        is_equal(fallocate(fd, INSERT, BLOCK, 2 * BLOCK), 0)
        is_true(fallocate(fd, COLLAPSE, 1, 1), 'one byte was cut out')
        done += [('C', BLOCK, BLOCK), ('I', BLOCK, 2 * BLOCK), ('C', 1, 0)]
    os.close(fd)
    return done


@SUITE.test('operations: without -a a log has reads and writes only')
def only_reads_and_writes():
    """What old readers know, and no hooks for the rest."""
    path = filled('/mnt/ext4/plain')
    must(f'add {path} 1000')
    t = Target(path)
    is_equal(rows(t), [])
    work(path)
    is_equal(rows(t), [('W', 5, 100)])
    is_equal({f[1] for f in lines(t.log())}, {'W'})
    is_equal(t.value('all_operations'), '0')
    for name in 'fsync', 'fallocate', 'setattr':
        is_true(f' {name} ' not in slurp('/proc/iotracer/hooks'), name + ' is hooked')
    t.is_conserved()


@SUITE.test('operations: each call on a file of ext4, xfs, btrfs and tmpfs is one row')
def files():
    for place in PLACES:
        path = filled(place + '/all')
        other = filled(place + '/other')
        t = add_all(path)
        is_equal(t.value('all_operations'), '1')
        must(f'add {other} 1000')
        work(other)
        expected = work(path)
        is_equal((place, rows(t)), (place, expected))
        if place != '/mnt/files':
            t.command('reset')
            done = cut(path)
            is_equal((place, [r for r in rows(t) if r[0] in 'ZCI']), (place, done))
        t.is_conserved()
        is_equal(t.stats()[4], 0)
        is_equal((place, rows(Target(other))), (place, [('W', 5, 100)]))


def direct(fd, offset):
    with mmap.mmap(-1, BLOCK) as buf:
        is_equal(os.pwritev(fd, [buf], offset), BLOCK)


@SUITE.test('operations: deduplication reads both ranges')
def deduplicated():
    """The kernel reads both ranges that FIDEDUPERANGE compares, and writes neither."""
    for place in '/mnt/xfs', '/mnt/btrfs':
        path, other = filled(place + '/one'), filled(place + '/two')
        with open(other, 'r+b') as f:
            f.seek(BLOCK)
            f.write(b'y' * BLOCK)
        os.sync()
        t, o = add_all(path, ''), add_all(other, '')
        fd, to = os.open(path, os.O_RDWR), os.open(other, os.O_RDWR)
        same, differs = struct.pack('<qQQiI', to, 0, 0, 0, 0), struct.pack('<qQQiI', to, BLOCK, 0, 0, 0)
        ranges = ctypes.create_string_buffer(struct.pack('<QQHHI', 0, BLOCK, 2, 0, 0) + same + differs)
        is_equal(libc.ioctl(fd, ctypes.c_ulong(0xc0189436), ranges), 0)
        is_equal(rows(t), [('R', 0, BLOCK), ('R', 0, 0)])
        is_equal(rows(o), [('R', 0, BLOCK), ('R', BLOCK, 0)])
        for name in path, other:
            must(f'remove {name}')
        os.close(fd)
        os.close(to)


@SUITE.test('operations: the fsync of an O_SYNC write is a part of the write')
def sync_writes():
    for place in PLACES[:3]:
        path = filled(place + '/sync')
        t = add_all(path)
        fd = os.open(path, os.O_WRONLY | os.O_SYNC)
        os.pwrite(fd, b'z' * 10, 0)
        os.close(fd)
        fd = os.open(path, os.O_WRONLY | os.O_DSYNC | os.O_DIRECT)
        direct(fd, BLOCK)
        os.close(fd)
        fd = os.open(path, os.O_WRONLY)
        os.pwritev(fd, [b'z' * 10], 20, os.RWF_SYNC)
        os.close(fd)
        is_equal((place, rows(t)), (place, [('W', 0, 10), ('W', BLOCK, BLOCK), ('W', 20, 10)]))
        # asynchronous ones: a worker of the kernel ends them; fio itself syncs at the end, once
        t.command('reset')
        subprocess.run(['fio', '--name=f', f'--filename={path}', '--rw=write', '--size=256k',
                        '--bs=64k', '--direct=1', '--sync=1', '--ioengine=libaio', '--iodepth=4',
                        '--overwrite=1', '--end_fsync=1', '--fallocate=none',
                        '--output=/dev/null'], check=True)
        found = rows(t)
        is_equal((place, [r for r in found if r[0] == 'F']), (place, [('F', 0, 0)]))
        is_equal((place, sorted(r for r in found if r[0] == 'W')),
                 (place, [('W', i * BLOCK, BLOCK) for i in range(4)]))
        # and without a target of -a they are what they were
        must(f'remove {path}')
        must(f'add {path} 1000')
        os.close(os.open(path, os.O_WRONLY | os.O_SYNC))
        is_equal(rows(Target(path)), [])


@SUITE.test('operations: a target that is traced is extended by add -a, and stopped and started', once=True)
def extended():
    path = filled('/mnt/ext4/extended')
    must(f'add {path} 1000')
    t = Target(path)
    fd = os.open(path, os.O_RDWR)
    os.fsync(fd)
    must(f'add -i -a {path}')
    os.fsync(fd)
    must(f'add {path}')     # it stays as it is
    os.fsync(fd)
    is_equal(rows(t), [('F', 0, 0)] * 2)
    t.command('stop')
    os.fsync(fd)
    is_true(' fsync ' not in slurp('/proc/iotracer/hooks').replace('fsync detached', ''), 'hooked')
    is_equal(rows(t), [('F', 0, 0)] * 2)
    t.command('start')
    os.fdatasync(fd)
    is_equal(rows(t), [('F', 0, 0)] * 3)
    # one that is stopped is extended, too
    other = filled('/mnt/ext4/stopped')
    must(f'add {other} 1000')
    s = Target(other)
    s.command('stop')
    must(f'add -a {other}')
    s.command('start')
    os.truncate(other, 7)
    is_equal(rows(s), [('T', 7, 0)])
    # it follows its path with all operations
    must(f'add -a {path}')
    os.rename(filled('/mnt/ext4/new'), path)
    t.command('reset')
    os.truncate(path, 9)
    is_equal(rows(t), [('T', 9, 0)])
    os.close(fd)


@SUITE.test("operations: the flush of a file's fsync is in its log")
def flushes():
    """An fsync for which no transaction has to be committed flushes the device itself."""
    for place in PLACES[:3]:
        path, plain, other = (filled(f'{place}/flush-{name}') for name in 'apo')
        os.sync()
        t = add_all(path)
        must(f'add {plain} 1000')
        for name in other, plain, path:
            fd = os.open(name, os.O_WRONLY)
            os.pwrite(fd, b'z' * BLOCK, 0)
            os.fdatasync(fd)
            os.close(fd)
        found = [r for r in rows(t, 'BLK') if r[0] != 'W']
        is_equal({(place,) + r for r in found}, {(place, 'F', 0, 0)})
        if place != '/mnt/btrfs': # which flushes before and after it writes its superblock
            is_equal((place, len(found)), (place, 1))
        is_equal([r for r in rows(Target(plain), 'BLK') if r[0] != 'W'], [])
        t.is_conserved()


@SUITE.test("operations: what a truncation discards is in the file's log")
def discards():
    """ext4 without a journal discards inside the truncation: what is discarded is the file's own."""
    where = '/mnt/discards'
    subprocess.run(['mkfs.ext4', '-q', '-F', '-O', '^has_journal', DISK], check=True)
    os.makedirs(where, exist_ok=True)
    subprocess.run(['mount', '-o', 'discard', DISK, where], check=True)
    try:
        path, other = filled(where + '/own'), filled(where + '/other')
        os.sync()
        t = add_all(path)
        os.unlink(other)
        os.sync()
        is_equal(others(t, 'BLK'), [])
        os.truncate(path, 0)
        found = others(t, 'BLK')
        is_equal(({r[0] for r in found}, sum(r[2] for r in found)), ({'D'}, 4 * BLOCK))
        must(f'remove {path}')
    finally:
        subprocess.run(['umount', where], check=True)


BLKDISCARD, BLKSECDISCARD, BLKZEROOUT = 0x1277, 0x127d, 0x127f


def ioctl(fd, command, address):
    result = libc.ioctl(fd, ctypes.c_ulong(command), ctypes.c_void_p(address))
    return ctypes.get_errno() if result else 0


def on_range(fd, command, first, length):
    span = (ctypes.c_uint64 * 2)(first, length)
    return ioctl(fd, command, ctypes.addressof(span))


def others(t, level):
    return [r for r in rows(t, level) if r[0] not in 'RW']


@SUITE.test('operations: flushes, discards and zeroes of a device, at both levels')
def devices():
    t = add_all(DISK)
    fd = os.open(DISK, os.O_RDWR)
    os.fsync(fd)
    os.fdatasync(fd)
    is_equal(fallocate(fd, PUNCH | KEEP, BLOCK, BLOCK), 0)
    is_equal(fallocate(fd, ZERO, 2 * BLOCK, BLOCK), 0)
    is_equal(on_range(fd, BLKDISCARD, 4 * BLOCK, 2 * BLOCK), 0)
    is_equal(on_range(fd, BLKZEROOUT, 8 * BLOCK, BLOCK), 0)
    is_equal(on_range(fd, BLKSECDISCARD, 9 * BLOCK, BLOCK), errno.EOPNOTSUPP)
    is_equal(on_range(fd, BLKDISCARD, 1, BLOCK), errno.EINVAL)
    os.close(fd)
    is_equal(others(t, 'VFS'), [('F', 0, 0), ('F', 0, 0), ('P', BLOCK, BLOCK),
                                ('Z', 2 * BLOCK, BLOCK), ('D', 4 * BLOCK, 2 * BLOCK),
                                ('Z', 8 * BLOCK, BLOCK), ('D', 9 * BLOCK, 0), ('D', 1, 0)])
    is_equal(others(t, 'BLK'), [('F', 0, 0), ('F', 0, 0), ('Z', BLOCK // 512, BLOCK),
                                ('Z', 2 * BLOCK // 512, BLOCK), ('D', 4 * BLOCK // 512, 2 * BLOCK),
                                ('Z', 8 * BLOCK // 512, BLOCK)])
    # a sync write has no row of its own for its sync; its flush is one
    t.command('reset')
    fd = os.open(DISK, os.O_WRONLY | os.O_DSYNC | os.O_DIRECT)
    direct(fd, 0)
    os.close(fd)
    is_equal((rows(t), others(t, 'BLK')), ([('W', 0, BLOCK)], [('F', 0, 0)]))
    t.is_conserved()
    is_equal(t.stats()[4], 0)
    # without -a
    must(f'remove {DISK}')
    must(f'add {DISK} 1000')
    t = Target(DISK)
    fd = os.open(DISK, os.O_RDWR)
    os.fsync(fd)
    is_equal(on_range(fd, BLKDISCARD, 4 * BLOCK, BLOCK), 0)
    os.close(fd)
    is_equal((others(t, 'VFS'), others(t, 'BLK')), ([], []))


@SUITE.test('operations: a partition and its disk')
def partitions():
    """What a partition discards, in sectors from its start; the disk has all. A flush has none."""
    partition()
    disk, part = add_all(DISK), add_all(DISK + '1')
    fd = os.open(DISK + '1', os.O_RDWR)
    for t in disk, part:
        t.command('reset')
    os.fsync(fd)
    is_equal(on_range(fd, BLKDISCARD, BLOCK, BLOCK), 0)
    os.close(fd)
    is_equal(others(part, 'VFS'), [('F', 0, 0), ('D', BLOCK, BLOCK)])
    is_equal(others(part, 'BLK'), [('F', 0, 0), ('D', BLOCK // 512, BLOCK)])
    is_equal(others(disk, 'VFS'), [])
    is_equal(others(disk, 'BLK'), [('F', 0, 0), ('D', PARTS[0][0] + BLOCK // 512, BLOCK)])
    for path in DISK, DISK + '1':
        must(f'remove {path}')
    unpartition()


def change(shared, stop):
    """Another process changes the range as fast as it can."""
    while not stop[0]:
        for first in BLOCK, 4 * BLOCK:
            shared[:8] = first.to_bytes(8, 'little')


@SUITE.test('operations: a range that changes during the call is counted, and no guess is recorded')
def changed_range():
    t = add_all(DISK)
    fd = os.open(DISK, os.O_RDWR)
    # the page with the range is not there when the call begins, so the range is not known then
    with open('/mnt/files/range', 'wb') as f:
        f.write(struct.pack('=QQ', BLOCK, BLOCK))
    file = os.open('/mnt/files/range', os.O_RDWR)
    with mmap.mmap(file, 16) as m:
        is_equal(ioctl(fd, BLKDISCARD, address(m)), 0)
        is_equal((others(t, 'VFS'), t.stats('vfs')[4]), ([], 1))
        is_equal(others(t, 'BLK'), [('D', BLOCK // 512, BLOCK)])
        is_equal(ioctl(fd, BLKDISCARD, address(m)), 0)
        is_equal((others(t, 'VFS'), t.stats('vfs')[4]), ([('D', BLOCK, BLOCK)], 1))
    os.close(file)
    # there is no such memory: the call fails
    is_equal(ioctl(fd, BLKDISCARD, 8), errno.EFAULT)
    is_equal((others(t, 'VFS')[1:], t.stats('vfs')[4]), ([('D', 0, 0)], 1))
    t.command('reset')
    n, shared, stop = 300, mmap.mmap(-1, 4096), mmap.mmap(-1, 4096)
    shared[8:16] = BLOCK.to_bytes(8, 'little')
    shared[:8] = BLOCK.to_bytes(8, 'little')
    pid = spawn(change, shared, stop)
    for _ in range(n):
        is_equal(ioctl(fd, BLKDISCARD, address(shared)), 0)
    stop[0] = 1
    join(pid)
    found = others(t, 'VFS')
    is_equal(len(found) + t.stats('vfs')[4] - 1, n)
    is_equal({r for r in found} - {('D', BLOCK, BLOCK), ('D', 4 * BLOCK, BLOCK)}, set())
    is_equal(len(others(t, 'BLK')), n)
    os.close(fd)


def address(memory):
    return ctypes.addressof(ctypes.c_ubyte.from_buffer(memory))


def flushes_of(disk, work):
    """The FLUSH requests of a disk while @work runs: (inode, path, who caused it)."""
    found, _ = traced([disk], work)
    return [(int(r.get('inode', 0)), r.get('path'), r.get('origin_comm'),
             int(r.get('origin_pid', 0))) for r in found
            if (r['disk'], r['op']) == (disk, 'FLUSH')]


def overwrite(path):
    fd = os.open(path, os.O_WRONLY)
    os.pwrite(fd, b'o' * BLOCK, 0)
    os.fdatasync(fd)
    os.close(fd)


@SUITE.test('operations: a FLUSH of category block names the file whose fsync submitted it')
def named_flushes():
    """A FLUSH names the file whose fsync submitted it, and no other has a name."""
    me = 'python3', os.getpid()
    for scheduler in 'none', 'mq-deadline':
        for place, disk in ('/mnt/ext4', 'vda'), ('/mnt/xfs', 'vdb'):
            must(scheduler, f'/sys/block/{disk}/queue/scheduler')
            path = filled(place + '/named')
            os.sync()
            found = flushes_of(disk, lambda path=path: overwrite(path))
            ino = os.stat(path).st_ino
            is_equal((disk, scheduler, [f for f in found if f[0]]),
                     (disk, scheduler, [(ino, path) + me]))
            is_true(not any(f[1] for f in found if not f[0]), found)
    # category fs has hooked the filesystems before
    category.command('start', category='fs')
    found = flushes_of('vda', lambda: overwrite('/mnt/ext4/named'))
    category.command('stop', category='fs')
    is_equal([f[1:3] for f in found if f[0]], [('/mnt/ext4/named', 'python3')])
    # a transaction has to be committed: the journal's thread flushes, for which file is not known
    found = flushes_of('vda', lambda: filled('/mnt/ext4/new'))
    is_equal([f for f in found if f[0]], [])
    is_true(any((f[2] or '').startswith('jbd2') for f in found), found)


@SUITE.test('operations: a FLUSH of category block names a device, and the image of a loop device')
def named_device():
    """The fsync of a device, and of a loop device, whose image is a file."""
    def sync(path):
        fd = os.open(path, os.O_RDWR)
        os.fsync(fd)
        os.close(fd)

    found = flushes_of('vdd', lambda: sync(DISK))
    is_equal([f[1] for f in found if f[0]], [DISK])
    image = filled('/mnt/ext4/image', 1 << 20)
    os.sync()
    subprocess.run(['modprobe', 'loop'], check=True)
    loop = subprocess.run(['losetup', '--find', '--show', image], check=True,
                          capture_output=True, text=True).stdout.strip()
    try:
        found, _ = traced(['vda'], lambda: sync(loop))
    finally:
        subprocess.run(['losetup', '-d', loop], check=True)
    named = [(r['disk'], r['path']) for r in found if r['op'] == 'FLUSH' and 'inode' in r]
    is_equal(sorted(set(named)), [(loop[5:], loop), ('vda', image)])


@SUITE.test('operations: the parameter all_operations', once=True)
@reloads
def parameter_all():
    reload('all_operations=1')
    path = filled('/mnt/ext4/parameter')
    must(f'add {path}')
    os.truncate(path, 5)
    is_equal(rows(Target(path)), [('T', 5, 0)])


@SUITE.test('operations: the tool adds, and CSV and JSON name the operations')
def named_by_tool():
    with_tool()
    path = filled('/mnt/ext4/named')
    execute('iotracer', 'add', '-a', '-i', path)
    # fallocate(1) syncs
    execute('fallocate', '-n', '-o', '4096', '-l', '4096', path)
    execute('fallocate', '-p', '-o', '4096', '-l', '4096', path)
    execute('truncate', '-s', '0', path)
    execute('sync', '-d', path)
    found = [json.loads(line) for line in execute('iotracer', 'log', '--format=json', path).splitlines()]
    is_equal([(r['op'], r['offset_bytes'], r['requested_bytes'], r['result']) for r in found if r['level'] == 'vfs'],
             [('ALLOCATE_KEEP_SIZE', 4096, 4096, 0), ('FSYNC', 0, 0, 0), ('PUNCH_HOLE', 4096, 4096, 0),
              ('FSYNC', 0, 0, 0), ('TRUNCATE', 0, 0, 0), ('FDATASYNC', 0, 0, 0)])
    is_equal(execute('iotracer', 'log', '--format=csv', '--no-header', path).count(',FSYNC,'), 2)
    execute('iotracer', 'profile', path)
    is_true('  operations  all\n' in execute('iotracer', 'status', path), 'not all operations')
    is_true(json.loads(execute('iotracer', 'status', '--format=json', path))[0]['all_operations'], 'nor in JSON')
    execute('iotracer', 'remove', '--all')
