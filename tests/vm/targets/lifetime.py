# SPDX-License-Identifier: GPL-2.0
"""
A target holds no reference to its file or filesystem, and the module can be unloaded
at any time: tested with files that are renamed, deleted and made again, with filesystems
that are unmounted and unloaded, and with readers and I/O that outlive the module.

CYCLES=1000 loads and unloads a thousand times instead of thirty.
"""
import contextlib
import errno
import mmap
import os
import re
import select
import signal
import subprocess
import time

from lib.iot import (add, CONTROL, control, drain, IOT, is_equal, is_true, join, lines, listing,
                     load, LOAD_DIVISOR, must, reload, slurp, slurp_bytes, targets, touch, unload)
from lib.machine import (DISKS, execute, map_device, new_filesystem, new_tmpfs, three_filesystems,
                         umount, umount_three_filesystems, unmap, unmap_all)
from lib.process import POLL, spawn, waits_in
from lib.slabs import Slabs
from lib.suite import reloads, Suite

PAGE = 4096


def empty_filesystems():
    unmap_all()
    execute('find', *(f'/mnt/{fs}' for fs in DISKS), '-xdev', '-mindepth', '1', '-not', '-name', 'lost+found',
            '-delete')


SUITE = Suite(setup=three_filesystems, teardown=umount_three_filesystems, after=empty_filesystems)


def attach_fs(fs):
    """Mount the disk with this filesystem again."""
    execute('mount', DISKS[fs], f'/mnt/{fs}')


def writes(n, path):
    """Make n write(2) of 4 KiB from the beginning of a file, which is made if it is not there."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644), 'wb', buffering=0) as f:
        for _ in range(n):
            f.write(bytes(PAGE))


def reads(n, path):
    with open(path, 'rb', buffering=0) as f:
        for _ in range(n):
            f.read(PAGE)


def direct(n, path, size, flags):
    """Make n direct calls of this size from the beginning of a file: writes if flags say O_WRONLY."""
    buffer = mmap.mmap(-1, size)
    with open(os.open(path, flags | os.O_DIRECT), 'rb', buffering=0) as f:
        for i in range(n):
            call = os.pwritev if flags & os.O_WRONLY else os.preadv
            is_equal(call(f.fileno(), [buffer], i * size), size)


def seen(name):
    """The number of VFS events of a target since it was added."""
    return int(re.search(r'^vfs (\d+) ', slurp(f'{IOT}/{name}/stats'), re.M)[1])


def vfs_lines(name):
    return slurp(f'{IOT}/{name}/log').count(';VFS;')


def control_lines():
    return slurp(CONTROL).splitlines()


def hook(symbol):
    """How a function is attached."""
    return re.search(rf'^{symbol} \S+ (\S+) ', slurp(IOT + '/hooks'), re.M)[1]


def recreate(path):
    """Delete a file and make it again with the same inode number."""
    old = os.stat(path).st_ino
    os.unlink(path)
    for i in range(1000):
        touch(f'{path}.{i}')
        if os.stat(f'{path}.{i}').st_ino == old:
            os.rename(f'{path}.{i}', path)
            return
    raise AssertionError(f'inode {old} of {path} does not come back')


class Fio:
    """Buffered and direct jobs of fio that run until they are ended."""

    def __init__(self, path, *options):
        self.process = subprocess.Popen( # pylint: disable=consider-using-with
            ('fio', '--thread', f'--filename={path}', '--size=8M', '--bs=4k', '--time_based', '--runtime=3600',
             '--fallocate=none', '--output=/tmp/fio', '--output-format=json', *options,
             '--name=buffered', '--rw=randrw', '--ioengine=psync', '--numjobs=2',
             '--name=direct', '--rw=randrw', '--ioengine=psync', '--direct=1', '--numjobs=2',
             '--name=async', '--rw=randrw', '--ioengine=libaio', '--iodepth=8', '--direct=1'))
        self.goes_on()

    def waits(self):
        """How often its threads have waited, mostly for direct I/O."""
        count, top = 0, f'/proc/{self.process.pid}/task'
        for task in os.listdir(top):
            with contextlib.suppress(OSError):
                count += int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', slurp(f'{top}/{task}/status'), re.M)[1])
        return count

    def goes_on(self):
        before, deadline = self.waits(), time.monotonic() + 300
        while self.waits() < before + 200:
            is_true(time.monotonic() < deadline, 'fio makes no progress')
            time.sleep(0.1)

    def end(self):
        """End it. No job has seen an error."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        errors = re.findall(r'"error" : (\d+)', slurp('/tmp/fio'))
        is_true(errors and set(errors) == {'0'}, f'errors of fio: {errors}')


