# SPDX-License-Identifier: GPL-2.0
"""
Where data goes below a file: several devices, journals, swap areas, and devices that hand bios to
threads of their own.

What is known in advance is how much a test writes and reads, and on which devices the kernel counts
it (/sys/block/*/stat, by /proc/diskstats).
"""
import fcntl
import json
import mmap
import multiprocessing
import os
import shutil
import struct
import subprocess

from lib import category
from lib.iot import (forget, in_json, is_equal, is_true, join, memory_group, must, reload, slurp,
                     touch, unload, write)
from lib.machine import (execute, mapped, new_filesystem, new_tmpfs, sectors, umount, umount_left,
                         unmap_all, with_tool)
from lib.process import spawn
from lib.suite import Suite

WHERE = '/mnt/some'
PAGE = 4096
MIB = 1 << 20
DIRECT = 256 << 10
EXT4_IOC_CHECKPOINT = 0x4004662b


def setup():
    with_tool()
    for top in WHERE, '/mnt/disk', '/mnt/lower':
        os.makedirs(top, exist_ok=True)
    new_tmpfs('/mnt/files')
    reload()


def teardown():
    unload()
    umount('/mnt/files')


def after():
    """What a test that failed has left."""
    category.command('stop', 'filter none', category='block')
    category.command('stop', 'filter none')
    execute('swapoff', '-a')
    umount_left(WHERE)
    subprocess.run(('losetup', '-D'), check=False)
    umount_left('/mnt/lower', '/mnt/disk')
    unmap_all()


SUITE = Suite(setup=setup, teardown=teardown, after=after)


def number(name):
    with open(f'/sys/class/block/{name}/dev', encoding='ascii') as f:
        return f.read().strip()


def io(path):
    """1 MiB through the page cache and 256 KiB directly, each written and read."""
    fd = os.open(path, os.O_RDWR)
    is_equal(os.pwrite(fd, b'b' * MIB, 0), MIB)
    os.fsync(fd)
    forget(path)
    is_equal(len(os.pread(fd, MIB, 0)), MIB)
    os.close(fd)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, DIRECT) as buf:
        buf.write(b'd' * DIRECT)
        is_equal(os.pwritev(fd, [buf], 0), DIRECT)
        is_equal(os.preadv(fd, [buf], 0), DIRECT)
        is_equal(buf[:], b'd' * DIRECT)
    os.close(fd)


def moved(rows, device=None):
    """Bytes of the bios that read and write, of one device or of all."""
    found = {'R': 0, 'W': 0}
    for r in rows:
        op = r['op'].removeprefix('BLOCK_')
        if (r.get('level') == 'blk' or op != r['op']) and op in ('R', 'W', 'READ', 'WRITE') and \
           device in (None, r.get('device2') or r['device']):
            found[op[0]] += int(r['result'])
    return found['R'], found['W']


def on_devices(copies=1, only=None):
    """
    The bios of a file are in its log, in that of its directory and of the process, on whatever device
    they are, and once for each copy that the filesystem makes. @only: the device that has all
    """
    directory = f'{WHERE}/in'
    os.makedirs(directory, exist_ok=True)
    path = directory + '/file'
    with open(path, 'wb') as f:
        f.write(b'0' * MIB)
        os.fsync(f.fileno())
    forget(path)
    expected = MIB + DIRECT, (MIB + DIRECT) * copies
    for text in path, directory, f'tree={os.getpid()}':
        must(f'add {text} 10000')
        join(spawn(io, path))
        rows = in_json(text)
        if text.startswith('tree'):
            rows = [r for r in rows if r.get('path') == path]
        is_equal((text, moved(rows)), (text, expected))
        if only:
            is_equal((text, moved(rows, number(only))), (text, expected))
        must(f'remove {text}')


def read_only(only):
    """It has just been mounted: nothing of it is in memory."""
    path = WHERE + '/file'
    must(f'add {path} 10000')
    must(f'add {WHERE} 10000')
    with open(path, 'rb') as f:
        is_equal(len(f.read()), MIB)
    for text in path, WHERE:
        is_equal((text, moved(in_json(text), number(only))), (text, (MIB, 0)))
        must(f'remove {text}')


