# SPDX-License-Identifier: GPL-2.0
"""
Filesystems, servers and disks that do not answer, at each of the requests that iotracer causes.
Commands for other files and categories go on, rmmod ends or says EBUSY, and when the server answers
again, or is killed, everything is as before.

A server of FUSE stops answering at each of its requests in turn (lib/fuse.py), below a file, an
overlayfs or a loop device; or a disk of the device mapper is suspended.
"""
import contextlib
import ctypes
import os
import re
import select
import signal
import subprocess
import time

from lib import fuse
from lib.category import command, events, is_conserved, stats
from lib.iot import (add, control, ends, forget_all, IOT, is_equal, is_true, join, kmsg, listing,
                     matches, must, NOBODY, reload, slurp, touch, unload, write, write_bytes)
from lib.machine import (execute, files_and_disk, map_device, new_filesystem, sectors,
                         umount_files_and_disk, unmap, unmap_all)
from lib.never import delete_module
from lib.process import sleeps_in, spawn, spawn_as, waits_in
from lib.suite import Suite


def setup():
    execute('modprobe', '-a', 'overlay', 'fuse', 'loop', 'xfs')
    files_and_disk()


def after():
    unload()
    unmap_all()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=after)

LIBC = ctypes.CDLL(None, use_errno=True)
NEWUSER, NEWNS = 0x10000000, 0x20000
MB = 1 << 20

# Seconds. Nothing may wait; this is for machines that emulate processors.
AT_ONCE = 100


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def mount(source, target, kind, options=''):
    args = [a.encode() for a in (source, target, kind)]
    if LIBC.mount(*args, 0, options.encode()):
        raise OSError(ctypes.get_errno(), f'mount {source} {target}')


def umount(target, flags=0):
    if LIBC.umount2(target.encode(), flags):
        raise OSError(ctypes.get_errno(), f'umount {target}')


def eventually(condition, words):
    deadline = time.monotonic() + AT_ONCE
    while not condition():
        is_true(time.monotonic() < deadline, words)
        time.sleep(0.01)


def follows(path):
    """A target whose directory is replaced is followed to the file that its path leads to then."""
    top = os.path.dirname(path)
    t = add(path, 10)
    os.rename(top, top + '.old')
    os.mkdir(top)
    touch(path)
    inode = os.stat(path).st_ino
    eventually(lambda: re.search(rf'^inode {inode}$', slurp(t.dir + '/stats'), re.M),
               f'{path} is not followed')
    write_bytes(path, 7, 1)
    is_equal(t.addresses()[-1], 7)
    must(f'remove {path}')


def others_follow():
    for directory in '/mnt/files/other', '/mnt/files/other.old':
        os.makedirs(directory, exist_ok=True)
        for name in os.listdir(directory):
            os.unlink(f'{directory}/{name}')
    os.rmdir('/mnt/files/other.old')
    touch('/mnt/files/other/file')
    follows('/mnt/files/other/file')


def others():
    """Commands that take each lock of the module, for what does not wait for anything."""
    touch('/mnt/disk/other')
    t = add('/mnt/disk/other', 10)
    for line in 'stop', 'start', 'reset':
        t.command(line)
    write_bytes('/mnt/disk/other', 5, 1)
    is_equal(t.addresses(), [5])
    must('remove /mnt/disk/other')
    os.makedirs('/mnt/files/directory', exist_ok=True)
    for what in '/mnt/files/directory', f'pid={os.getpid()}':
        must(f'add {what}')
        must(f'remove {what}')
    listing()
    others_follow()


def categories():
    """Categories start, record and stop."""
    for name in 'fs', 'block', 'cache':
        command(f'filter pid={os.getpid()}', 'start', category=name)
    touch('/mnt/disk/other')
    write_bytes('/mnt/disk/other', 0, 1)
    slurp(IOT + '/block/dirty')
    for name in 'fs', 'block', 'cache':
        command('stop', category=name)
    is_true('WRITE' in [e['op'] for e in events('/mnt/disk/other')], 'nothing is recorded')


