# SPDX-License-Identifier: GPL-2.0
"""
Paths of records, while hostile users mount over mountinfo, look up names that do not exist
and rename directories all the time.
"""
import contextlib
import ctypes
import os
import re
import signal
import subprocess
import time

from lib import fuse
from lib.category import command, do, events, is_conserved, stats
from lib.iot import (ends, IOT, is_equal, is_true, kmsg, must, NOBODY, parameter, reload,
                     set_parameter, slurp, touch, unload, write_bytes)
from lib.machine import files_and_disk, umount_files_and_disk
from lib.places import GHOSTS
from lib.process import spawn, spawn_as
from lib.slabs import Slabs
from lib.suite import reloads, Suite

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, BIND, MOVE, REC, PRIVATE, DETACH = 0x20000, 4096, 8192, 16384, 1 << 18, 2
TRACING = '/sys/kernel/tracing'
PAGE = 4096
SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk)


def libc(name, *args):
    args = [a.encode() if isinstance(a, str) else a for a in args]
    if getattr(LIBC, name)(*args):
        raise OSError(ctypes.get_errno(), f'{name} {args}')


def mount(source, target, flags=0, kind=None):
    libc('mount', source, target, kind, ctypes.c_ulong(flags), None)


def umount(target, flags=0):
    libc('umount2', target, flags)


@contextlib.contextmanager
def running(*args, start=spawn):
    pid = start(*args)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def faults():
    """Lines of the kernel's log in which it reports a fault."""
    said = subprocess.run(['dmesg'], capture_output=True, text=True, check=True).stdout
    return [line for line in said.splitlines() if any(
        word in line for word in ('BUG', 'WARNING', 'Call Trace', 'scheduling while atomic'))]

# Mounts


def start_behind(fds, source):
    """Write to control files that were opened before, where @source is mounted on mountinfo."""
    libc('unshare', NEWNS)
    mount(None, '/', REC | PRIVATE)
    mount(source, '/proc/1/mountinfo', BIND)
    # and for this process the disk is mounted elsewhere
    os.makedirs('/mnt/files/elsewhere', exist_ok=True)
    mount('/mnt/disk', '/mnt/files/elsewhere', MOVE)
    for fd in fds:
        os.write(fd, b'start\n')


def written_back(name):
    """The paths that requests show for a file that no category saw a program open."""
    touch('/mnt/disk/' + name)
    inode = str(os.stat('/mnt/disk/' + name).st_ino)
    with open('/mnt/disk/' + name, 'wb') as f:
        f.write(bytes(65536))
        f.flush()
        os.fsync(f.fileno())
    return {e.get('path') for e in events(category='block') if e.get('inode') == inode}


def behind(source):
    reload()
    before = faults()
    fds = [os.open(f'{IOT}/{name}/control', os.O_WRONLY) for name in ('block', 'cache')]
    ends(spawn(start_behind, fds[:1], source))
    # a second process does not wait either, for the same category or another
    ends(spawn(start_behind, fds, source))
    is_equal(written_back(os.path.basename(source)), {'/mnt/disk/' + os.path.basename(source)})
    for fd in fds:
        os.write(fd, b'stop\n')
        os.close(fd)
    is_equal(faults(), before)


@SUITE.test('mounts: start does not read a FIFO that is mounted over mountinfo')
def fifo_for_mountinfo():
    if not os.path.exists('/mnt/files/fifo'):
        os.mkfifo('/mnt/files/fifo')
    behind('/mnt/files/fifo')


@SUITE.test('mounts: start does not read a FUSE file that is mounted over mountinfo')
def fuse_for_mountinfo():
    with fuse.mounted(4) as hold:
        os.stat(fuse.FILE)
        hold.set() # reads: a process that reads the file does not return
        behind(fuse.FILE)
        hold.clear()


