# SPDX-License-Identifier: GPL-2.0
"""
The tests of operations.bats. Usage: python3 operations.py FUNCTION... See lib/iot.py.

Each operation is done once by a process of its own making. Exactly its rows have to be there.
"""
import ctypes
import mmap
import os
import subprocess

from lib.iot import (is_equal, is_true, lines, main, must, reload, slurp, Target)

LETTERS = 'RWFTAPZCID'
BLOCK = 65536   # a multiple of the blocks of all filesystems
KEEP, PUNCH, COLLAPSE, ZERO, INSERT = 1, 2, 8, 16, 32
PLACES = '/mnt/ext4', '/mnt/xfs', '/mnt/btrfs', '/mnt/files'

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
    must(f'add {options} {path} 1000')
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


def parameter_all():
    reload('all_operations=1')
    path = filled('/mnt/ext4/parameter')
    must(f'add {path}')
    os.truncate(path, 5)
    is_equal(rows(Target(path)), [('T', 5, 0)])


if __name__ == '__main__':
    main(globals(), ('parameter_all',))
