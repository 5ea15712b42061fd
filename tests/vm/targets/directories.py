# SPDX-License-Identifier: GPL-2.0
"""
Directories as targets.

Directories as targets.
"""
import mmap
import os
import re
import subprocess
import threading

from lib import category
from lib.iot import (as_user, CONTROL, forget, in_json, IOT, is_equal, is_true, join, lines,
                     listing, load, LOAD_DIVISOR, must, NOBODY, slurp, Target, targets, touch,
                     unload, write)
from lib.machine import execute, files_and_disk, umount_files_and_disk, with_tool
from lib.process import spawn
from lib.suite import Suite


def setup():
    execute('modprobe', '-a', 'overlay', 'btrfs')
    files_and_disk()
    with_tool()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk)

LINE = re.compile(r'\d+\.\d{9};[-RWFDZ];\d+;\d+;(?:VFS|BLK);[^;]*;(\d+);([A-Z_0-9]+);([^;]*);([^;]*);(-?\d+)')


class Directory(Target):
    """The target that control lists under the path of a directory."""

    def rows(self, *operations):
        """
        (letter, offset, bytes, operation, path, second path, result) of this process's events,
        without names of operations those of the VFS only
        """
        found = []
        for line in self.log().split('\n')[:-1]:
            is_true(LINE.fullmatch(line), f'not a line of a log: {line!r}')
            f = line.split(';')
            if int(f[6]) == os.getpid() and (f[7] in operations or not operations and
                                             f[4] == 'VFS'):
                found.append((f[1], int(f[2]), int(f[3]), f[7], f[8], f[9], int(f[10])))
        return found

    def bios(self):
        """(letter, sector, bytes, name of the thread, process, path) of each bio"""
        found = [line.split(';') for line in self.log().split('\n')[:-1] if ';BLK;' in line]
        return [(f[1], int(f[2]), int(f[3]), f[5], int(f[6]), f[8]) for f in found]

    def names(self, *operations):
        """(operation, path) of this process's events"""
        return [(row[3], row[4]) for row in self.rows(*operations)]


def add(path, max_events=None):
    """Trace a directory. What this does to find its target is no event of the test."""
    must(f'add {path}' + (f' {max_events}' if max_events else ''))
    target = Directory(path)
    target.command('reset')
    return target


def write_file(path, text=b'x'):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(fd, text)
    os.close(fd)


def read_file(path):
    fd = os.open(path, os.O_RDONLY)
    os.read(fd, 100)
    os.close(fd)


def state():
    names = [os.fsdecode(name) for name, _ in targets()]
    return slurp(CONTROL) + ''.join(slurp(f'{IOT}/{name}/control') for name in names)


def refused(error, text, path=CONTROL):
    """A command fails with this error, and no target is changed."""
    before = state()
    is_equal(write(path, text), error)
    is_equal(state(), before)


def mount(*words):
    subprocess.run(('mount',) + words, check=True)


def umount(path):
    subprocess.run(('umount', path), check=True)

# What is recorded


@SUITE.test('each operation below a directory, with its path from there')
def operations():
    os.makedirs('d/sub')
    touch('d/old')
    target = add('d')
    fd = os.open('d/sub/new', os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b'12345', 10)
    os.pread(fd, 100, 12)
    os.ftruncate(fd, 7)
    os.fsync(fd)
    os.close(fd)
    os.mkdir('d/m')
    os.rmdir('d/m')
    os.link('d/old', 'd/sub/link')
    os.symlink('/nowhere;', 'd/sym')
    os.unlink('d/sub/link')
    os.chmod('d/old', 0o600)
    os.stat('d')
    touch('outside')
    rows = target.rows()
    at = min(i for i, row in enumerate(rows) if row[3] in ('CLOSE', 'RELEASE'))
    rows[at:at + 2] = sorted(rows[at:at + 2]) # which ends first differs between kernels
    is_equal(rows, [
        ('-', 0, 0, 'CREATE', 'sub/new', '', fd),
        ('W', 10, 5, 'WRITE', 'sub/new', '', 5),
        ('R', 12, 3, 'READ', 'sub/new', '', 3),
        ('-', 0, 7, 'TRUNCATE', 'sub/new', '', 0),
        ('-', 0, 0, 'FSYNC', 'sub/new', '', 0),
        ('-', 0, 0, 'CLOSE', 'sub/new', '', 0),
        ('-', 0, 0, 'RELEASE', 'sub/new', '', 0),
        ('-', 0, 0, 'MKDIR', 'm', '', 0),
        ('-', 0, 0, 'RMDIR', 'm', '', 0),
        ('-', 0, 0, 'LINK', 'old', 'sub/link', 0),
        ('-', 0, 0, 'SYMLINK', 'sym', r'/nowhere\073', 0),
        ('-', 0, 0, 'UNLINK', 'sub/link', '', 0),
        ('-', 0, 0, 'CHMOD', 'old', '', 0),
        ('-', 0, 0, 'GETATTR', '.', '', 0)])
    target.is_conserved()