def known_in_the_end(name):
    """Soon after a change of mounts, paths are known again. Until then, records have none."""
    deadline = time.monotonic() + 300
    for i in range(1000):
        path = f'/mnt/disk/{name}{i}'
        seen = written_back(name + str(i))
        is_true(seen <= {path, None}, f'{seen} is not {path}')
        if seen == {path}:
            return
        is_true(time.monotonic() < deadline, 'no path is known any more')
        time.sleep(0.05)


@SUITE.test('mounts: paths are right after a mount is made while a category runs')
def mounted_later():
    reload()
    umount('/mnt/disk')
    command('start', category='block')
    mount('/dev/vda', '/mnt/disk', kind='ext4')
    known_in_the_end('late')
    # many changes in a row, then a last one
    for _ in range(50):
        mount('none', '/mnt/files', kind='tmpfs')
        umount('/mnt/files')
    known_in_the_end('later')
    missed = stats('block')['paths_missed']
    written_back('last')
    is_equal(stats('block')['paths_missed'], missed)
    command('stop', category='block')


@SUITE.test('mounts: paths are right after a mount is moved while a category runs')
def moved_mount():
    """A file that is open while its mount moves is recorded with its path at the time."""
    reload()
    for name in 'one', 'two':
        os.makedirs('/mnt/files/' + name, exist_ok=True)
    mount(None, '/mnt/files', PRIVATE)
    mount('none', '/mnt/files/one', kind='tmpfs')
    fd = os.open('/mnt/files/one/f', os.O_WRONLY | os.O_CREAT)
    command(f'filter pid={os.getpid()} op=WRITE', 'start')
    os.pwrite(fd, b'1', 0)
    mount('/mnt/files/one', '/mnt/files/two', MOVE)
    os.pwrite(fd, b'2', 0)
    command('stop')
    os.close(fd)
    umount('/mnt/files/two')
    is_equal([e['path'] for e in events() if e['path'].startswith('/mnt')],
             ['/mnt/files/one/f', '/mnt/files/two/f'])


@SUITE.test('mounts: among 1,200 mounts the one of a file is found with interrupts off')
def many_mounts():
    """Pages are made dirty with interrupts off, where few mounts are looked at."""
    reload()
    os.makedirs('/mnt/disk/dir', exist_ok=True)
    touch('/mnt/disk/dir/f')
    inode = str(os.stat('/mnt/disk/dir/f').st_ino)
    mount('none', '/mnt/files', kind='tmpfs')
    for i in range(1200):
        os.mkdir(f'/mnt/files/{i}')
        # the file is below some of them, which show less of the filesystem
        mount('/mnt/disk/dir' if i % 10 == 0 else '/mnt/files', f'/mnt/files/{i}', BIND)
    command('size 20000', f'filter pid={os.getpid()} op=DIRTY', 'start', category='cache')
    write_bytes('/mnt/disk/dir/f', 0, 8192)
    command('stop', category='cache')
    umount('/mnt/files', DETACH)
    is_equal([e.get('path') for e in events(category='cache') if e.get('inode') == inode],
             ['/mnt/disk/dir/f'] * 2)


def started_and_stopped():
    command('start', category='block')
    command('start', category='cache')
    command('stop', category='block')
    command('stop', category='cache')


@SUITE.test('mounts: after start and stop no mount is held and no memory is left')
@reloads
def nothing_left():
    started_and_stopped() # the kernel keeps some memory after the first time
    unload()
    before = Slabs()
    reload()
    started_and_stopped()
    started_and_stopped()
    unload()
    before.are_back(100)

# The table of paths


def look_up(names):
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            os.lstat(name)


def long_names(n):
    """Names of almost PATH_MAX bytes that do not exist."""
    directory = '/mnt/files/' + '/'.join(f'{i:0>200}' for i in range(19))
    return [f'{directory}/{i:0>60}' for i in range(n)]


