# SPDX-License-Identifier: GPL-2.0
"""
Category block: its events name their file and originator, and the law: over a run in which a device is
idle before and after, its events equal what /proc/diskstats counts for it, in number and in sectors.
"""
import contextlib
import fcntl
import functools
import glob
import mmap
import multiprocessing
import os
import struct
import subprocess
import time

from lib import category, fuse
from lib.disk import diskstats
from lib.iot import IOT, is_equal, is_true, join, memory_group, must, reload, slurp, unload, write
from lib.machine import (execute, mapped, new_filesystem, new_tmpfs, sectors as sectors_of, umount,
                         umount_left, unmap_all)
from lib.process import spawn
from lib.suite import Skip, Suite

BLOCK = 'block'


def setup():
    new_tmpfs('/mnt/files')
    for name in 'disk', 'load', 'below', 'ext4':
        os.makedirs(f'/mnt/{name}', exist_ok=True)
    reload()


def teardown():
    unload()
    umount('/mnt/files')


def after():
    """What a test that failed has left."""
    subprocess.run(('losetup', '-D'), check=False)
    umount_left('/mnt/load', '/mnt/ext4', '/mnt/below')
    if os.path.isdir('/sys/block/md127/md'):
        write('/sys/block/md127/md/array_state', 'clear')
    unmap_all()
    command('stop', 'filter none')


SUITE = Suite(setup=setup, teardown=teardown, after=after)
SIZE = 16384
WRITES = ('WRITE', 'WRITE_ZEROES', 'ZONE_APPEND', 'SECURE_ERASE')


def command(*lines):
    category.command(*lines, category=BLOCK)


def rows():
    return category.events(category=BLOCK)


def number(name):
    return slurp(f'/sys/class/block/{name}/dev').strip()


def group(op):
    return 'WRITE' if op in WRITES else op


def pieces(r):
    """
    How many I/Os /proc/diskstats counts for an event. The device mapper counts the parts
    into which it splits a bio, and counts data with a flush before it once more.
    """
    if 'BIO' not in r.get('flags', ''):
        return 1
    flush = 'PREFLUSH' in r['flags'] and int(r.get('requested', 0)) > 0
    return int(r['parts']) + flush