class Disk:
    """A file that is a target itself. What its log has of the block layer is known to be right."""

    def __init__(self, path):
        self.path = path
        write_file(path, b'')
        must(f'add {path} 1000')
        self.target = Target(path)

    def bios(self):
        """(letter, sector, bytes) of each bio"""
        return [(f[1], int(f[2]), int(f[3]))
                for f in lines(self.target.log()) if f[4] == 'BLK']


PAGE = mmap.PAGESIZE


def direct(path, pages=2, offset=4 * PAGE):
    """Write and read a file directly."""
    memory = mmap.mmap(-1, pages * PAGE)
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    is_equal(os.pwritev(fd, [memory], offset), len(memory))
    is_equal(os.preadv(fd, [memory], offset), len(memory))
    os.close(fd)


def bios():
    """The bios of a directory are those of its files, and no others."""
    top = '/mnt/disk/top'
    os.makedirs(top + '/d')
    inside, outside = Disk(top + '/d/f'), Disk('/mnt/disk/outside')
    target = add(top)
    for path in inside.path, outside.path:
        write_file(path, bytes(64 * PAGE))
        os.sync()
        direct(path)
        forget(path)
        with open(path, 'rb') as file:
            is_equal(len(file.read()), 64 * PAGE)
    rows = target.bios()
    is_equal([row[:3] for row in rows], inside.bios())
    is_equal({row[5] for row in rows}, {'d/f'})
    is_true(outside.bios(), 'the other file was not read or written')
    for letter in 'RW':
        is_equal(sum(row[2] for row in rows if row[0] == letter), (64 + 2) * PAGE)
    is_equal(target.stats('blk')[:3], (len(rows), len(rows), 0))
    target.is_conserved()
    found = [row for row in in_json(top) if row['op'].startswith('BLOCK_')]
    is_equal([(row['op'][6], row['address'], row['requested_bytes']) for row in found],
             [(row[0], hex(row[1] * 512), row[2]) for row in rows])
    status, disk = os.stat(inside.path), os.stat('/dev/vda')
    for row in found:
        is_equal((row['inode'], row['kind'], row['latency_ns'], row['fd']),
                 (status.st_ino, 'file', 0, -1))
        is_equal(row['device2'], f'{os.major(disk.st_rdev)}:{os.minor(disk.st_rdev)}')
    is_equal(sorted(offset for row in found if row['op'] == 'BLOCK_WRITE'
                    for offset in range(row['offset_bytes'], row['offset_bytes'] + row['requested_bytes'],
                                        PAGE)),
             sorted([n * PAGE for n in range(64)] + [4 * PAGE, 5 * PAGE]))
    must(f'remove {inside.path}')
    must(f'remove {outside.path}')


def bios_that_move():
    """The path of a bio is that of its time; and a file without a name has one by its open file."""
    top = '/mnt/disk/moves'
    os.makedirs(top + '/d')
    write_file(top + '/outside', bytes(PAGE))
    write_file(top + '/d/inside', bytes(PAGE))
    target = add(top + '/d')
    os.rename(top + '/outside', top + '/d/came')
    os.rename(top + '/d/inside', top + '/went')
    os.sync()
    is_equal([row[0::5] for row in target.bios()], [('W', 'came')])
    missed = target.stats()[4]
    for place in top, top + '/d':
        fd = os.open(place + '/gone', os.O_RDWR | os.O_CREAT)
        os.unlink(place + '/gone')
        os.write(fd, bytes(PAGE))
        os.fsync(fd)
        os.close(fd)
    is_equal([row[0::5] for row in target.bios()], [('W', 'came'), ('W', 'gone')])
    is_equal(target.stats()[4], missed)
    must(f'remove {top}/d')