def is_gone(fd):
    """Reading an open file of what has ended fails with EIO."""
    try:
        drain(fd)
    except OSError as e:
        is_equal(e.errno, errno.EIO)
    else:
        raise AssertionError('the file can be read')
    finally:
        os.close(fd)


@SUITE.test('rename: tracing continues; with follow=inode a new file under the old name is another file')
@reloads
def rename():
    os.chdir('/mnt/ext4')
    reload('follow=inode')
    touch('old')
    t = add(os.path.abspath('old'))
    writes(2, 'old')
    os.rename('old', 'new')
    writes(3, 'new')
    is_equal(seen(t.name), 5)
    touch('old')
    writes(7, 'old')
    is_equal(seen(t.name), 5)
    os.rename('old', 'new')
    writes(7, 'new')
    is_equal(seen(t.name), 5)


@SUITE.test('unlink while open: tracing continues until the last close, and the log stays')
def unlink():
    touch('/mnt/ext4/f')
    t = add('/mnt/ext4/f')
    with open('/mnt/ext4/f', 'r+b', buffering=0) as f:
        os.unlink('/mnt/ext4/f')
        for _ in range(3):
            f.write(bytes(PAGE))
        reads(2, f'/proc/self/fd/{f.fileno()}')
    is_equal(seen(t.name), 5)
    is_equal(''.join(fields[1] for fields in lines(t.log())), 'WWWRR')
    must('remove /mnt/ext4/f')
    is_true(not os.path.exists(t.dir), 'its directory is still there')


@SUITE.test('truncate: tracing continues, from the beginning of the file')
def truncate():
    path = '/mnt/ext4/f'
    touch(path)
    t = add(path)
    writes(3, path)
    os.truncate(path, 0)
    reads(1, path)
    writes(1, path)
    os.truncate(path, 1 << 20)
    reads(2, path)
    is_equal([';'.join(fields[1:4]) for fields in lines(t.log())],
             ['W;0;4096', 'W;4096;4096', 'W;8192;4096', 'R;0;0', 'W;0;4096', 'R;0;4096', 'R;4096;4096'])


@SUITE.test('with follow=inode a new file with a deleted target\'s inode number can be added')
@reloads
def inode_number():
    reload('follow=inode')
    for path in '/mnt/ext4/f', '/mnt/xfs/f':
        touch(path)
        old = add(path).name
        writes(3, path)
        recreate(path)
        writes(5, path)
        is_equal(seen(old), 3)
        must(f'add {path}')
        new = old + '_2'
        is_equal(control_lines().count(f'{new} {path}'), 1)
        writes(2, path)
        is_equal((seen(old), seen(new)), (3, 2))
        must(f'remove {path}')
        is_true(not os.path.exists(f'{IOT}/{new}'), 'the directory of the second is still there')
        is_equal(seen(old), 3)
        must(f'remove {path}')
        is_true(not os.path.exists(f'{IOT}/{old}'), 'the directory of the first is still there')


@SUITE.test('hard links: one log, listed under each name until that name is removed', once=True)
def hard_links():
    os.chdir('/mnt/ext4')
    touch('a')
    os.link('a', 'b')
    t = add('/mnt/ext4/a')
    writes(1, 'b')
    must('add /mnt/ext4/b')
    is_equal(control_lines(), [f'{t.name} /mnt/ext4/a /mnt/ext4/b'])
    writes(1, 'a')
    must('remove /mnt/ext4/a')
    writes(1, 'a')
    os.unlink('a')
    writes(1, 'b')
    is_equal(seen(t.name), 4)
    is_equal(control_lines(), [f'{t.name} /mnt/ext4/b'])
    must('remove /mnt/ext4/b')
    is_true(not os.path.exists(t.dir), 'its directory is still there')


@SUITE.test('umount succeeds, the log stays, and the file is traced when mounted again')
@reloads
def unmounted():
    reload('MAX_EVENTS=100')
    for fs in DISKS:
        path = f'/mnt/{fs}/f'
        touch(path)
        t = add(path)
        writes(3, path)
        umount(f'/mnt/{fs}')
        is_true(not os.path.ismount(f'/mnt/{fs}'), 'it is still mounted')
        is_equal(vfs_lines(t.name), 3)
        attach_fs(fs)
        writes(2, path)
        is_equal(seen(t.name), 5)