def sums(found, name):
    """I/Os and sectors of these events of a device, in the form of diskstats()."""
    total = {kind: (0, 0) for kind in ('READ', 'WRITE', 'DISCARD', 'FLUSH')}
    for r in found:
        if r['device'] == number(name):
            n, sectors = total[group(r['op'])]
            n += pieces(r)
            total[group(r['op'])] = (n, sectors + max(int(r['result']), 0) // 512)
    return total


def settle(name):
    execute('sync')
    while slurp(f'/sys/class/block/{name}/inflight').split() != ['0', '0']:
        pass


def traced(names, work, *conditions):
    """Trace while only @work uses the devices. Return: the events, and what diskstats counted."""
    for name in names:
        settle(name)
    command('stop', f'size {SIZE}', 'reset', ' '.join(('filter',) + (conditions or ('none',))))
    before = {name: diskstats(name) for name in names}
    command('start')
    work()
    for name in names:
        settle(name)
    command('stop')
    s = category.is_conserved(BLOCK)
    is_equal((s['overwritten'], s['lost'], s['missed']), (0, 0, 0))
    did = {}
    for name in names:
        after = diskstats(name)
        did[name] = {k: (after[k][0] - n, after[k][1] - sectors)
                     for k, (n, sectors) in before[name].items()}
    return rows(), did


def is_sane(found):
    """What holds for every request."""
    for r in found:
        total, queue, device = (int(r.get(k, 0)) for k in
                                ('latency', 'queue_latency', 'device_latency'))
        is_true(total > 0 and queue + device <= total, r)
        is_true('EARLY' not in r.get('flags', ''), r)
        is_true(r['pid'] > 0 and r['comm'], r)
        is_equal(r.get('result'), r.get('requested', '0'))


MKFS = {'ext4': ('-q', '-F', '-J', 'size=4'), 'xfs': ('-q', '-f'), 'btrfs': ('-q', '-f')}
FIO = ('fio', '--filename=/mnt/load/load', '--size=1M', '--bs=4k', '--thread', '--fallocate=none',
       '--output=/tmp/fio', '--stonewall',
       '--name=direct', '--rw=randrw', '--ioengine=libaio', '--iodepth=8', '--direct=1',
       '--name=buffered', '--rw=randwrite', '--ioengine=psync', '--fsync=32')


def load(fs, disk):
    """Make a filesystem, use it in most ways, and unmount it."""
    execute(f'mkfs.{fs}', *MKFS[fs], disk)
    execute('mount', disk, '/mnt/load')
    execute(*FIO)
    write('/proc/sys/vm/drop_caches', '3')
    execute('dd', 'if=/mnt/load/load', 'of=/dev/null', 'bs=4k', 'status=none')
    os.unlink('/mnt/load/load')
    subprocess.run(['fstrim', '/mnt/load'], check=False, stderr=subprocess.DEVNULL)
    execute('umount', '/mnt/load')


def comparable(name, of):
    """Of md only the sectors: it counts no empty flushes, and counts pieces it makes itself."""
    return {k: sectors for k, (_, sectors) in of.items()} if name.startswith('md') else of


def equals_diskstats(scheduler, filesystems, *names):
    """The law at the head, for a load by each filesystem on the first device; the others are those below it."""
    top = names[0]
    for name in names:
        path = f'/sys/class/block/{name}/queue/scheduler'
        if os.path.exists(path):
            is_equal(write(path, scheduler), len(scheduler))
    for fs in filesystems:
        found, did = traced(names, lambda fs=fs: load(fs, '/dev/' + top))
        is_sane(found)
        for name in names:
            is_equal((name, fs, comparable(name, sums(found, name))),
                     (name, fs, comparable(name, did[name])))
        is_true(did[top]['READ'][0] > 100 and did[top]['WRITE'][0] > 200, did)


def merged(name):
    """Requests that gain many bios while they wait: the process that made them is known."""
    is_equal(write(f'/sys/class/block/{name}/queue/scheduler', 'mq-deadline'), 11)
    is_equal(write(f'/sys/class/block/{name}/queue/nr_requests', '64'), 2)

    def work():
        execute('fio', '--name=merged', f'--filename=/dev/{name}', '--rw=read', '--bs=4k', '--size=8M',
           '--direct=1', '--ioengine=libaio', '--iodepth=256', '--iodepth_batch=256',
           '--iodepth_batch_complete_min=256', '--output=/tmp/fio')

    found, did = traced([name], work)
    is_sane(found)
    is_equal(sums(found, name), did[name])
    found = [r for r in found if r['disk'] == name] # fio's own program may be read meanwhile
    is_equal({r['comm'] for r in found if int(r['bios']) > 1}, {'fio'})
    # the module counts to 64 only, with interrupts off
    is_equal(max(int(r['bios']) for r in found), 65)
    for r in found:
        if int(r['bios']) > 1:
            is_equal(int(r['bios']), min(int(r['requested']) // 4096, 65))


def swapped(name):
    """A program's memory that is swapped out and in belongs to no file."""
    size = 16 << 20
    execute('mkswap', '/dev/' + name)
    execute('swapon', '/dev/' + name)

    def user(group, filled, reclaimed):
        must(str(os.getpid()), group + '/cgroup.procs')
        with mmap.mmap(-1, size) as m:
            for at in range(0, size, 4096):
                m[at] = at >> 12 & 255
            filled.set()
            reclaimed.wait()
            is_equal({m[at] == at >> 12 & 255 for at in range(0, size, 4096)}, {True})

    def work():
        filled, reclaimed = multiprocessing.Event(), multiprocessing.Event()
        pid = spawn(user, group, filled, reclaimed)
        filled.wait()
        write(group + '/memory.reclaim', str(size))
        reclaimed.set()
        join(pid)

    with memory_group() as group:
        found, did = traced([name], work)
    execute('swapoff', '/dev/' + name)
    is_sane(found)
    is_equal(sums(found, name), did[name])
    out, back = ([r for r in found if (r['device'], r['op']) == (number(name), op)]
                 for op in ('WRITE', 'READ'))
    is_true(did[name]['WRITE'][1] > 8192 and did[name]['READ'][1] > 8192, did)
    is_equal({'SWAP' in r['flags'].split('|') for r in out + back}, {True})
    is_equal({(r.get('inode'), r.get('path'), r.get('class')) for r in out + back},
             {(None, None, None)})


def without_counts(name):
    """A device that /proc/diskstats does not count: each bio of a known load is recorded."""
    def work():
        fd = os.open('/dev/' + name, os.O_RDWR | os.O_DIRECT)
        buf = mmap.mmap(-1, 8192)
        for i in range(50):
            is_equal(os.pwritev(fd, [buf], i * 8192), 8192)
            is_equal(os.preadv(fd, [memoryview(buf)[:4096]], i * 4096), 4096)
        os.close(fd)

    found, did = traced([name], work, f'pid={os.getpid()}', f'dev={number(name)}')
    is_sane(found)
    is_equal(did[name]['WRITE'], (0, 0))
    is_true(all('BIO' in r['flags'] and r['disk'] == name for r in found), found)
    is_equal(sorted((r['op'], int(r.get('sector', 0)), r['result']) for r in found),
             [('READ', i * 8, '4096') for i in range(50)] +
             [('WRITE', i * 16, '8192') for i in range(50)])


def direct_files():
    """Events of direct I/O name file, offset and path, whether or not category fs is started."""
    path = '/mnt/ext4/direct'
    with open(path, 'wb') as f:
        f.write(b'x' * 65536)
        os.fsync(f.fileno())
    st = os.stat(path)

    def work():
        fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        buf = mmap.mmap(-1, 4096)
        for at in (0, 8192, 40960):
            os.preadv(fd, [buf], at)
            os.pwritev(fd, [buf], at)
        os.close(fd)

    for also in (None, 'fs'):
        if also:
            category.command('start', category=also)
        found, _ = traced(['vda'], work, f'pid={os.getpid()}', 'op=READ,WRITE')
        if also:
            category.command('stop', category=also)
        mine = [r for r in found if r.get('class') == 'DIRECT']
        is_equal([(r['op'], int(r.get('offset', 0))) for r in mine],
                 [(op, at) for at in (0, 8192, 40960) for op in ('READ', 'WRITE')])
        is_equal({(r['path'], int(r['inode']), r['file_device'], r['file_size'])
                  for r in mine}, {(path, st.st_ino, number('vda'), '65536')})


def as_process(comm, work):
    """Do the work in a child of that name. Return: its pid."""
    pid = os.fork()
    if not pid:
        with open('/proc/self/comm', 'w') as f:
            f.write(comm)
        work()
        os._exit(0)
    is_equal(os.waitpid(pid, 0)[1], 0)
    return pid


def originators():
    """Events of writeback name the process that wrote the data, not the one that submits it."""
    path = '/mnt/ext4/written'

    def writer():
        with open(path, 'wb') as f:
            f.write(b'y' * 262144)

    def work():
        work.pid = as_process('the-writer', writer)
        execute('sync')

    found, _ = traced(['vda'], work)
    st = os.stat(path)
    mine = [r for r in found if int(r.get('inode', 0)) == st.st_ino]
    is_equal(sum(int(r['result']) for r in mine), 262144)
    is_equal({(int(r['origin_pid']), r['origin_comm']) for r in mine},
             {(work.pid, 'the-writer')})
    is_equal({r['class'] for r in mine}, {'FILE_256K'})
    # the path is known although no category saw the file being opened
    is_equal({r.get('path') for r in mine}, {path})
    is_true(work.pid not in {r['pid'] for r in mine}, mine)
    is_true({r['class'] for r in found if r['comm'].startswith('jbd2')} >= {'JOURNAL'}, found)


def many_originators():
    """
    Each page's own writer is named, although others wrote other pages meanwhile. Where another page has
    taken the place of one in the table, the file's last writer is, and that is counted.
    """
    together, writers = '/mnt/ext4/together', {}
    before = category.stats('block')['originators_by_file']

    def write_at(path, offset):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.pwrite(fd, bytes(4096), offset)
        os.close(fd)

    def work():
        for i in range(20):
            def writer(i=i):
                write_at(f'/mnt/ext4/alone{i}', 0)
                write_at(together, i * 65536)

            writers[i] = as_process(f'writer{i}', writer)
        execute('sync')

    found, _ = traced(['vda'], work)
    files = {os.stat(f'/mnt/ext4/alone{i}').st_ino: i for i in writers}
    shared = os.stat(together).st_ino
    named, others = set(), 0
    for r in found:
        inode = int(r.get('inode', 0))
        if inode == shared:
            i = int(r.get('offset', 0)) // 65536
        elif inode in files:
            i = files[inode]
        else:
            continue
        is_ = int(r['origin_pid']), r['origin_comm']
        if inode == shared and is_ == (writers[19], 'writer19') != (writers[i], f'writer{i}'):
            others += 1
        else:
            is_equal(is_, (writers[i], f'writer{i}'))
        named.add(i)
    is_equal(named, set(writers))
    by_file = category.stats('block')['originators_by_file'] - before
    is_true(others <= by_file and others < 19, (others, by_file))


def hindered(name, option, every):
    """
    A disk of scsi_debug that refuses or forgets some commands. They are issued again, and
    are one request each. Return: the events of those that were issued again.
    """
    driver = '/sys/bus/pseudo/drivers/scsi_debug/'

    def work():
        must(f'{every}\n', driver + 'every_nth')
        must(f'{option}\n', driver + 'opts')
        fd = os.open('/dev/' + name, os.O_RDWR | os.O_DIRECT)
        buf = mmap.mmap(-1, 4096)
        for i in range(40):
            is_equal(os.pwritev(fd, [buf], i * 8192), 4096)
            is_equal(os.preadv(fd, [buf], i * 4096), 4096)
        os.close(fd)
        must('0\n', driver + 'opts')

    found, did = traced([name], work, f'pid={os.getpid()}', f'dev={number(name)}')
    is_sane(found)
    is_equal(sums(found, name), did[name])
    is_equal(did[name]['READ'][0], 40)
    again = [r for r in found if 'requeues' in r]
    is_true(again, 'nothing was requeued')
    return again


def busy(name):
    """The host has no room for a command now."""
    hindered(name, '0x8000', 7)


def silent(name):
    """A command without an answer within a second is aborted, and tried again."""
    must('1\n', f'/sys/block/{name}/device/timeout')
    for r in hindered(name, '0x4', 30):
        is_true(1e9 <= int(r['latency']) < 60e9, r)
        is_true(int(r['device_latency']) > 9e8, r)


def errors(name):
    """The device fails from sector 1024 on; the result of such an event is an errno."""
    def work():
        fd = os.open('/dev/' + name, os.O_RDONLY | os.O_DIRECT)
        buf = mmap.mmap(-1, 4096)
        is_equal(os.preadv(fd, [buf], 0), 4096)
        try:
            os.preadv(fd, [buf], 1024 * 512)
            raise AssertionError('a bad sector was read')
        except OSError as e:
            is_equal(e.errno, 5)
        os.close(fd)

    found, _ = traced([name], work, f'pid={os.getpid()}')
    bad = [r for r in found if r['disk'] == name]
    is_equal([(r.get('sector', '0'), r['result']) for r in bad], [('0', '4096'), ('1024', '-5')])
    is_true(all('BIO' in r['flags'] for r in bad), bad)


def read_direct(path, offset=0):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, 4096) as m:
        is_equal(os.preadv(fd, [m], offset), 4096)
    os.close(fd)


def early():
    """A request that was made before start has no submitter, so no condition on tasks fits it."""
    execute('modprobe', 'loop')
    with fuse.mounted(600) as hold:
        loop = subprocess.run(['losetup', '--find', '--show', '--read-only', fuse.FILE], check=True,
                              capture_output=True, text=True).stdout.strip()
        name = loop[5:]
        for page, condition in (200, 'none'), (400, 'uid=0'):
            hold.set()
            reader = spawn(read_direct, loop, page * 4096)
            while slurp(f'/sys/class/block/{name}/inflight').split()[0] != '1':
                time.sleep(0.01)
            command('stop', 'reset', f'filter {condition}', 'start')
            hold.clear()
            join(reader)
            command('stop')
            found = [r for r in rows() if r['disk'] == name]
            if condition != 'none':
                is_equal(found, [])
                continue
            is_equal([(r['flags'], r['comm'], r['pid'], r['op'], r['sector']) for r in found],
                     [('SYNC|EARLY', '', 0, 'READ', str(page * 8))])
        execute('losetup', '-d', loop)


def mounted_later(disk='/dev/vdb'):
    """The file of a direct read is known, also if no filesystem of its kind was mounted at the start."""
    where = '/mnt/later'
    os.makedirs(where, exist_ok=True)
    execute('mkfs.xfs', '-q', '-f', disk)
    execute('mount', disk, where)
    with open(where + '/f', 'wb') as f:
        f.write(bytes(4096))
    execute('umount', where)

    def named(mounted):
        """The paths of the reads of 4096 bytes of this process."""
        if mounted:
            execute('mount', disk, where)
        command('stop', 'reset', f'filter pid={os.getpid()} dev={number(disk[5:])} op=READ', 'start')
        if not mounted:
            execute('mount', disk, where)
        read_direct(where + '/f')
        command('stop')
        execute('umount', where)
        return [r.get('path') for r in rows() if r['result'] == '4096' and 'META' not in r.get('flags', '')]

    is_equal(named(False), [where + '/f'])
    is_equal(named(True), [where + '/f'])


BLKRESETZONE, BLKOPENZONE, BLKCLOSEZONE, BLKFINISHZONE = 0x40101283, 0x40101286, 0x40101287, 0x40101288


def zones(name):
    """What is asked of the zones of a device."""
    size = int(slurp(f'/sys/class/block/{name}/queue/chunk_sectors'))
    disk = int(slurp(f'/sys/class/block/{name}/size'))
    asked = (BLKOPENZONE, size, size), (BLKCLOSEZONE, size, size), (BLKFINISHZONE, 2 * size, size), \
            (BLKRESETZONE, size, size), (BLKRESETZONE, 0, disk)

    def work():
        fd = os.open('/dev/' + name, os.O_RDWR)
        for request, first, length in asked:
            fcntl.ioctl(fd, request, struct.pack('<QQ', first, length))
        os.close(fd)

    found, _ = traced([name], work, f'pid={os.getpid()}')
    is_equal([(r['op'], int(r.get('sector', 0))) for r in found],
             [('ZONE_OPEN', size), ('ZONE_CLOSE', size), ('ZONE_FINISH', 2 * size),
              ('ZONE_RESET', size), ('ZONE_RESET_ALL', 0)])


def asked_of_driver(name='vda'):
    """Virtio's driver asks the host for the serial of a disk."""
    found, _ = traced([name], lambda: slurp(f'/sys/class/block/{name}/serial'), 'op=DRV_IN')
    is_equal([(r['op'], r['disk']) for r in found], [('DRV_IN', name)])


BAD_SECTOR = 0x1234     # scsi_debug: the first that cannot be read
ENODATA = 61


def medium_error(name):
    """The disk reads the sectors before a bad one, and fails at that one: one request, an errno."""
    options = '/sys/bus/pseudo/drivers/scsi_debug/opts'
    first = BAD_SECTOR // 8 * 8

    def work():
        fd = os.open('/dev/' + name, os.O_RDONLY | os.O_DIRECT)
        buf = mmap.mmap(-1, 4096)
        must('0x2\n', options)
        try:
            os.preadv(fd, [buf], first * 512)
            raise AssertionError('a bad sector was read')
        except OSError as e:
            is_equal(e.errno, ENODATA)
        finally:
            must('0\n', options)
            os.close(fd)

    found, did = traced([name], work, f'pid={os.getpid()}', f'dev={number(name)}', 'op=READ')
    bad = [r for r in found if r['sector'] == str(first)]
    is_equal([(r['requested'], r['result']) for r in bad], [('4096', str(-ENODATA))])
    is_equal(did[name]['READ'][0], len(found))


def filters():
    path = '/mnt/ext4/filters'

    def work():
        with open(path, 'wb') as f:
            f.write(b'z' * 8192)
            os.fsync(f.fileno())

    found, _ = traced(['vda', 'vdb'], work, f'dev={number("vdb")}')
    is_equal(found, [])
    found, _ = traced(['vda'], work, f'dev={number("vda")}', 'op=FLUSH')
    is_true(found and {r['op'] for r in found} == {'FLUSH'}, found)
    found, _ = traced(['vda'], work, f'dev={number("vdb")},{number("vda")}', 'op=WRITE')
    is_true(any(r.get('path') == path for r in found), found)
    found, _ = traced(['vda'], work, f'dev={number("vdb")},1:1')
    is_equal(found, [])
    found, _ = traced(['vda'], work, 'comm=nobody')
    is_equal(found, [])
    inode = os.stat(path).st_ino
    found, _ = traced(['vda'], work, f'inode={inode}')
    is_equal([(r['op'], r['result']) for r in found], [('WRITE', '8192')])
    found, _ = traced(['vda'], work, 'min_size=8192', 'op=WRITE')
    is_true(found and all(int(r['requested']) >= 8192 for r in found), found)
    is_equal(write(f'{IOT}/{BLOCK}/control', 'filter kind=file\n'), 'EINVAL')



@contextlib.contextmanager
def module(name, *parameters):
    execute('modprobe', name, *parameters)
    try:
        yield
    finally:
        execute('rmmod', name)


null_blk = functools.partial(module, 'null_blk', 'nr_devices=1', 'gb=1')


@SUITE.test('block: counts and sectors match diskstats, virtio-blk without scheduler')
def without_scheduler():
    equals_diskstats('none', ('ext4', 'xfs', 'btrfs'), 'vda')


@SUITE.test('block: counts and sectors match diskstats, virtio-blk with mq-deadline', once=True)
def with_mq_deadline():
    equals_diskstats('mq-deadline', ('ext4',), 'vda')


@SUITE.test('block: counts and sectors match diskstats, virtio-blk with bfq', once=True)
def with_bfq():
    execute('modprobe', 'bfq')
    equals_diskstats('bfq', ('xfs',), 'vda')


@SUITE.test('block: counts and sectors match diskstats, null_blk')
def on_null_blk():
    with null_blk('memory_backed=1', 'discard=1'):
        equals_diskstats('none', ('xfs',), 'nullb0')


@SUITE.test('block: requests merged from many bios name the process that made them')
def many_bios():
    with null_blk('irqmode=2', 'completion_nsec=50000000', 'hw_queue_depth=1', 'max_sectors=2048'):
        merged('nullb0')


@SUITE.test('block: memory that is swapped out and in belongs to no file')
def swapped_out():
    swapped('vdd')


@SUITE.test('block: counts and sectors match diskstats, loop and the disk below it')
def on_loop():
    execute('modprobe', 'loop')
    new_filesystem('ext4', '/dev/vdb', '/mnt/below')
    # ext4lazyinit would write inode tables and read bitmaps meanwhile
    execute('mount', '-o', 'remount,noinit_itable,no_prefetch_block_bitmaps', '/mnt/below')
    with open('/mnt/below/image', 'wb') as f:
        f.truncate(400 << 20)
    loop = execute('losetup', '--find', '--show', '/mnt/below/image').strip()
    equals_diskstats('none', ('ext4',), os.path.basename(loop), 'vdb')
    execute('losetup', '-d', loop)
    umount('/mnt/below')


@SUITE.test('block: counts and sectors match diskstats, dm-linear and the disk below', once=True)
def on_linear():
    with mapped('plain', f'0 {sectors_of("/dev/vdc")} linear /dev/vdc 0') as device:
        equals_diskstats('none', ('btrfs',), os.path.basename(device), 'vdc')


@SUITE.test('block: counts and sectors match diskstats, dm-crypt and the disk below')
def on_crypt():
    with mapped('hidden', f'0 {sectors_of("/dev/vdc")} crypt aes-xts-plain64 {"7".zfill(64)} 0 /dev/vdc 0') as device:
        equals_diskstats('none', ('ext4',), os.path.basename(device), 'vdc')


def mirror(name, *disks):
    """Make a RAID 1 of md through sysfs, without mdadm."""
    md = f'/sys/block/{name}/md/'
    execute('modprobe', 'raid1')
    must(name, '/sys/module/md_mod/parameters/new_array')
    for file, value in (('metadata_version', 'none'), ('level', 'raid1'), ('raid_disks', str(len(disks))),
                        ('component_size', str(sectors_of('/dev/' + disks[0]) // 2))):
        must(value + '\n', md + file)
    for slot, disk in enumerate(disks):
        must(number(disk) + '\n', md + 'new_dev')
        must(f'{slot}\n', f'{md}dev-{disk}/slot')
    must('none\n', md + 'resync_start')
    must('active\n', md + 'array_state')


@SUITE.test('block: counts and sectors match diskstats, md raid1 and the disks below')
def on_raid():
    mirror('md127', 'vdb', 'vdc')
    equals_diskstats('none', ('ext4',), 'md127', 'vdb', 'vdc')
    must('clear\n', '/sys/block/md127/md/array_state')


@SUITE.test('block: each bio of brd is an event, although diskstats does not count them')
def on_brd():
    with module('brd', 'rd_nr=1', 'rd_size=8192'):
        without_counts('ram0')


def on_ext4(function):
    """The test with an ext4 on vda in /mnt/ext4."""
    @functools.wraps(function)
    def run():
        must('none', '/sys/block/vda/queue/scheduler')
        new_filesystem('ext4', '/dev/vda', '/mnt/ext4')
        function()
        umount('/mnt/ext4')
    return run


SUITE.add('block: direct I/O names its file', on_ext4(direct_files))
SUITE.add('block: writeback names the process that wrote the data', on_ext4(originators))
SUITE.add('block: writeback names each page\'s own writer', on_ext4(many_originators))
SUITE.add('block: filters', on_ext4(filters), once=True)


@SUITE.test('block: a failed request has its error number')
def failed_request():
    with mapped('bad', '0 1024 linear /dev/vdd 0\n1024 1024 error') as device:
        errors(os.path.basename(device))


SUITE.add('block: a request from before the start has no submitter', early)
SUITE.add('block: the file of a direct read, where its kind of filesystem is mounted later', mounted_later, once=True)


@SUITE.test('block: what is asked of zones')
def of_zones():
    with null_blk('zoned=1', 'zone_size=64'):
        zones('nullb0')


SUITE.add('block: what is asked of a driver', asked_of_driver)


def on_scsi(function):
    """The test with the name of a disk of scsi_debug."""
    @functools.wraps(function)
    def run():
        modules = 'scsi_debug', 'sd_mod'
        if subprocess.run(('modprobe', '-a', *modules), stderr=subprocess.DEVNULL, check=False).returncode:
            raise Skip('no SCSI')
        deadline = time.monotonic() + 60
        while not (found := glob.glob('/sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*')):
            is_true(time.monotonic() < deadline, 'no disk')
            time.sleep(0.1)
        function(os.path.basename(found[0]))
        execute('rmmod', 'scsi_debug')
    return run


SUITE.add('block: a request that a disk fails has its error number', on_scsi(medium_error))
SUITE.add('block: requests that come again: the host is busy', on_scsi(busy))
SUITE.add('block: requests that come again: the disk does not answer', on_scsi(silent))