def attempt(function, *args):
    try:
        function(*args)
    except OSError:
        return
    raise AssertionError(f'{function} succeeds')


@SUITE.test('names that lead to nothing')
def missing_names():
    os.makedirs('d/sub')
    os.symlink('d', 'way')
    os.symlink('d/sub', 'deep')
    target = add('d')
    attempt(os.open, 'd/missing', os.O_RDONLY)
    attempt(os.unlink, 'd/no/such/way')
    attempt(os.mkdir, 'd/sub')
    attempt(os.open, 'way/x', os.O_RDONLY)
    attempt(os.open, 'd/sub/../y', os.O_RDONLY)
    attempt(os.open, 'deep/z', os.O_RDONLY)
    attempt(os.open, 'other/d/x', os.O_RDONLY)
    attempt(os.rename, 'd/a', 'd/sub//b')
    fd = os.open('d', os.O_RDONLY)
    attempt(os.stat, 'at')
    attempt(lambda: os.stat('at', dir_fd=fd))
    os.close(fd)
    found = [row[3:] for row in target.rows('OPEN', 'UNLINK', 'MKDIR', 'RENAME', 'GETATTR')
             if row[6] < 0]
    is_equal(found, [
        ('OPEN', 'missing', '', -2),
        ('UNLINK', 'no/such/way', '', -2),
        ('MKDIR', 'sub', '', -17),
        ('OPEN', 'x', '', -2),
        ('OPEN', 'y', '', -2),
        ('OPEN', 'sub/z', '', -2),
        ('RENAME', 'a', 'sub/b', -2),
        ('GETATTR', 'at', '', -2)])


@SUITE.test('so deep that there is no path', once=True)
def too_deep():
    """What is so deep that it has no path is not in the log, but counted."""
    os.mkdir('d')
    target = add('d')
    os.chdir('d')
    names = 2100
    for _ in range(names):
        os.mkdir('x')
        os.chdir('x')
    target.command('reset')
    target.stats() # what of these files cannot be hooked is counted when one is read first
    before = target.stats('vfs')[4]
    write_file('f')
    missed = target.stats('vfs')[4] - before
    is_equal(target.names(), [])
    os.chdir('/mnt/files/d/x/x')
    target.command('reset')
    write_file('f')
    is_equal(target.names('WRITE'), [('WRITE', 'x/x/f')])
    is_equal(missed, len(target.names()))


@SUITE.test('moved in, moved out, and the directory and what is above it renamed')
def moved():
    os.makedirs('top/d/sub/deep')
    os.makedirs('out/tree')
    touch('out/f', 'out/tree/g', 'top/d/sub/deep/h')
    target = add('top/d')
    held = os.open('top/d/sub/deep/h', os.O_RDWR)
    os.rename('out/f', 'top/d/f')
    read_file('top/d/f')
    os.rename('top/d/f', 'out/f')
    read_file('out/f')
    os.rename('out/tree', 'top/d/tree')
    read_file('top/d/tree/g')
    os.rename('top/d/sub', 'out/sub')
    os.write(held, b'outside')
    os.rename('out/sub', 'top/d/back')
    os.write(held, b'inside')
    os.rename('top/d', 'top/e')
    read_file('top/e/tree/g')
    os.rename('top', 'bottom')
    read_file('bottom/e/tree/g')
    os.close(held)
    is_equal(target.rows('RENAME'), [
        ('-', 0, 0, 'RENAME', '/mnt/files/out/f', 'f', 0),
        ('-', 0, 0, 'RENAME', 'f', '/mnt/files/out/f', 0),
        ('-', 0, 0, 'RENAME', '/mnt/files/out/tree', 'tree', 0),
        ('-', 0, 0, 'RENAME', 'sub', '/mnt/files/out/sub', 0),
        ('-', 0, 0, 'RENAME', '/mnt/files/out/sub', 'back', 0),
        ('-', 0, 0, 'RENAME', '.', '.', 0)])
    is_equal(target.names('READ', 'WRITE'), [
        ('READ', 'f'), ('READ', 'tree/g'), ('WRITE', 'back/deep/h'), ('READ', 'tree/g'),
        ('READ', 'tree/g')])
    is_equal(target.names('CLOSE')[-1], ('CLOSE', 'back/deep/h'))