@SUITE.test('umount: another btrfs or tmpfs may get the device number, but not the target')
@reloads
def device_number():
    reload('follow=inode')
    execute('modprobe', 'loop')
    umount('/mnt/btrfs')
    os.close(os.open('/mnt/xfs/image', os.O_WRONLY | os.O_CREAT))
    os.truncate('/mnt/xfs/image', 256 << 20)
    execute('mkfs.btrfs', '-q', '/mnt/xfs/image')
    attach_fs('btrfs')
    touch('/mnt/btrfs/f')
    os.sync()
    btrfs = add('/mnt/btrfs/f').name
    umount('/mnt/btrfs')
    execute('mount', '-o', 'loop', '/mnt/xfs/image', '/mnt/btrfs')
    touch('/mnt/btrfs/f')
    writes(5, '/mnt/btrfs/f')
    is_equal(seen(btrfs), 0)
    umount('/mnt/btrfs')
    new_tmpfs('/mnt/tmpfs')
    touch('/mnt/tmpfs/f')
    tmpfs = add('/mnt/tmpfs/f').name
    attach_fs('btrfs')
    writes(4, '/mnt/btrfs/f')
    is_equal(seen(btrfs), 4)
    umount('/mnt/tmpfs')
    new_tmpfs('/mnt/tmpfs')
    touch('/mnt/tmpfs/f')
    writes(5, '/mnt/tmpfs/f')
    is_equal(seen(tmpfs), 0)
    umount('/mnt/tmpfs')


def module_comes_and_goes(fs):
    dirs = {}
    for name in 'runs', 'stopped', 'started', 'removed':
        touch(f'/mnt/{fs}/{name}')
        dirs[name] = add(f'/mnt/{fs}/{name}')
        writes(1, f'/mnt/{fs}/{name}')
    how = hook(f'{fs}_file_write_iter')
    is_true(how != 'detached', how)
    dirs['stopped'].command('stop')
    dirs['started'].command('stop')

    umount(f'/mnt/{fs}')
    execute('rmmod', fs)
    is_equal([hook(f'{fs}_file_{way}_iter') for way in ('write', 'read')], ['detached'] * 2)
    is_equal(vfs_lines(dirs['runs'].name), 1)
    dirs['started'].command('start')
    must(f'remove /mnt/{fs}/removed')

    execute('modprobe', fs)
    attach_fs(fs)
    is_equal(hook(f'{fs}_file_write_iter'), how)
    for name in dirs:
        writes(1, f'/mnt/{fs}/{name}')
    is_equal([seen(dirs[name].name) for name in ('runs', 'stopped', 'started')], [2, 1, 2])
    dirs['stopped'].command('start')
    writes(1, f'/mnt/{fs}/stopped')
    is_equal(seen(dirs['stopped'].name), 2)
    touch(f'/mnt/{fs}/new')
    t = add(f'/mnt/{fs}/new')
    writes(1, f'/mnt/{fs}/new')
    is_equal(seen(t.name), 1)


@SUITE.test('hooks detach while the filesystem\'s module is unloaded, and attach when it is loaded')
@reloads
def filesystem_unloaded():
    reload('MAX_EVENTS=100')
    for fs in 'xfs', 'btrfs':
        module_comes_and_goes(fs)


@SUITE.test('iotracer can be unloaded while the filesystem\'s module is unloaded')
def unloaded_meanwhile():
    touch('/mnt/xfs/f')
    add('/mnt/xfs/f')
    umount('/mnt/xfs')
    execute('rmmod', 'xfs')
    unload()
    execute('modprobe', 'xfs')
    attach_fs('xfs')
    reload()
    t = add('/mnt/xfs/f')
    writes(2, '/mnt/xfs/f')
    is_equal(seen(t.name), 2)


@SUITE.test('attaching to a filesystem and detaching does not disturb another in heavy use')
def heavy_use():
    touch('/mnt/ext4/f')
    fio = Fio('/mnt/xfs/load')
    for _ in range(3):
        t = add('/mnt/ext4/f')
        writes(3, '/mnt/ext4/f')
        is_equal(seen(t.name), 3)
        must('remove /mnt/ext4/f')
        is_equal(sum(' unload ' not in line for line in slurp(IOT + '/hooks').splitlines()), 1)
    fio.goes_on()
    fio.end()


@SUITE.test('rmmod succeeds while fio runs, by redirection and by kretprobe')
@reloads
def unloaded_under_fio():
    for attach in 'auto', 'kprobe':
        reload(f'MAX_EVENTS=1000 attach={attach}')
        touch('/mnt/ext4/load')
        fio = Fio('/mnt/ext4/load')
        t = add('/mnt/ext4/load')
        fio.goes_on()
        is_true(seen(t.name) > 0, 'no event')
        unload()
        fio.goes_on()
        fio.end()


