# SPDX-License-Identifier: GPL-2.0
"""
Block devices as targets, mostly /dev/vdd. Their sectors are compared with /proc/diskstats.
"""
import csv
import json
import os
import subprocess

from lib.disk import dd, DISK, diskstats, partition, PARTS, unpartition
from lib.iot import add, as_user, CONTROL, IOT, is_equal, is_true, lines, listing, must, write
from lib.machine import execute, three_filesystems, umount_three_filesystems, with_tool
from lib.suite import Suite

SUITE = Suite(setup=three_filesystems, teardown=umount_three_filesystems)


def blocks(t):
    """The block events of a target, as (operation, first sector, bytes)."""
    return [(f[1], int(f[2]), int(f[3])) for f in lines(t.log()) if f[4] == 'BLK']


def sectors(name):
    """Sectors read and written, as the kernel counts them."""
    of = diskstats(name)
    return of['READ'][1], of['WRITE'][1]


@SUITE.test('devices: reads and writes of programs are recorded at both levels')
def reads_and_writes():
    """I/O through the device node is recorded at both levels, as that of a file is."""
    t = add(DISK, 1000)
    is_equal((t.name, listing()), ('vdd', [DISK]))
    is_equal(sorted(os.listdir(IOT + '/vdd')), ['control', 'log', 'pipe', 'stats', 'stream'])
    dd('if=/dev/zero', f'of={DISK}', 'bs=8k', 'count=3', 'seek=2', 'oflag=direct')
    dd('of=/dev/null', f'if={DISK}', 'bs=4k', 'count=2', 'skip=5', 'iflag=direct')
    is_equal(blocks(t), [('W', 32, 8192), ('W', 48, 8192), ('W', 64, 8192),
                         ('R', 40, 4096), ('R', 48, 4096)])
    rows = [f for f in lines(t.log()) if f[4] == 'VFS']
    is_equal([(f[1], int(f[2]), int(f[3])) for f in rows],
             [('W', 16384, 8192), ('W', 24576, 8192), ('W', 32768, 8192),
              ('R', 20480, 4096), ('R', 24576, 4096)])
    is_equal({f[5] for f in lines(t.log())}, {'dd'})
    t.command('reset')
    dd('if=/dev/urandom', f'of={DISK}', 'bs=64k', 'count=4', 'conv=fsync,notrunc')
    is_equal(sum(n for op, _, n in blocks(t) if op == 'W'), 262144)
    t.is_conserved()
    must(f'remove {DISK}')
    is_true(not os.path.exists(IOT + '/vdd'), 'its directory is still there')


@SUITE.test('devices: a partition records its own requests, the disk all')
def parts():
    """A partition has its own I/O, in sectors from its start; the disk has all I/O."""
    partition()
    disk, first, second = (add(path, 1000) for path in (DISK, DISK + '1', DISK + '2'))
    is_equal([t.name for t in (disk, first, second)], ['vdd', 'vdd1', 'vdd2'])
    dd('if=/dev/zero', f'of={DISK}1', 'bs=4k', 'count=1', 'seek=3', 'oflag=direct')
    dd('if=/dev/zero', f'of={DISK}2', 'bs=4k', 'count=1', 'seek=1', 'oflag=direct')
    dd('if=/dev/zero', f'of={DISK}', 'bs=4k', 'count=1', 'seek=1', 'oflag=direct')
    is_equal([[b for b in blocks(t) if b[0] == 'W'] for t in (first, second, disk)],
             [[('W', 24, 4096)], [('W', 8, 4096)],
              [('W', PARTS[0][0] + 24, 4096), ('W', PARTS[1][0] + 8, 4096), ('W', 8, 4096)]])
    for t, path in (disk, DISK), (first, DISK + '1'), (second, DISK + '2'):
        t.is_conserved()
        must(f'remove {path}')
    unpartition()