def load_of_many(root):
    """Operations of many kinds, in some directories."""
    for place in 'a', 'd', 'd/sub', 'z':
        os.makedirs(f'{root}/{place}', exist_ok=True)
        for i in range(20 // LOAD_DIVISOR + 1):
            name = f'{root}/{place}/{i}'
            write_file(name)
            read_file(name)
            os.rename(name, name + 'x')
            os.truncate(name + 'x', 3)
            os.listdir(f'{root}/{place}')
        os.unlink(f'{root}/{place}/0x')
        attempt(os.open, f'{root}/{place}/0x', os.O_RDONLY)


def rows_of_fs(below):
    """(operation, path, result) of category fs of this process with a path below a directory"""
    pattern = re.compile(rf'{below}(/|$)')
    return [(row['op'], row.get('path', ''), int(row['result'])) for row in category.events()
            if row['pid'] == os.getpid() and
            (pattern.match(row.get('path', '')) or pattern.match(row.get('path2', '')))]


@SUITE.test('the rows are those of category fs, of the same files')
def as_category_fs():
    """Category fs alone, and beside it a directory, have the same events."""
    os.makedirs('d')
    target = add('d')
    for root in '/mnt/files', '/mnt/disk':
        category.command('reset', 'start')
        target.command('reset')
        load_of_many(root)
        category.command('stop')
        beside = rows_of_fs(f'{root}/d')
        is_true(beside, 'no events')
        names = [(op, os.path.normpath(f'/mnt/files/d/{path}'), result)
                 for _, _, _, op, path, _, result in target.rows()]
        is_equal(names, beside if root == '/mnt/files' else [])
    must('remove d')
    os.system('rm -r a d z /mnt/disk/[adz]')
    category.command('reset', 'start')
    load_of_many('/mnt/files')
    category.command('stop')
    alone = rows_of_fs('/mnt/files/d')
    is_true(alone, 'no events')
    os.system('rm -r a d z')
    os.mkdir('x')
    add('x')
    category.command('reset', 'start')
    load_of_many('/mnt/files')
    category.command('stop')
    is_equal(rows_of_fs('/mnt/files/d'), alone)


@SUITE.test('overlapping directories, and a file that is a target itself')
def overlapping():
    os.makedirs('d/sub')
    touch('d/f', 'd/sub/g')
    outer, inner = add('d'), add('d/sub')
    must('add d/sub/g 100')
    file = Target('d/sub/g')
    write_file('d/f')
    write_file('d/sub/g')
    is_equal(outer.names('WRITE'), [('WRITE', 'f'), ('WRITE', 'sub/g')])
    is_equal(inner.names('WRITE'), [('WRITE', 'g')])
    is_equal(file.addresses(), [0])
    must('remove d')
    write_file('d/sub/g')
    is_equal(len(inner.names('WRITE')), 2)
    is_equal(file.addresses(), [0, 0])
    os.rename('d/sub', 'sub')
    write_file('sub/g')
    is_equal(len(inner.names('WRITE')), 3)


@SUITE.test('the filter of category fs, and its reader, while a directory is traced and after it')
def filter_of_fs():
    """Whatever the filter of category fs says concerns its own log alone."""
    os.makedirs('d')
    touch('d/f', 'g')
    target = add('d')

    def writes(*names):
        for name in names:
            write_file(name)

    def log_of_fs():
        return [(row['pid'], row['path']) for row in category.events()]

    category.command(f'filter pid={os.getpid()} op=WRITE', 'reset', 'start')
    other = category.do(writes, 'd/f', 'g')
    writes('d/f', 'g')
    mine = [(os.getpid(), '/mnt/files/d/f'), (os.getpid(), '/mnt/files/g')]
    is_equal(log_of_fs(), mine)
    is_equal(target.names('WRITE'), [('WRITE', 'f')])
    is_equal(target.stats()[0], len(target.log().split('\n')) - 1)
    is_true(f';{other};WRITE;f;' in target.log(), 'the other process is missing')

    # a call that began while the directory was traced ends when it is not
    os.mkfifo('fifo')
    category.command('filter op=READ kind=pipe uid=1')
    reader = spawn(os.read, os.open('fifo', os.O_RDWR), 1)
    must('remove d')
    fd = os.open('fifo', os.O_RDWR)
    os.write(fd, b'x')
    join(reader)
    is_equal(log_of_fs(), mine)
    category.command('filter none', 'reset')
    writes('d/f')
    is_true((os.getpid(), '/mnt/files/d/f') in log_of_fs(), slurp(category.FS + '/log'))
    category.command('stop')


@SUITE.test('what is mounted below does not count; the way through another mount does')
def mounts():
    os.makedirs('d/sub/deep')
    os.makedirs('d/mounted')
    os.mkdir('other')
    touch('d/sub/f', 'd/sub/deep/g')
    mount('-t', 'tmpfs', 'inner', 'd/mounted')
    mount('--bind', 'd/sub', 'other')
    try:
        target = add('d')
        write_file('d/mounted/f')
        write_file('other/f')
        write_file('d/sub/f')
        is_equal(target.names('WRITE'), [('WRITE', '/mnt/files/other/f'), ('WRITE', 'sub/f')])
        os.rename('d/sub', 'sub')
        write_file('other/f')
        write_file('sub/f')
        is_equal(len(target.names('WRITE')), 2)
        os.rename('sub', 'd/sub')
        write_file('other/deep/g')
        is_equal(target.names('WRITE')[2:], [('WRITE', '/mnt/files/other/deep/g')])
    finally:
        umount('d/mounted')
        umount('other')


@SUITE.test('deleted, created anew, and unmounted as if it were no target', once=True)
def deleted():
    os.makedirs('d')
    write_file('d/f')
    target = add('d')
    fd = os.open('d/f', os.O_WRONLY)
    os.unlink('d/f')
    os.rmdir('d')
    os.write(fd, b'still')
    os.close(fd)
    is_equal(target.names('WRITE'), [('WRITE', 'f')])
    os.mkdir('d')
    write_file('d/f')
    is_equal(target.names('WRITE'), [('WRITE', 'f')])
    must('remove d')
    is_equal(listing(), [])
    os.mkdir('/mnt/files/m')
    mount('-t', 'tmpfs', 'gone', 'm')
    os.mkdir('m/d')
    must('add m/d')
    write_file('m/d/f')
    umount('m')
    must('remove /mnt/files/m/d')


@SUITE.test('32 directories, whose places are used again', once=True)
def places():
    """The 33rd has no place; one that takes another's place has none of its events."""
    for i in range(33):
        os.mkdir(f'{i}')
        touch(f'{i}/f')
    for i in range(32):
        must(f'add {i}')
    refused('ENOSPC', 'add 32')
    held = os.open('5/f', os.O_WRONLY)
    os.write(held, b'x')
    must('remove 5')
    new = add('32')
    os.write(held, b'x')
    write_file('5/f')
    write_file('32/f')
    is_equal(new.rows('WRITE'), [('W', 0, 1, 'WRITE', 'f', '', 1)])
    os.close(held)


@SUITE.test('stop, start, reset, timereset, another number of events', once=True)
def commands():
    os.mkdir('d')
    target = add('d', 100)
    is_equal(target.status()[2], 100)
    is_equal(int(target.value('inode')), os.stat('d').st_ino)
    write_file('d/f')
    _, t0, _, stored = target.status()
    is_equal(stored, len(target.rows()))
    target.command('stop')
    write_file('d/f')
    is_equal(target.status()[0], 0)
    is_equal(len(target.rows('WRITE')), 1)
    target.command('start')
    target.command('reset')
    is_equal(target.rows(), [])
    is_equal(target.status()[:2], (1, t0))
    write_file('d/f')
    is_equal(len(target.rows('WRITE')), 1)
    target.command('timereset')
    is_true(target.status()[1] > t0, 'T0 is the same')
    is_equal(target.rows(), [])
    must('add d')
    is_equal(target.status()[2], 100)
    write_file('d/f')
    must('add d 7')
    is_equal((target.status()[2], target.rows()), (7, []))
    for _ in range(50):
        write_file('d/f')
    target.is_conserved()
    is_true(target.stats()[2] > 0, 'nothing was overwritten')
    must('remove d')
    is_equal(listing(), [])
    is_equal(add('d').status()[2], 16384)


@SUITE.test('log, pipe and stream have the same events, and none is lost uncounted', once=True)
def files_of_it():
    os.mkdir('d')
    target = add('d')
    pipe = os.open(target.dir + '/pipe', os.O_RDONLY | os.O_NONBLOCK)
    stream = os.open(target.dir + '/stream', os.O_RDONLY)
    category.do(load_of_many, '.')
    log = target.log()
    text = b''
    while True:
        try:
            text += os.read(pipe, 65536)
        except BlockingIOError:
            break
    is_equal(text.decode(), log)
    data = os.read(stream, 1 << 20)
    count, at = 0, category.HEADER.size
    size = category.HEADER.unpack_from(data)[5]
    while at < len(data):
        _, _, event, n, _, gap = category.BLOCK.unpack_from(data, at)
        is_equal((event, gap), (2, 0))
        count += n
        at += category.BLOCK.size + n * size
    is_equal(count, len(log.split('\n')) - 1)
    is_equal(target.stats()[0], count)
    os.close(pipe)
    os.close(stream)


@SUITE.test('what is refused', once=True)
def refusals():
    os.mkdir('d')
    must('add d')
    target = Directory('d')
    refused('EINVAL', 'size 100', target.control)
    refused('EOPNOTSUPP', 'add /proc/self')
    is_true('kind=pseudo' in slurp(IOT + '/error'), slurp(IOT + '/error'))
    refused('ENOENT', 'add nothing')
    refused('EINVAL', 'add d 0')
    refused('ENOMEM', 'add / 99999999999')
    refused('ENOENT', 'remove nothing')
    refused('EINVAL', 'remove d garbage')
    os.chmod('d', 0o700)
    for name in 'log', 'stream', 'pipe', 'control', 'stats':
        is_equal(as_user(NOBODY, write, f'{target.dir}/{name}', 'stop'), 'EACCES')
    is_equal(target.status()[0], 1)


@SUITE.test('unloading while a directory is traced')
def unloaded():
    os.mkdir('d')
    must('add d')
    stop = threading.Event()

    def keep_busy():
        while not stop.is_set():
            write_file('d/f')

    busy = threading.Thread(target=keep_busy)
    busy.start()
    try:
        for _ in range(3):
            unload()
            is_true(load(), 'insmod failed')
            must('add d')
    finally:
        stop.set()
        busy.join()
    target = Directory('d')
    target.command('reset')
    write_file('d/f')
    is_equal(target.names('WRITE'), [('WRITE', 'f')])


@SUITE.test('while names change all the time, each event is below the one directory or the other')
def renamed_all_the_time():
    """
    A file moves between two directories, and another thread writes to it. Each write is below
    one of them, or in between: none is in both, and at rest each is where the file is.
    """
    for name in 'a', 'b', 'c':
        os.mkdir(name)
    touch('a/f')
    first, second = add('a'), add('b')
    fd = os.open('a/f', os.O_WRONLY)
    rounds = 300 // LOAD_DIVISOR
    for i in range(rounds):
        here, there = ('a', 'b') if i % 2 == 0 else ('b', 'a')
        os.pwrite(fd, b'x', 2 * i)
        renamer = threading.Thread(target=os.rename, args=(f'{here}/f', f'{there}/f'))
        renamer.start()
        os.pwrite(fd, b'x', 2 * i + 1)
        renamer.join()
    os.close(fd)
    found = [{row[1] for row in target.rows('WRITE')} for target in (first, second)]
    is_equal(found[0] & found[1], set())
    is_equal(found[0] | found[1], set(range(2 * rounds)))
    at_rest = [{n for n in offsets if n % 2 == 0} for offsets in found]
    is_equal(at_rest, [{n for n in range(0, 2 * rounds, 4)}, {n for n in range(2, 2 * rounds, 4)}])


SUITE.add('what is done to the disk: the bios of its files, and no others', bios, bios_that_move)