def mapped_buffer():
    """The pages of a file that are a program's buffer do not make a bio the file's."""
    path, other = WHERE + '/mapped', WHERE + '/other'
    for name in path, other:
        with open(name, 'wb') as f:
            f.write(b'm' * DIRECT)
            os.fsync(f.fileno())
    must(f'add {path} 1000')
    must(f'add {WHERE} 10000')
    fd = os.open(path, os.O_RDWR)
    to = os.open(other, os.O_WRONLY | os.O_DIRECT)
    with mmap.mmap(fd, DIRECT) as m:
        is_equal(m[:], b'm' * DIRECT)
        is_equal(os.pwritev(to, [m], 0), DIRECT)
    os.close(fd)
    os.close(to)
    is_equal(moved(in_json(path)), (0, 0))
    rows = in_json(WHERE)
    is_equal({r['path'] for r in rows if r['op'].startswith('BLOCK')}, {other})
    is_equal(moved(rows), (0, DIRECT))
    must(f'remove {path}')
    must(f'remove {WHERE}')


def pages_swapped():
    """Bytes that the kernel counts as swapped (in, out)."""
    counts = dict(line.split() for line in slurp('/proc/vmstat').splitlines())
    return int(counts['pswpin']) * PAGE, int(counts['pswpout']) * PAGE