def go_on(*functions):
    """Each of the functions ends, in a process of its own."""
    for function in functions or (others,):
        ends(spawn(function), AT_ONCE)


def rmmod():
    """Unload the module, which may not wait. Return: 0 or the error's name."""
    reading, writing = os.pipe()
    pid = spawn(lambda: os.write(writing, str(delete_module(b'iotracer')).encode()))
    ends(pid, AT_ONCE)
    result = os.read(reading, 100).decode()
    os.close(reading)
    os.close(writing)
    return result


def is_refused(*regexes):
    """rmmod fails with EBUSY, and the kernel's log says why."""
    kmsg.skip()
    is_equal(rmmod(), 'EBUSY')
    said = '\n'.join(kmsg.new())
    for regex in regexes:
        matches(said, 'cannot be unloaded yet: ' + regex)


def is_unloaded():
    """Nothing keeps the module any more, once workers have seen the answer."""
    eventually(lambda: rmmod() == '0', 'the module is not unloaded')
    reload()


@contextlib.contextmanager
def hung(function, *args):
    """A process that waits until the block is left, and then ends by itself."""
    pid = spawn(function, *args)
    try:
        yield pid
    finally:
        ends(pid, AT_ONCE)


# A mount that never completes


def overlay_of_nobody(hold, go):
    """In a user namespace, mount an overlayfs over FUSE. Read a file of it when that is done."""
    top = '/mnt/files/nobody'
    LIBC.prctl(4, 1) # PR_SET_DUMPABLE: /proc/self is this user's
    if LIBC.unshare(NEWUSER | NEWNS):
        raise OSError(ctypes.get_errno(), 'unshare')
    for name, text in (('setgroups', 'deny'), ('uid_map', f'0 {NOBODY} 1'),
                       ('gid_map', f'0 {NOBODY} 1')):
        with open('/proc/self/' + name, 'w', encoding='ascii') as f:
            f.write(text)
    fd = fuse.mount(top + '/fuse')
    server = spawn(fuse.Server(fd, hold, 4096).run)
    os.close(fd)
    mount('overlay', top + '/overlay', 'overlay', f'lowerdir={top}/fuse:{top}/lower')
    os.read(go, 1)
    with open(top + '/overlay/file', 'rb') as f:
        is_equal(len(f.read()), 4096)
    os.kill(server, signal.SIGKILL)


@SUITE.test("waits: a user's mount never completes: start goes on, and its first open is seen")
def mount_never_completes():
    for name in 'fuse', 'overlay', 'lower':
        os.makedirs('/mnt/files/nobody/' + name, exist_ok=True)
        os.chown('/mnt/files/nobody/' + name, NOBODY, NOBODY)
    os.chmod('/dev/fuse', 0o666) # as udev does
    reading, writing = os.pipe()
    hold = fuse.Hold()
    hold.stop(op=fuse.STATFS)
    pid = spawn_as(NOBODY, overlay_of_nobody, hold, reading)
    try:
        hold.wait_stopped()
        before = stats()['missed'], stats('block')['missed']
        go_on(categories, others)
        is_equal(rmmod(), '0')
        reload()
        ends(spawn(command, 'filter op=READ', 'start'), AT_ONCE)
    finally:
        hold.clear()
    os.write(writing, b'x')
    ends(pid)
    command('stop')
    rows = [e for e in events() if e.get('path', '').endswith('/nobody/overlay/file')]
    is_equal([(e['op'], e['result']) for e in rows], [('READ', '4096'), ('READ', '0')])
    is_conserved()
    is_equal((stats()['missed'], stats('block')['missed']), before)


# Disks of the device mapper