@SUITE.test('devices: the sectors of a filesystem are those of /proc/diskstats')
def sums():
    """All sectors that a filesystem reads and writes are those that the kernel counts."""
    partition()
    subprocess.run(['mkfs.ext4', '-q', '-F', '-E', 'nodiscard,lazy_itable_init=0,'
                    'lazy_journal_init=0', DISK + '1'], check=True)
    os.makedirs('/mnt/device', exist_ok=True)
    disk, part = add(DISK, 100000), add(DISK + '1', 100000)
    os.sync()
    subprocess.run(['blockdev', '--flushbufs', DISK + '1'], check=True)
    for t in disk, part:
        t.command('reset')
    before = sectors('vdd'), sectors('vdd1')
    subprocess.run(['mount', '-o', 'noinit_itable', DISK + '1', '/mnt/device'], check=True)
    for direct in 0, 1:
        subprocess.run(['fio', '--name=f', '--directory=/mnt/device', '--rw=randrw', '--size=4m',
                        '--bs=1k-64k', '--blockalign=512', f'--direct={direct}', '--end_fsync=1',
                        '--output=/dev/null'], check=True)
    subprocess.run(['umount', '/mnt/device'], check=True)
    after = sectors('vdd'), sectors('vdd1')
    for i, t in enumerate((disk, part)):
        found = blocks(t)
        is_true(len(found) > 100, len(found))
        is_equal(tuple(sum(n for op, _, n in found if op == way) // 512 for way in 'RW'),
                 tuple(b - a for a, b in zip(before[i], after[i])))
        is_equal(t.stats('blk')[2:], (0, 0, 0))
        t.is_conserved()
    for path in DISK, DISK + '1':
        must(f'remove {path}')
    unpartition()


@SUITE.test('devices: a traced device is removed, and traced again when it comes back')
def gone():
    """A device goes away while it is traced, and another one with its number appears."""
    def load():
        subprocess.run(['modprobe', 'null_blk', 'nr_devices=1', 'gb=1'], check=True)

    load()
    t = add('/dev/nullb0', 100)
    dd('if=/dev/zero', 'of=/dev/nullb0', 'bs=4k', 'count=2', 'oflag=direct')
    subprocess.run(['rmmod', 'null_blk'], check=True)
    is_true(not os.path.exists('/dev/nullb0'), 'the device is still there')
    is_equal([b for b in blocks(t) if b[0] == 'W'], [('W', 0, 4096), ('W', 8, 4096)])
    is_equal(listing(), ['/dev/nullb0'])
    load()
    dd('if=/dev/zero', 'of=/dev/nullb0', 'bs=4k', 'count=1', 'seek=7', 'oflag=direct')
    is_equal([b for b in blocks(t) if b[0] == 'W'][2:], [('W', 56, 4096)])
    subprocess.run(['rmmod', 'null_blk'], check=True)
    t.is_conserved()
    must('remove /dev/nullb0')
    is_equal(listing(), [])


@SUITE.test('devices: who may trace them, and the names of their targets')
def refused():
    """A user who may not read a device cannot trace it; names of targets do not collide."""
    os.chmod(CONTROL, 0o666)
    is_equal(as_user(1000, lambda: write(CONTROL, f'add {DISK}')), 'EACCES')
    os.chmod(CONTROL, 0o600)
    st = os.stat(DISK)
    for name in 'control', 'cache':
        os.mknod(f'/dev/{name}', st.st_mode, st.st_rdev)
        t = add(f'/dev/{name}', 10)
        is_equal(t.name, name + '_2')
        must(f'remove /dev/{name}')
        os.unlink(f'/dev/{name}')
    os.mknod('/mnt/ext4/node', st.st_mode, st.st_rdev)
    t = add('/mnt/ext4/node', 10)
    is_equal(t.name, f'{os.major(st.st_rdev)}:{os.minor(st.st_rdev)}')
    dd('of=/dev/null', 'if=/mnt/ext4/node', 'bs=4k', 'count=1', 'iflag=direct')
    is_equal({f[4] for f in lines(t.log())}, {'BLK', 'VFS'})
    os.mknod('/mnt/ext4/other', st.st_mode, st.st_rdev)
    is_equal(add('/mnt/ext4/other', 10).name, t.name + '_2')
    for name in 'node', 'other':
        must(f'remove /mnt/ext4/{name}')
        os.unlink(f'/mnt/ext4/{name}')


@SUITE.test('devices: the rows of both levels carry the number of the device')
def rows_with_numbers():
    with_tool()
    execute('iotracer', 'add', DISK)
    dd(f'if={DISK}', 'of=/dev/null', 'bs=4k', 'count=1', 'iflag=direct')
    of = os.stat(DISK).st_rdev
    found = csv.DictReader(execute('iotracer', 'log', '--format=csv', DISK).splitlines())
    number = f'{os.major(of)}:{os.minor(of)}'
    is_equal({(row['level'], row['device']) for row in found}, {('blk', number), ('vfs', number)})


@SUITE.test('devices: the tool adds, shows and removes them')
def by_tool():
    with_tool()
    execute('iotracer', 'add', '-n', '50', DISK)
    dd(f'if={DISK}', 'of=/dev/null', 'bs=4k', 'count=3', 'iflag=direct')
    is_equal(execute('iotracer', 'log', '--format=csv', DISK).count(',blk,'), 3)
    is_equal(json.loads(execute('iotracer', 'status', '--format=json', DISK))[0]['levels']['blk']['seen'], 3)
    is_equal(execute('iotracer', 'list').split(), ['vdd', DISK])
    execute('iotracer', 'remove', 'vdd')
    is_equal(execute('iotracer', 'list'), '')