def poll_streams(how):
    """Read three streams to their end, and wait for more of them and of a pipe."""
    waiting = getattr(select, how)()
    for name in 'fs/stream', 'cache/stream', 'fs/pipe', 'paths':
        fd = os.open(f'{IOT}/{name}', os.O_RDONLY)
        if not name.endswith('pipe'):
            drain(fd)
        waiting.register(fd, select.POLLIN)
    waiting.poll()
    waiting.poll(0)


def read_until_gone(names):
    with contextlib.suppress(OSError):
        while True:
            for name in names:
                slurp_bytes(name)


@SUITE.test('rmmod succeeds while readers sleep in log, stream and stats, and others read')
@reloads
def readers():
    reload('MAX_EVENTS=1000')
    touch('/mnt/ext4/f')
    t = add('/mnt/ext4/f')
    writes(200, '/mnt/ext4/f')
    names = [f'{t.dir}/{name}' for name in ('log', 'stream', 'stats')] + [CONTROL]
    fds = [os.open(name, os.O_RDONLY) for name in names]
    is_equal(len(os.read(fds[0], 100)), 100)
    is_true(len(os.read(fds[1], 4096)) > 100, 'no whole block')
    reader = spawn(read_until_gone, names + [t.control, IOT + '/hooks'])
    poll, epoll = spawn(poll_streams, 'poll'), spawn(poll_streams, 'epoll')
    waits_in(poll, *POLL)
    waits_in(epoll, 'ep_poll', 'do_epoll_wait', 'schedule_hrtimeout_range')
    unload()
    join(poll)
    os.kill(epoll, signal.SIGKILL) # epoll does not report a file that is gone
    os.waitpid(epoll, 0)
    join(reader)
    is_true(not os.path.exists(IOT), 'it is still there')
    for fd in fds:
        is_gone(fd)


def read_directly():
    buffer = mmap.mmap(-1, PAGE)
    fd = os.open('/mnt/slow/f', os.O_RDONLY | os.O_DIRECT)
    for i in range(200):
        is_equal(os.preadv(fd, [buffer], i % 16 * PAGE), PAGE)


@SUITE.test('a direct read may return after its kretprobe is gone')
@reloads
def returns_late():
    new_filesystem('ext4', map_device('slow', '0 131072 linear /dev/vdd 0'), '/mnt/slow')
    with open('/mnt/slow/f', 'wb') as f:
        f.write(bytes(65536))
        f.flush()
        os.fsync(f.fileno())
    touch('/mnt/slow/g')
    reload('attach=kprobe')
    must('add /mnt/slow/f')
    execute('dmsetup', 'suspend', '--noflush', '--nolockfs', '--noudevsync', 'slow')
    reader = spawn(read_directly)
    while not re.search(r'^State:\s+D', slurp(f'/proc/{reader}/status'), re.M):
        time.sleep(0.01)
    must('remove /mnt/slow/f')
    t = add('/mnt/slow/g')
    execute('dmsetup', 'resume', '--noudevsync', 'slow')
    join(reader)
    is_equal(seen(t.name), 0)
    unload()
    umount('/mnt/slow')
    unmap('slow')


@SUITE.test('remove: a reader of the target\'s log gets EIO, readers of other logs continue', once=True)
@reloads
def removed():
    reload('MAX_EVENTS=1000')
    os.chdir('/mnt/ext4')
    touch('f', 'g')
    other, t = add('/mnt/ext4/g'), add('/mnt/ext4/f')
    writes(200, 'f')
    writes(2, 'g')
    log, late, second = (os.open(f'{target.dir}/log', os.O_RDONLY) for target in (t, t, other))
    os.read(log, 100)
    must('remove /mnt/ext4/f')
    is_true(not os.path.exists(t.dir), 'its directory is still there')
    is_gone(log)
    is_equal(drain(second).count(b';VFS;'), 2)
    os.close(second)
    t = add('/mnt/ext4/f')
    writes(1, 'f')
    is_gone(late)
    is_equal(seen(t.name), 1)


def many(command, names):
    """The command for each file, in as few writes as possible."""
    for first in range(0, len(names), 2000):
        must(''.join(f'{command} /mnt/files/{name}\n' for name in names[first:first + 2000]))