@contextlib.contextmanager
def slow(kind, top='/mnt/slow'):
    """A filesystem on a disk that can be suspended. Yields: a function that does so."""
    new_filesystem(kind, map_device('slow', f'0 {sectors("/dev/vdb")} linear /dev/vdb 0'), top)
    try:
        yield lambda: run('dmsetup', 'suspend', '--noflush', '--nolockfs', 'slow')
    finally:
        answer()
        subprocess.run(['umount', top], check=False, stderr=subprocess.DEVNULL)
        unmap('slow')


def answer():
    run('dmsetup', 'resume', '--noudevsync', 'slow')


def make_dirty(path):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.pwrite(fd, bytes(MB), 0)
    os.close(fd)


def dirty():
    return {k: int(v) for k, v in
            (line.split() for line in slurp(IOT + '/block/dirty').split('\n')[:-1])}


@SUITE.test('waits: an unmount that waits for its disk: start and dirty go on')
def unmount_waits():
    with slow('ext4') as suspend:
        make_dirty('/mnt/slow/f')
        suspend()
        with contextlib.ExitStack() as stack:
            stack.callback(answer)
            pid = spawn(umount, '/mnt/slow')
            # in deactivate_super() for the lock, which writeback holds that waits for the disk
            waits_in(pid, 'deactivate_super', 'folio_wait', 'writeback', 'wb_wait', 'wait_on', 'bdi_',
                     'io_schedule', 'submit_bio', 'blk_', 'jbd2', '__wait', 'wait_', 'bit_wait', 'rq_qos', 'sync')
            go_on(categories, others)
            ends(spawn(lambda: is_true(dirty()['unknown_filesystems'] > 0, dirty())), AT_ONCE)
            is_unloaded()
        ends(pid)
    is_equal(dirty()['unknown_filesystems'], 0)


@SUITE.test('waits: a remount that waits for its disk: files that are open are traced, and counted as missed')
def remount_waits():
    """The lock of a filesystem is taken, and a process has a file open there."""
    with slow('xfs') as suspend:
        make_dirty('/mnt/slow/f')
        run('sync', '-f', '/mnt/slow/f')
        fd = os.open('/mnt/slow/f', os.O_RDONLY)
        os.pread(fd, MB, 0)
        make_dirty('/mnt/slow/g')
        suspend()
        with contextlib.ExitStack() as stack:
            stack.callback(answer)
            pid = spawn(run, 'mount', '-o', 'remount,ro', '/mnt/slow')
            eventually(lambda: any(is_remounting(child) for child in children(pid)),
                       'the remount does not wait')
            go_on(categories, others)
            missed = stats()['missed']
            ends(spawn(command, f'filter pid={os.getpid()} op=READ', 'start'), AT_ONCE)
            is_equal(len(os.pread(fd, 4096, 0)), 4096)
            ends(spawn(command, 'stop'), AT_ONCE)
            is_equal([(e['op'], e['result']) for e in events('/mnt/slow/f')], [('READ', '4096')])
            is_equal(stats()['missed'], missed + 1)
            is_true(dirty()['unknown_filesystems'] > 0, dirty())
            is_unloaded()
        ends(pid)
        os.close(fd)


def children(pid):
    """The children of a process; not every kernel lists them in /proc."""
    done = subprocess.run(('pgrep', '-P', str(pid)), stdout=subprocess.PIPE, text=True, check=False)
    return [int(number) for number in done.stdout.split()]


def is_remounting(pid):
    with contextlib.suppress(OSError):
        return 'remount' in slurp(f'/proc/{pid}/cmdline') and sleeps_in(pid) not in ('0', '') and \
            slurp(f'/proc/{pid}/stat').rsplit(')', 1)[1].split()[0] == 'D'
    return False


# Paths that are followed


def change_mounts():
    """So a worker looks up all paths again."""
    os.makedirs('/mnt/files/mounted', exist_ok=True)
    mount('none', '/mnt/files/mounted', 'tmpfs')
    umount('/mnt/files/mounted')