def swap(size=16 * MIB):
    """A process's memory is swapped out, and in again. Return: bytes as the kernel counts them."""
    def user(group, filled, reclaimed):
        must(str(os.getpid()), group + '/cgroup.procs')
        with mmap.mmap(-1, size) as m:
            for at in range(0, size, PAGE):
                m[at] = at // PAGE % 255 + 1
            filled.set()
            reclaimed.wait()
            for at in range(0, size, PAGE):
                is_equal(m[at], at // PAGE % 255 + 1)

    before = pages_swapped()
    filled, reclaimed = multiprocessing.Event(), multiprocessing.Event()
    with memory_group() as group:
        pid = spawn(user, group, filled, reclaimed)
        filled.wait()
        write(group + '/memory.reclaim', str(size))
        reclaimed.set()
        join(pid)
    return tuple(b - a for a, b in zip(before, pages_swapped()))


def sums(rows):
    return tuple(sum(int(r['result']) for r in rows if r['op'] == op) for op in ('READ', 'WRITE'))


def block_of(fd, offset):
    """The sector where a file has a byte, from FIBMAP."""
    size = os.fstat(fd).st_blksize
    block = bytearray(struct.pack('i', offset // size))
    fcntl.ioctl(fd, 1, block)
    return struct.unpack('i', block)[0] * (size // 512) + offset % size // 512


def swapped(disk):
    path = WHERE + '/swap'
    must(f'add {path} 100000')
    must(f'add {WHERE} 100000')
    category.command('stop', 'size 65536', 'reset', 'filter none', 'start', category='block')
    counted = swap()
    category.command('stop', category='block')
    is_true(min(counted) > 8 * MIB, counted)
    # what programs read meanwhile is no swap
    found = [r for r in category.events(category='block') if 'SWAP' in r.get('flags', '').split('|')]
    is_equal(sums(found), counted)
    inode = os.stat(path).st_ino
    is_equal({(r['path'], int(r['inode']), r['class'], r['device']) for r in found},
             {(path, inode, 'FILE_64M', number(disk))})
    log, rows = in_json(path), in_json(WHERE)
    is_equal((moved(log), moved(rows)), (counted, counted))
    is_true(all('SWAP' in r.get('flags', '') for r in rows if r['op'].startswith('BLOCK')), rows[:2])
    if os.statvfs(WHERE).f_bsize == PAGE and slurp('/proc/mounts').find(f'{WHERE} ext4') > 0:
        fd = os.open(path, os.O_RDONLY)
        for r in found[::len(found) // 50] + log[::len(log) // 50]:
            offset = int(r.get('offset', r.get('offset_bytes')))
            is_equal(int(r['sector']), block_of(fd, offset))
        os.close(fd)
    must(f'remove {path}')
    must(f'remove {WHERE}')


def swapped_to_memory(disk):
    """Before 6.3 such devices take pages without a bio (->rw_page): then there are no events."""
    category.command('stop', 'size 65536', 'reset', 'filter none', 'start', category='block')
    counted = swap()
    category.command('stop', category='block')
    found = [r for r in category.events(category='block') if r['device'] == number(disk)]
    is_true(min(counted) > 8 * MIB, counted)
    is_equal(sums(found), (0, 0) if ' bdev_write_page\n' in slurp('/proc/kallsyms') else counted)
    is_true(all('SWAP' in r.get('flags', '').split('|') for r in found), found[:3])
    is_equal({(r.get('path'), r.get('class')) for r in found} - {(None, None)}, set())


def journalled(disk, journal=None):
    """What is written to the journal is the journal's; where the data is in the end, it is the file's."""
    path = WHERE + '/file'
    with open(path, 'wb') as f:
        os.fsync(f.fileno())
    os.sync()
    texts = path, WHERE
    for text in texts:
        must(f'add {text} 10000')
    category.command('stop', 'size 65536', 'reset', 'filter none', 'start', category='block')
    fd = os.open(path, os.O_RDWR)
    is_equal(os.pwrite(fd, b'j' * MIB, 0), MIB)
    os.fsync(fd)
    fcntl.ioctl(fd, EXT4_IOC_CHECKPOINT, struct.pack('I', 0))
    os.close(fd)
    category.command('stop', category='block')
    for text in texts:
        rows = in_json(text)
        is_equal((text, moved(rows)), (text, (0, MIB)))
        is_equal((text, moved(rows, number(disk))), (text, (0, MIB)))
    rows = category.events(category='block')
    mine = [r for r in rows if r.get('path') == path and int(r['result'])]
    is_equal(({r['class'] for r in mine}, sums(mine)), ({'FILE_1M'}, (0, MIB)))
    is_equal(sorted(n for r in mine for n in range(int(r.get('offset', 0)), int(r.get('offset', 0)) +
                                                   int(r['result']), 1024)), list(range(0, MIB, 1024)))
    logged = [r for r in rows if r.get('class') == 'JOURNAL']
    is_equal({r['device'] for r in logged}, {number(journal or disk)})
    is_true(sums(logged)[1] >= MIB, sums(logged))
    for text in texts:
        must(f'remove {text}')


def layers_of_overlay():
    """
    Each layer has a device number of its own, which only stat(2) knows. No operation other than reads
    and writes is traced. Of a file that was open before the start it is not known: where the filter
    asks for it, its calls count as missed.
    """
    names = [f'{WHERE}/{layer}-{when}' for layer in ('lower', 'upper') for when in ('early', 'late')]
    device = {name: os.stat(name).st_dev for name in names}
    is_equal(len(set(device.values()) | {os.stat(WHERE).st_dev}), 3)
    late = [name for name in names if 'late' in name]
    early = [os.open(name, os.O_RDONLY) for name in names if 'early' in name]

    def reading():
        for name in late:
            fd = os.open(name, os.O_RDONLY)
            is_equal(os.pread(fd, 10, 0), os.path.basename(name)[:5].encode() + b'\n')
            os.close(fd)
        for fd in early:
            is_equal(len(os.pread(fd, 10, 0)), 6)

    def read(number):
        condition = f'dev={os.major(number)}:{os.minor(number)}'
        missed = category.stats()['missed']
        category.command('reset', f'filter tree={os.getpid()} op=READ {condition}', 'start')
        join(spawn(reading))
        category.command('stop')
        return {(r['path'], r['device']) for r in category.events()}, category.stats()['missed'] - missed

    for number in sorted(set(device.values())):
        is_equal(read(number), ({(name, f'{os.major(number)}:{os.minor(number)}')
                                 for name in late if device[name] == number}, len(early)))
    for fd in early:
        os.close(fd)


def direct(device):
    """1 MiB, written and read directly. Below a loop device it goes through the page cache."""
    fd = os.open(device, os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, MIB) as buf:
        buf.write(b'u' * MIB)
        is_equal(os.pwritev(fd, [buf], 0), MIB)
        os.fsync(fd)
        write('/proc/sys/vm/drop_caches', '1')
        is_equal(os.preadv(fd, [buf], 0), MIB)
        is_equal(buf[:], b'u' * MIB)
    os.close(fd)


def of_process(conditions, function, *args):
    """What a process does: events of category block, and how many more are unattributed."""
    category.command('stop', 'size 65536', 'reset', f'filter tree={os.getpid()} {conditions}', 'start',
                     category='block')
    before = category.stats('block')['unattributed']
    join(spawn(function, *args))
    category.command('stop', category='block')
    return category.events(category='block'), category.stats('block')['unattributed'] - before


def unattributed(upper, lower):
    """The process has the requests of the upper device, all others are counted where a filter asks."""
    rows, count = of_process('', direct, upper)
    is_equal(moved_by(rows, number(os.path.basename(upper))), (MIB, MIB))
    below = sum(moved_by(rows, number(lower)))
    is_true(below < 2 * MIB and count > 0, (below, count))
    for conditions, expected in (f'dev={number(lower)}', True), ('dev=1:1', False), \
                                ('op=WRITE', True), ('op=DISCARD', False):
        is_equal((conditions, of_process(conditions, direct, upper)[1] > 0), (conditions, expected))


def moved_by(rows, device):
    return sums([r for r in rows if r['device'] == device])


def attributed():
    """Data, metadata and a journal that threads of the kernel write."""
    path = WHERE + '/file'

    def work():
        io(path)
        os.sync()

    with open(path, 'wb') as f:
        f.write(b'0' * MIB)
        os.fsync(f.fileno())
    forget(path)
    rows, count = of_process('', work)
    is_true(sums(rows)[1] >= MIB + DIRECT, sums(rows))
    is_equal(count, 0)


def record_says(path, expected):
    """The summary of record, and the metadata, have the number, which is not 0 if that is expected."""
    trace = '/mnt/files/trace'
    result = subprocess.run(['iotracer', 'record', '-o', trace, '-c', 'block', '--', 'dd',
                             'if=/dev/zero', 'of=' + path, 'bs=64k', 'count=4', 'oflag=direct',
                             'status=none'], stderr=subprocess.PIPE, text=True, check=True)
    with open(trace + '/metadata.json', encoding='utf-8') as f:
        count = json.load(f)['categories'][0]['unattributed']
    is_equal(count > 0, expected)
    said = f' {count} requests are not in the trace, though they may belong to the command: '
    is_equal((said in result.stderr, '\n  of nobody ' in result.stderr), (expected,) * 2)
    shutil.rmtree(trace)



@SUITE.test('devices of a file: XFS with realtime and log devices')
def xfs_devices():
    execute('mkfs.xfs', '-q', '-f', '-m', 'reflink=0', '-r', 'rtdev=/dev/vdb', '-l', 'logdev=/dev/vdc,size=64m',
            '/dev/vda')
    execute('mount', '-o', 'rtdev=/dev/vdb,logdev=/dev/vdc', '/dev/vda', WHERE)
    execute('xfs_io', '-c', 'chattr +t', WHERE)
    on_devices(only='vdb')
    umount(WHERE)


@SUITE.test('devices of a file: ext4 with an external journal')
def external_journal():
    execute('mkfs.ext4', '-q', '-F', '-O', 'journal_dev', '-b', '4096', '/dev/vdb')
    execute('mkfs.ext4', '-q', '-F', '-b', '4096', '-J', 'device=/dev/vdb', '/dev/vda')
    execute('mount', '/dev/vda', WHERE)
    on_devices()
    umount(WHERE)


@SUITE.test('devices of a file: btrfs, one mirror on each of two')
def btrfs_mirrors():
    execute('modprobe', 'btrfs')
    execute('mkfs.btrfs', '-q', '-f', '-d', 'raid1', '-m', 'raid1', '/dev/vda', '/dev/vdb')
    execute('mount', '/dev/vda', WHERE)
    on_devices(2)
    umount(WHERE)


@SUITE.test('devices of a file: btrfs that gains a device and loses the first one while it is mounted')
def btrfs_changes():
    execute('modprobe', 'btrfs')
    execute('mkfs.btrfs', '-q', '-f', '-d', 'single', '-m', 'single', '/dev/vda')
    execute('mount', '/dev/vda', WHERE)
    execute('btrfs', '-q', 'device', 'add', '-f', '/dev/vdb', WHERE)
    on_devices()
    execute('btrfs', '-q', 'device', 'remove', '/dev/vda', WHERE)
    on_devices(only='vdb')
    umount(WHERE)


@SUITE.test('devices of a file: f2fs on two')
def f2fs_devices():
    execute('mkfs.f2fs', '-q', '-f', '-c', '/dev/vdb', '/dev/vda')
    execute('mount', '/dev/vda', WHERE)
    on_devices()
    umount(WHERE)


@SUITE.test('devices of a file: erofs with its data on another one')
def erofs_devices():
    os.mkdir('tree')
    with open('tree/file', 'wb') as f:
        f.write(os.urandom(MIB))
    with open('blob', 'wb') as f:
        f.truncate(8 * MIB)
    execute('mkfs.erofs', '--chunksize=4096', '--blobdev=/mnt/files/blob', 'image', 'tree')
    for image, disk in ('image', '/dev/vda'), ('blob', '/dev/vdb'):
        execute('dd', f'if={image}', f'of={disk}', 'conv=fsync', 'status=none')
    execute('mount', '-t', 'erofs', '-o', 'device=/dev/vdb', '/dev/vda', WHERE)
    read_only('vdb')
    umount(WHERE)


@SUITE.test('devices of a file: a file that is mapped, and is the memory of a direct write to another one')
def buffer_of_another():
    new_filesystem('ext4', '/dev/vda', WHERE)
    mapped_buffer()
    umount(WHERE)


@SUITE.test('devices of a file: ext4 on dm-linear, whose bios below are not the file\'s again')
def on_linear():
    with mapped('lower', f'0 {sectors("/dev/vdb")} linear /dev/vdb 0') as device:
        new_filesystem('ext4', device, WHERE)
        on_devices(only=os.path.basename(device))
        umount(WHERE)


EXT4_AT_ONCE = '-E', 'lazy_itable_init=0,lazy_journal_init=0'


@SUITE.test('journal: of data=journal a file has its data once, and the journal its own')
def data_journal():
    # with 1 KiB blocks a page has four buffers
    for size in '4096', '1024':
        execute('mkfs.ext4', '-q', '-F', '-b', size, '-J', 'size=16', *EXT4_AT_ONCE, '/dev/vda')
        execute('mount', '-o', 'data=journal', '/dev/vda', WHERE)
        journalled('vda')
        umount(WHERE)


@SUITE.test('journal: the same of an external one')
def data_journal_elsewhere():
    execute('mkfs.ext4', '-q', '-F', '-O', 'journal_dev', '-b', '4096', '/dev/vdb')
    execute('mkfs.ext4', '-q', '-F', '-b', '4096', '-J', 'device=/dev/vdb', *EXT4_AT_ONCE, '/dev/vda')
    execute('mount', '-o', 'data=journal', '/dev/vda', WHERE)
    journalled('vda', 'vdb')
    umount(WHERE)


def swap_file():
    """Make a swap file and use it."""
    path = WHERE + '/swap'
    touch(path)
    subprocess.run(('chattr', '+C', path), stderr=subprocess.DEVNULL, check=False)
    os.chmod(path, 0o600)
    execute('dd', 'if=/dev/zero', 'of=' + path, 'bs=1M', 'count=64', 'conv=fsync', 'status=none')
    execute('mkswap', path)
    execute('swapon', path)


def swap_file_on(fs):
    new_filesystem(fs, '/dev/vda', WHERE)
    swap_file()
    swapped('vda')
    execute('swapoff', WHERE + '/swap')
    umount(WHERE)


@SUITE.test('swap: the pages of a swap file are the file\'s, out and in (ext4)')
def swap_on_ext4():
    swap_file_on('ext4')


@SUITE.test('swap: the same of btrfs')
def swap_on_btrfs():
    execute('modprobe', 'btrfs')
    swap_file_on('btrfs')


@SUITE.test('swap: pages on zram, which is as quick as memory, have the flag both ways')
def swap_on_zram():
    execute('modprobe', 'zram', 'num_devices=1')
    must('64M', '/sys/block/zram0/disksize')
    execute('mkswap', '/dev/zram0')
    execute('swapon', '/dev/zram0')
    swapped_to_memory('zram0')
    execute('swapoff', '/dev/zram0')
    execute('rmmod', 'zram')


@SUITE.test('overlay: on two disks the device of a read is what stat shows, and what the filter takes')
def overlay():
    new_filesystem('ext4', '/dev/vda', '/mnt/disk')
    new_filesystem('ext4', '/dev/vdb', '/mnt/lower')
    os.mkdir('/mnt/disk/upper')
    os.mkdir('/mnt/disk/work')
    for name in 'early', 'late':
        for layer, top in ('lower', '/mnt/lower'), ('upper', '/mnt/disk/upper'):
            with open(f'{top}/{layer}-{name}', 'w', encoding='ascii') as f:
                f.write(layer + '\n')
    execute('mount', '-t', 'overlay', '-o',
            'xino=off,lowerdir=/mnt/lower,upperdir=/mnt/disk/upper,workdir=/mnt/disk/work', 'overlay', WHERE)
    layers_of_overlay()
    umount(WHERE, '/mnt/lower', '/mnt/disk')


@SUITE.test('threads of the kernel: what they do below dm-crypt, for whom is not known, is counted and said')
def below_crypt():
    with mapped('lower', f'0 131072 crypt aes-xts-plain64 {"00" * 64} 0 /dev/vdb 0') as device:
        unattributed(device, 'vdb')
        record_says(device, True)


@SUITE.test('threads of the kernel: the same of a loop device')
def below_loop():
    new_filesystem('ext4', '/dev/vda', '/mnt/disk')
    with open('/mnt/disk/image', 'wb') as f:
        f.truncate(64 * MIB)
    execute('modprobe', 'loop')
    unattributed(execute('losetup', '-f', '--show', '/mnt/disk/image').strip(), 'vda')
    execute('losetup', '-D')
    umount('/mnt/disk')


@SUITE.test('threads of the kernel: writeback and a journal are no such requests')
def no_such_requests():
    execute('mkfs.ext4', '-q', '-F', *EXT4_AT_ONCE, '/dev/vda')
    execute('mount', '/dev/vda', WHERE)
    attributed()
    record_says(WHERE + '/file', False)
    umount(WHERE)