@SUITE.test('10,000 targets: each has its directory and its own events; remove and rmmod succeed', once=True)
@reloads
def ten_thousand():
    n = 10000 // LOAD_DIVISOR
    names = [str(i) for i in range(n)]
    touch(*names)
    many('add', names)
    dirs = {os.stat(path).st_ino: name.decode() for name, (path,) in targets()}
    is_equal(len(dirs), n)
    is_equal(sum(os.path.exists(f'{IOT}/{name}/log') for name in dirs.values()), n)
    written = {}
    for i in range(0, n, n // 10 - 3):
        writes(i % 5 + 1, names[i])
        written[dirs[os.stat(names[i]).st_ino]] = i % 5 + 1
    touch('other')
    writes(3, 'other')
    is_equal({name: count for name in dirs.values() if (count := seen(name))}, written)
    many('remove', names[:n // 2])
    is_equal(len(listing()), n // 2)
    writes(4, names[-1])
    is_equal(seen(dirs[os.stat(names[-1]).st_ino]), 4)
    unload()


@SUITE.test('kretprobe fallback: as many events as calls')
@reloads
def fallback():
    reload('attach=kprobe')
    for fs in DISKS:
        path = f'/mnt/{fs}/f'
        touch(path)
        t = add(path)
        writes(40, path)
        reads(30, path)
        direct(20, path, 65536, os.O_WRONLY)
        direct(10, path, 65536, os.O_RDONLY)
        is_equal((t.stats('vfs')[0], t.stats('vfs')[4]), (100, 0))
        must(f'remove {path}')
    add('/mnt/ext4/f')
    for line in slurp(IOT + '/hooks').splitlines()[1:]:
        is_true(re.match(r'\S+ (\S+ (tracepoint|kretprobe)|(name|completion) kretprobe-names-as-given) ', line), line)


def fill():
    """Add targets until the limit is reached, resize and empty some, and remove all. Return: their number"""
    for n in range(100):
        if control(f'add /mnt/ext4/{n} 1000') == 'ENOMEM':
            break
    is_equal(len(control_lines()), n)
    must('reset', f'{IOT}/vda_{os.stat("/mnt/ext4/0").st_ino}/control')
    must('add /mnt/ext4/0 900\nadd /mnt/ext4/1 2\n')
    for i in range(n):
        must(f'remove /mnt/ext4/{i}')
    return n


@SUITE.test('removed targets return their memory to the limit', once=True)
@reloads
def memory_returns():
    reload('ring_memory_limit=1000000')
    touch(*(f'/mnt/ext4/{n}' for n in range(100)))
    first = fill()
    is_true(2 < first < 99, first)
    is_equal([fill(), fill()], [first, first])


def life(first, *others):
    """
    Load the module, make it allocate everything that it can allocate, and unload
    it: small and large rings, resized and emptied ones, links, readers, one of which still has
    the log open when its target is removed.

    @first: the name of the first target; @others: files on other filesystems, which are added, too
    """
    is_true(load(), 'insmod failed')
    paths = [f'/mnt/ext4/{n}' for n in range(8)]
    must(''.join(f'add {path}\n' for path in (*paths, '/mnt/ext4/link', paths[0] + ' 500', *others)))
    log = os.open(f'{IOT}/{first}/log', os.O_RDONLY)
    os.read(log, 100)
    for name in 'control', 'log', 'stats', 'stream':
        slurp_bytes(f'{IOT}/{first}/{name}')
    pipe = os.open(f'{IOT}/{first}/pipe', os.O_RDONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        drain(pipe)
    os.close(pipe)
    must('reset', f'{IOT}/{first}/control')
    must(f'remove {paths[0]}\nremove {paths[1]}\n')
    unload()
    os.close(log)


@SUITE.test('loading and unloading under I/O leaves nothing behind')
@reloads
def nothing_behind():
    unload()
    touch(*(f'/mnt/ext4/{n}' for n in range(8)), '/mnt/btrfs/f', '/mnt/xfs/f')
    os.link('/mnt/ext4/7', '/mnt/ext4/link')
    first = f'vda_{os.stat("/mnt/ext4/0").st_ino}'
    for _ in range(3):
        life(first, '/mnt/btrfs/f', '/mnt/xfs/f')
    Fio('/mnt/ext4/0').end()
    slabs = Slabs()
    fio = Fio('/mnt/ext4/0', '--thinktime=40ms')
    # fewer on a machine so busy that these would take all the time that a test has
    cycles, began = 0, time.monotonic()
    while cycles < int(os.environ.get('CYCLES', '30')) and (cycles < 10 or time.monotonic() - began < 200):
        life(first, *(() if cycles % 10 else ('/mnt/btrfs/f', '/mnt/xfs/f')))
        cycles += 1
    fio.goes_on()
    fio.end()
    slabs.are_back(cycles)