def requests_of(hold, work):
    """The requests that a server gets while paths are looked up again."""
    before = len(hold.requests())
    work()
    # the path of this one is looked up after that of the target, or at the same time
    others_follow()
    time.sleep(1.5)
    return hold.requests()[before:]


def stops_at(hold, i, forget):
    """
    Does a look-up of the paths stop at the server's request number i? What is in use at that moment is
    not forgotten, so that there may be no request at all: the first one is tried for several times.
    """
    for _ in range(1 if i else 10):
        forget()
        hold.stop(after=i)
        change_mounts()
        deadline = time.monotonic() + 10
        while not hold.has_stopped() and time.monotonic() < deadline:
            time.sleep(0.01)
        if hold.has_stopped():
            return True
        hold.clear()
    return False


def stops_at_each(hold, path, forget=lambda: None):
    """
    The server stops at each of the requests of a look-up of @path in turn. @forget: drops what
    the kernel knows of the path
    """
    def look_again():
        forget()
        change_mounts()

    add(path, 10)
    n = len(requests_of(hold, look_again))
    for i in range(max(n, 1)):
        if not stops_at(hold, i, forget):
            is_true(i, 'nothing was looked up')
            break # fewer requests than before
        go_on(*((others, categories) if not i else (others,)))
        is_refused(f'a worker looks up the path of a target, {path};')
        hold.clear()
        eventually(lambda: rmmod() == '0', 'the worker does not end')
        reload()
        add(path, 10)
    is_equal(listing(), [path])


@contextlib.contextmanager
def overlay(valid=fuse.FOREVER):
    """An overlayfs over FUSE. Yields: the Hold of the server, which is killed in the end."""
    for name in 'upper', 'work', 'overlay':
        os.makedirs('/mnt/files/' + name, exist_ok=True)
    with fuse.mounted(1, valid=valid) as hold:
        mount('overlay', '/mnt/files/overlay', 'overlay',
              f'lowerdir={fuse.TOP},upperdir=/mnt/files/upper,workdir=/mnt/files/work')
        try:
            yield hold
        finally:
            umount('/mnt/files/overlay', 2) # MNT_DETACH


@SUITE.test('waits: a path on overlayfs, whose lower server stops at each request: others are followed')
def overlay_over_fuse():
    path = '/mnt/files/overlay/dir/file'
    with overlay(valid=0) as hold:
        stops_at_each(hold, path)
        # and the server is killed while the worker waits
        hold.stop()
        change_mounts()
        hold.wait_stopped()
        go_on()
        is_refused(f'a worker looks up the path of a target, {path};')
    is_unloaded()


@contextlib.contextmanager
def loop(hold, top='/mnt/loop'):
    device = run('losetup', '--find', '--show', '--read-only', fuse.FILE)
    os.makedirs(top, exist_ok=True)
    run('mount', '-o', 'ro,noload', device, top)
    try:
        yield device
    finally:
        hold.clear()
        umount(top)
        run('losetup', '-d', device)