@SUITE.test('missing names: their paths stay within the budget, are shown, and are given back')
def missing_names():
    os.sched_setaffinity(0, {0}) # all records go into one ring
    limit = 4 << 20
    reload(f'paths_memory_limit={limit}')
    names = long_names(3000)
    touch('/mnt/files/f')
    command('size 200', f'filter tree={os.getpid()} op=GETATTR,WRITE', 'start')
    do(write_bytes, '/mnt/files/f', 0, 1)
    before = stats()
    ends(spawn_as(NOBODY, look_up, names))
    s = is_conserved()
    resolved, missed, evicted = (s[f'paths_{k}'] - before[f'paths_{k}']
                                 for k in ('resolved', 'missed', 'evicted'))
    # what was evicted is free after an RCU grace period: until then a new path may find no room
    is_true(resolved + missed >= len(names), f'{s}: {resolved} + {missed} are not all')
    is_true(resolved >= limit // 2 // 4096, f'{s}: there was room for more names')
    is_true(s['paths_bytes'] <= limit, f'{s["paths_bytes"]} bytes are more than {limit}')
    command('stop')
    shown = [e['path'] for e in events() if e['op'] == 'GETATTR']
    is_true(set(shown) <= set(names) | {'?'}, 'a name that nobody looked up')
    is_equal([a for a, b in zip(shown[-20:], names[-20:], strict=True) if a not in (b, '?')], [])
    unknown = shown.count('?')
    is_true(unknown <= missed + evicted, f'{unknown} events without path, {missed}, {evicted}')
    # paths that no kept record names are freed, and the others with the records
    s = stats()
    is_true(s['paths_entries'] <= s['stored'], f'{s}: more paths than records')
    command('reset')
    s = stats()
    is_equal((s['paths_entries'], s['paths_bytes']), (0, 0))


@SUITE.test('memory: paths are given back when the kernel asks, and no path is wrong after that')
def shrunk():
    reload()
    names = [f'/mnt/files/shrunk{i}' for i in range(500)]
    command(f'filter tree={os.getpid()} op=WRITE', 'start')

    def write_all():
        touch(*names)
        for name in names:
            write_bytes(name, 0, 1)

    do(write_all)
    is_true(stats()['paths_entries'] >= 500, stats())
    for _ in range(100):
        with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as f:
            f.write('2')
        if stats()['paths_entries'] < 50:
            break
    is_true(stats()['paths_entries'] < 50, f'{stats()}: nothing was given back')
    do(write_all)
    command('stop')
    is_equal([e['path'] for e in events()][-500:], names)
    is_equal(stats()['paths_missed'], 0)
    do(lambda: [os.unlink(name) for name in names])


def used():
    return int(re.search(r'^used (\d+)$', slurp(IOT + '/memory'), re.M)[1])


def areas():
    """Bytes of the module's tables and rings in the kernel's list of areas."""
    return PAGE * sum(map(int, re.findall(r' \[iotracer\] pages=(\d+)', slurp('/proc/vmallocinfo'))))


@SUITE.test('memory: the table of paths is charged, and given back with the last path')
def table_comes_and_goes():
    """The table of paths is charged, and given back when no category runs and no log needs it."""
    reload()
    table = 3 * 8 * int(parameter('paths_limit'))
    touch('/mnt/files/f')
    command('size 200', f'filter tree={os.getpid()} op=WRITE', 'start', 'stop')
    before = areas()
    is_equal(used(), stats()['memory_bytes'])
    for _ in range(3):
        command('start')
        do(write_bytes, '/mnt/files/f', 0, 1)
        taken = areas() - before
        is_true(table <= taken <= table + 6 * PAGE, f'{taken} bytes')
        s = stats()
        rest = used() - s['memory_bytes'] - s['paths_bytes']
        is_true(table <= rest <= taken, f'{rest} bytes')
        # a record names a path
        command('stop')
        is_equal([e['path'] for e in events()], ['/mnt/files/f'])
        is_equal(areas() - before, taken)
        command('reset')
        is_equal((areas(), used()), (before, stats()['memory_bytes']))


@SUITE.test('memory: without room for the table of paths events have no path, which is counted')
def no_room_for_table():
    """If ring_memory_limit has no room for the table of paths, events have no path, as counted."""
    reload()
    command('size 200', f'filter tree={os.getpid()} op=WRITE')
    touch('/mnt/files/f')
    set_parameter('ring_memory_limit', stats()['start_bytes'])
    kmsg.skip()
    command('start')
    is_true(any('events have no paths' in line for line in kmsg.new()), 'not a word of it')
    do(write_bytes, '/mnt/files/f', 0, 1)
    command('stop')
    s = stats()
    is_equal((s['paths_missed'], s['paths_bytes'], used()), (1, 0, s['memory_bytes']))
    set_parameter('ring_memory_limit', 64 << 20)
    command('start')
    do(write_bytes, '/mnt/files/f', 0, 1)
    command('stop')
    is_equal((stats()['paths_missed'], events()[-1]['path']), (1, '/mnt/files/f'))
    reload()


@SUITE.test('ring_memory_limit bounds paths, too')
def within_ring_memory():
    """Rings and paths share a limit. When it is reached, events have no path."""
    reload('paths_limit=512')
    command('size 100')
    set_parameter('ring_memory_limit', 1)
    with contextlib.suppress(AssertionError):
        command('start')
    limit = 0
    while slurp(f'{IOT}/fs/control').startswith('stop'):
        limit += 65536
        with open('/sys/module/iotracer/parameters/ring_memory_limit', 'w',
                  encoding='ascii') as f:
            f.write(str(limit))
        with contextlib.suppress(AssertionError):
            command('start')
    room = limit - stats()['memory_bytes']
    command('filter op=GETATTR')
    ends(spawn_as(NOBODY, look_up, long_names(200)))
    s = is_conserved()
    is_true(s['paths_bytes'] <= room, f'{s["paths_bytes"]} of {room} bytes')
    is_true(s['paths_evicted'] + s['paths_missed'] > 0, s)
    command('stop', 'filter none')
    reload()


@contextlib.contextmanager
def counted(function):
    """Count the calls of a kernel function. Yields a function that returns the count so far."""
    if not os.path.exists(TRACING + '/kprobe_events'):
        mount('none', TRACING, kind='tracefs')

    def calls():
        return sum(int(line.split()[1]) for line in
                   slurp(TRACING + '/kprobe_profile').splitlines() if 'counted' in line)

    must(f'p:counted {function}\n', TRACING + '/kprobe_events')
    must('1', TRACING + '/events/kprobes/counted/enable')
    try:
        yield calls
    finally:
        must('0', TRACING + '/events/kprobes/counted/enable')
        must('-:counted\n', TRACING + '/kprobe_events')


@SUITE.test('a rename elsewhere causes no path to be resolved again')
def renames_elsewhere():
    """A rename elsewhere does not make a path be resolved again, which would call stat(2)."""
    reload()
    os.makedirs('/mnt/disk/deep/deeper', exist_ok=True)
    os.makedirs('/mnt/disk/other', exist_ok=True)
    touch('/mnt/disk/deep/deeper/f')
    fd = os.open('/mnt/disk/deep/deeper/f', os.O_WRONLY)
    with counted('vfs_getattr_nosec') as calls:
        command(f'filter pid={os.getpid()} op=WRITE', 'start')
        os.pwrite(fd, b'x', 0)
        before = calls()
        for i in range(500):
            os.rename(f'/mnt/disk/other{i - 1}' if i else '/mnt/disk/other', f'/mnt/disk/other{i}')
            os.pwrite(fd, b'x', 0)
        asked = calls() - before
        command('stop')
    os.close(fd)
    os.rmdir('/mnt/disk/other499')
    is_true(asked < 50, f'stat(2) was called {asked} times')
    is_equal([e['path'] for e in events() if e['path'].startswith('/mnt/disk')],
             ['/mnt/disk/deep/deeper/f'] * 501)


def storm(top):
    """Rename a directory, and a file below it, all the time."""
    os.makedirs(top + '/a/b')
    touch(top + '/a/b/f')
    while True:
        os.rename(top + '/a', top + '/c')
        os.rename(top + '/c/b/f', top + '/c/b/g')
        os.rename(top + '/c/b/g', top + '/c/b/f')
        os.rename(top + '/c', top + '/a')


@SUITE.test('renames above a file: each record has the path of its time, while others rename too')
def renames_above():
    reload()
    for top in 'files', 'ext4':
        os.makedirs(f'/mnt/{top}/storm{top}', exist_ok=True)
        os.chmod(f'/mnt/{top}/storm{top}', 0o777)
    os.makedirs('/mnt/disk/up/b/c')
    os.makedirs('/mnt/disk/up/point')
    mount('none', '/mnt/disk/up/point', kind='tmpfs')
    names = ['/b/c/f', '/b/f', '/f', '/point/f']
    fds = [os.open('/mnt/disk/up' + name, os.O_WRONLY | os.O_CREAT) for name in names]
    expected = []

    def look(top):
        for fd, name in zip(fds, names):
            os.pwrite(fd, b'x', 0)
            expected.append(top + name)

    command(f'filter pid={os.getpid()} op=WRITE', 'start')
    with running(NOBODY, storm, '/mnt/files/stormfiles', start=spawn_as), \
            running(NOBODY, storm, '/mnt/disk/stormext4', start=spawn_as):
        for i in range(150):
            look('/mnt/disk/up')
            look('/mnt/disk/up')
            os.rename('/mnt/disk/up', f'/mnt/disk/up{i % 7}')
            look(f'/mnt/disk/up{i % 7}')
            os.rename(f'/mnt/disk/up{i % 7}', '/mnt/disk/up')
            os.rename('/mnt/disk/up/b', '/mnt/disk/up/e')
            os.pwrite(fds[0], b'x', 0)
            expected.append('/mnt/disk/up/e/c/f')
            os.rename('/mnt/disk/up/e', '/mnt/disk/up/b')
    command('stop')
    for fd in fds:
        os.close(fd)
    umount('/mnt/disk/up/point')
    seen = [e['path'] for e in events() if '/mnt/disk/up' in e['path']]
    is_equal(len(seen), len(expected))
    wrong = [(a, b) for a, b in zip(seen, expected) if a != b]
    is_equal(wrong, [])
    is_equal(stats()['paths_missed'], 0)


def count_renames(by):
    """Have the kernel count @by / 2 renames that nobody made."""
    subprocess.run(['insmod', GHOSTS + '/wrap.ko', f'by={by}'], check=True)
    subprocess.run(['rmmod', 'wrap'], check=True)


@SUITE.test('after 2^31 renames no path of before them is taken for a present one', once=True)
def renames_wrap():
    """The count of renames comes to what it was when a path was looked up."""
    reload()
    os.makedirs('/mnt/disk/before')
    fd = os.open('/mnt/disk/before/f', os.O_WRONLY | os.O_CREAT)
    command(f'filter pid={os.getpid()} op=WRITE', 'start')
    os.pwrite(fd, b'x', 0)
    os.rename('/mnt/disk/before', '/mnt/disk/after')
    count_renames(1 << 31)
    time.sleep(2.5) # renames cannot be made as fast as this
    count_renames((1 << 31) - 2)
    os.pwrite(fd, b'x', 0)
    command('stop')
    os.close(fd)
    is_equal([e['path'] for e in events()], ['/mnt/disk/before/f', '/mnt/disk/after/f'])
    is_equal(stats()['paths_missed'], 0)