@SUITE.test('waits: a path on a loop device over a server that stops at each request: others are followed', once=True)
def loop_over_fuse():
    image = '/mnt/files/image'
    with open(image, 'wb') as f:
        f.truncate(16 * MB)
    os.makedirs('/mnt/files/content/dir', exist_ok=True)
    touch('/mnt/files/content/dir/file')
    run('mkfs.ext4', '-q', '-F', '-d', '/mnt/files/content', image)
    data = os.open(image, os.O_RDONLY)
    with fuse.mounted(16 * MB // 4096, data=data) as hold, loop(hold):
        path = '/mnt/loop/dir/file'
        stops_at_each(hold, path, forget_all)
        # a command for that path waits, and the others do not
        forget_all()
        hold.stop()
        with hung(control, f'remove {path}') as pid:
            hold.wait_stopped()
            go_on()
            is_refused(rf'python3 \(process {pid},')
            hold.clear()
    os.close(data)
    is_unloaded()


@SUITE.test('waits: a path below a directory that a task locks while it waits for its disk')
def directory_is_locked():
    """A task holds the lock of a traced directory while it waits for its server."""
    path = '/mnt/files/overlay/dir/file'
    with overlay() as hold:
        add(path, 10)
        hold.stop()
        with hung(os.mkdir, '/mnt/files/overlay/dir/new'):
            hold.wait_stopped()
            change_mounts()
            go_on(others, categories)
            is_refused(f'a worker looks up the path of a target, {path};')
            hold.clear()
        must(f'remove {path}')
    is_unloaded()


# Commands


def stop_each(hold, text, undo=()):
    """The server stops at each request of a command in turn."""
    i = 0
    while True:
        hold.stop(after=i)
        with hung(control, text) as pid:
            fd = os.pidfd_open(pid)
            while not hold.has_stopped() and not is_over(fd):
                time.sleep(0.01)
            os.close(fd)
            stopped = hold.has_stopped()
            if stopped:
                go_on()
                is_refused(rf'python3 \(process {pid},')
            hold.clear()
        for line in undo:
            must(line)
        if not stopped:
            return i
        i += 1


def is_over(pidfd):
    return bool(select.select([pidfd], [], [], 0)[0])


@SUITE.test('waits: add and remove on a server that stops at each request: others go on', once=True)
def commands_on_fuse():
    with fuse.mounted(1, valid=0) as hold:
        command('start') # so adding a directory takes less time
        for path in fuse.FILE, fuse.TOP + '/dir':
            n = stop_each(hold, f'add {path}', [f'remove {path}'])
            is_true(n > 0, f'add {path} asks for nothing')
            must(f'add {path}')
            n = stop_each(hold, f'remove {path}', [f'add {path}'])
            is_true(n > 0, f'remove {path} asks for nothing')
            must(f'remove {path}')
        n = stop_each(hold, f'add {fuse.TOP}/link', [f'remove {fuse.FILE}'])
        is_true(n > 2, 'the link is not read')
        is_equal(listing(), [])
        # killed, too
        hold.stop()
        pid = spawn(control, f'add {fuse.FILE}')
        hold.wait_stopped()
        go_on()
    join(pid)
    command('stop')
    is_unloaded()


@SUITE.test('waits: a filter on the path of a server that stops at each request: others go on', once=True)
def filters_on_fuse():
    """The look-up holds no lock of the category: it can be started, stopped and filtered meanwhile."""
    def filtered(path):
        write(IOT + '/fs/control', f'filter path={path}')

    def fs_goes_on():
        categories()
        others()

    with fuse.mounted(1, valid=0) as hold:
        for after in range(2):
            hold.stop(after=after)
            with hung(filtered, fuse.TOP + '/dir/none'):
                hold.wait_stopped()
                go_on(fs_goes_on)
                is_refused(r'python3 \(process')
                hold.clear()
        # killed, too
        hold.stop()
        pid = spawn(filtered, fuse.FILE)
        hold.wait_stopped()
        go_on(fs_goes_on)
    join(pid)
    command('stop')
    is_unloaded()


@SUITE.test('waits: a file is removed while its dirty pages are counted', once=True)
def removed_while_counted():
    """The count may hold the last reference to a file: a worker drops it, and no unmount fails."""
    reader = spawn(read_dirty)
    try:
        for i in range(200):
            make_dirty(f'/mnt/disk/{i}')
            os.unlink(f'/mnt/disk/{i}')
    finally:
        os.kill(reader, signal.SIGKILL)
        os.waitpid(reader, 0)
    is_unloaded()
    run('umount', '/mnt/disk')
    # nothing has the device any more
    os.close(os.open('/dev/vda', os.O_RDONLY | os.O_EXCL))
    run('mount', '/dev/vda', '/mnt/disk')


def read_dirty():
    while True:
        dirty()
