# SPDX-License-Identifier: GPL-2.0
"""
Unloading the module while a call never ends: rmmod succeeds, or fails at once with EBUSY, names the
process that is in the way, and tracing goes on. stop does not wait. So it is when a read or write
of /proc/iotracer never ends.

Memory that never comes is a page that userfaultfd should provide and does not. A process that
touches it, or lets the kernel copy to it, waits until it is killed.
"""
import contextlib
import ctypes
import errno
import mmap
import os
import signal
import subprocess
import threading
import time

from lib import fuse
from lib.category import command, is_conserved, stats
from lib.iot import (add, as_user, CONTROL, IOT, is_equal, is_true, join, listing, matches, must,
                     NOBODY, reload, slurp, touch, unload, write)
from lib.machine import map_device, new_filesystem, new_tmpfs, sectors, umount, unmap_all
from lib.never import delete_module, DELETE_MODULE, LIBC, never, PAGE
from lib.process import FUSE, spawn, waits_in
from lib.suite import Suite


def before():
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk')


def after():
    unload()
    umount('/mnt/files', '/mnt/disk')
    unmap_all()


SUITE = Suite(before=before, after=after)

# Seconds. rmmod must return within a few; this is for machines that emulate processors.
AT_ONCE = 60
# The functions of a read from ext4; the first ends in a jump to the second.
READING = '(ext4_file_read_iter|filemap_read)'


def touch_never(name):
    """Read memory that never comes, of the named file or, without a name, of a memfd."""
    fd = os.open(name, os.O_RDWR | os.O_CREAT) if name else os.memfd_create('never')
    memory, _, _uffd = never(fd)
    memory[0]


def read_never(path):
    """read(2) a file into memory that never comes."""
    _memory, address, _uffd = never(os.memfd_create('never'))
    fd = os.open(path, os.O_RDONLY)
    LIBC.read(fd, ctypes.c_void_p(address), PAGE)


def write_never(path):
    """write(2) to a file from memory that never comes."""
    _memory, address, _uffd = never(os.memfd_create('never'))
    fd = os.open(path, os.O_WRONLY)
    LIBC.write(fd, ctypes.c_void_p(address), PAGE)


@contextlib.contextmanager
def hung(function, *args, where=('handle_userfault',)):
    """A process that is inside this function and does not return."""
    pid = spawn(function, *args)
    try:
        waits_in(pid, *where)
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def rmmod():
    """Unload iotracer, which must not wait. Returns 0 or the error's name."""
    begin = time.monotonic()
    result = delete_module(b'iotracer')
    is_true(time.monotonic() - begin < AT_ONCE, f'{time.monotonic() - begin} s')
    return result


def messages():
    return subprocess.run(['dmesg'], check=True, capture_output=True, text=True).stdout


def is_named(pid, function):
    """The kernel log names this process as the reason that the module stays."""
    matches(messages(), f'iotracer: cannot be unloaded yet: python3 \\(process {pid}, thread {pid}\\) '
            f'is inside a traced call of {function}[ ;]')


def is_named_inside(pid, path):
    """The kernel log names this process, and the file in /proc/iotracer that it is inside."""
    matches(messages(), f'iotracer: cannot be unloaded yet: python3 \\(process {pid}, thread {pid}\\) '
            f'is inside a call on {path};')


def wait_until(condition, words):
    end = time.monotonic() + AT_ONCE
    while not condition():
        is_true(time.monotonic() < end, words)
        time.sleep(0.01)


def goes_on(category='fault'):
    """The category still records what another process does."""
    before = stats(category)['seen']
    subprocess.run(['cat', '/usr/bin/cat'], check=True, stdout=subprocess.DEVNULL)
    is_true(stats(category)['seen'] > before, 'nothing is recorded any more')
    is_conserved(category)


def is_unloaded():
    """rmmod succeeds at once. Load the module again, for the cleanup after the test."""
    is_equal(rmmod(), 0)
    reload()


@SUITE.test('a page fault of a file that is not wanted never ends: rmmod succeeds')
def rejected_fault():
    command('start', category='fault') # rejects a memfd, which has kind other
    with hung(touch_never, None):
        goes_on()
        command('stop', category='fault')
        is_unloaded()


@SUITE.test('a page fault that is traced never ends: EBUSY, and the log names the process')
def traced_fault():
    command('start', category='fault')
    with hung(touch_never, '/mnt/files/f') as pid:
        is_equal(rmmod(), 'EBUSY')
        is_named(pid, 'handle_mm_fault')
        goes_on()
        is_equal(rmmod(), 'EBUSY')
        command('stop', 'start', category='fault')
        goes_on()
        command('stop', category='fault')
        is_equal(rmmod(), 'EBUSY')
    is_unloaded()


@SUITE.test('a read of a target never ends: EBUSY, and remove does not wait')
def traced_read():
    touch('/mnt/disk/f', '/mnt/disk/g')
    for name in 'fg':
        os.truncate('/mnt/disk/' + name, PAGE)
    f = add('/mnt/disk/f', 10)
    with hung(read_never, '/mnt/disk/f') as pid:
        is_equal(rmmod(), 'EBUSY')
        is_named(pid, READING)
        must('remove /mnt/disk/f\n', CONTROL)
        is_true(not os.path.exists(f.dir), f.dir)
        # Other targets are traced as before.
        g = add('/mnt/disk/g', 10)
        subprocess.run(['cat', '/mnt/disk/g'], check=True, stdout=subprocess.DEVNULL)
        is_true(g.log().count(';VFS;cat;') == 2, g.log())
        must('remove /mnt/disk/g\n', CONTROL)
        is_equal(rmmod(), 'EBUSY')
    is_unloaded()


@SUITE.test('a read that category fs rejects never ends: rmmod succeeds')
def rejected_read():
    touch('/mnt/disk/f')
    os.truncate('/mnt/disk/f', PAGE)
    command('filter kind=symlink op=READ', 'start')
    with hung(read_never, '/mnt/disk/f'):
        is_unloaded()


@SUITE.test('an open of a new kind of file that category fs rejects never ends: rmmod succeeds')
def open_of_new_kind():
    """The filter rejects the process. That the file is of a new kind makes no difference."""
    command('filter pid=1', 'start')
    with fuse.mounted(1, [fuse.OPEN]) as hold:
        os.stat(fuse.FILE)
        hold.set()
        with hung(os.open, fuse.FILE, os.O_RDONLY, where=FUSE):
            try:
                command('stop')
                is_unloaded()
            finally:
                hold.clear()


def read_directly(device):
    fd = os.open(device, os.O_RDONLY | os.O_DIRECT)
    os.preadv(fd, [mmap.mmap(-1, PAGE)], 0)


@SUITE.test('a direct read that categories fs and block reject never ends: rmmod succeeds')
def rejected_by_both():
    """Categories fs and block both reject the process, though block follows direct I/O."""
    map_device('hung', f'0 {sectors("/dev/vdc")} linear /dev/vdc 0')
    for category in 'fs', 'block':
        command('filter pid=1', 'start', category=category)
    device = subprocess.run(['dmsetup', 'info', '-c', '--noheadings', '-o', 'blkdevname', 'hung'],
                            check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(['dmsetup', 'suspend', '--noflush', '--nolockfs', 'hung'], check=True)
    pid = spawn(read_directly, '/dev/' + device)
    try:
        waits_in(pid, 'blk_io_schedule', 'submit_bio_wait', '__blkdev_direct_IO_simple',
                 'bio_await')
        for category in 'fs', 'block':
            command('stop', category=category)
        is_unloaded()
    finally:
        subprocess.run(['dmsetup', 'resume', '--noudevsync', 'hung'], check=True)
        join(pid)


@SUITE.test('a lookup on a server that does not answer: rmmod succeeds or gets EBUSY, at once')
def lookup():
    with fuse.mounted(1) as hold:
        command('start')
        hold.set()
        with hung(os.path.exists, fuse.TOP + '/none', where=FUSE) as pid:
            goes_on('fs')
            command('stop')
            error = rmmod()
            if error == 'EBUSY':
                is_named(pid, r'\w+')
            hold.clear() # serve it: a task that waits for a sent request cannot be killed


def delete_never():
    """delete_module(2) of a name that never comes."""
    _memory, address, _uffd = never(os.memfd_create('never'))
    LIBC.syscall(DELETE_MODULE, ctypes.c_void_p(address), 0)


def refused():
    """
    The kernel refuses to unload the module, when iotracer has agreed: meanwhile the name has become
    another one. Return: the error.
    """
    name = ctypes.create_string_buffer(b'iotracer')
    found = []
    with hung(read_never, '/mnt/disk/g'): # until it returns, the call below waits
        call = threading.Thread(target=lambda: found.append(delete_module(name)))
        call.start()
        waits_in(call.native_id, 'msleep')
        name.value = b'iotraces'
    call.join()
    return found[0]


def goes_on_recorded(f):
    """Reads of a target are recorded as before: none passes by."""
    before = f.stats('vfs')
    subprocess.run(['cat', '/mnt/disk/f'], check=True, stdout=subprocess.DEVNULL)
    is_equal(f.stats('vfs'), (before[0] + 2,) + before[1:2] + (before[2] + 2,) + before[3:])


def full_target(name):
    """A target with a log that is full."""
    t = traced_file(name)
    for _ in range(5):
        subprocess.run(['cat', '/mnt/disk/' + name], check=True, stdout=subprocess.DEVNULL)
    return t


@SUITE.test('the kernel refuses to unload the module: tracing goes on')
def kernel_refuses():
    f = full_target('f')
    traced_file('g')
    while (error := refused()) == 'EBUSY': # on a machine so busy that it took three seconds
        pass
    is_equal(error, 'ENOENT')
    goes_on_recorded(f)
    is_unloaded()


@SUITE.test('many calls of delete_module never end: EBUSY, and tracing goes on')
def many_deletions():
    """The same while many calls of delete_module() are under way."""
    f = full_target('f')
    traced_file('g')
    with contextlib.ExitStack() as stack:
        for _ in range(8 * os.cpu_count()):
            stack.enter_context(hung(delete_never))
        is_true(refused() in ('ENOENT', 'EBUSY'), 'it is unloaded')
        goes_on_recorded(f)
        # a call whose name is not known yet may be about this module
        is_equal(rmmod(), 'EBUSY')
        is_equal(delete_module(b'no_such_module'), 'ENOENT')
        goes_on_recorded(f)
    is_unloaded()


@SUITE.test('each call during an rmmod that fails is counted as seen or missed')
def conserved():
    """Reads of a target while rmmod waits and fails: each is seen or counted as missed."""
    for name in 'fg':
        touch('/mnt/disk/' + name)
        os.truncate('/mnt/disk/' + name, PAGE)
    f = add('/mnt/disk/f', 10)
    add('/mnt/disk/g', 10)
    counter = os.open('/mnt/files/count', os.O_RDWR | os.O_CREAT)
    with hung(read_never, '/mnt/disk/g') as pid:
        reader = spawn(count_reads, '/mnt/disk/f', counter)
        while not os.fstat(counter).st_size:
            time.sleep(0.01)
        try:
            is_equal(rmmod(), 'EBUSY')
            is_named(pid, READING)
        finally:
            touch('/mnt/files/stop')
            join(reader)
    seen, _, _, _, missed = f.stats('vfs')
    is_true(seen > 0 and missed > 0, slurp(f.dir + '/stats'))
    is_equal(seen + missed, int(os.pread(counter, 20, 0)))
    f.is_conserved()


def count_reads(path, counter):
    """Read until a file "stop" exists, then write the number of reads to the counter."""
    fd = os.open(path, os.O_RDONLY)
    n = 0
    os.write(counter, b'-1')
    while not os.path.exists('/mnt/files/stop'):
        os.pread(fd, 1, 0)
        n += 1
    os.pwrite(counter, str(n).encode(), 0)


@SUITE.test('delete_module without permission, or of another module, changes nothing')
def others():
    touch('/mnt/disk/f')
    os.truncate('/mnt/disk/f', PAGE)
    f = add('/mnt/disk/f', 100)
    subprocess.run(['modprobe', 'null_blk', 'nr_devices=0'], check=True)
    is_equal(as_user(NOBODY, delete_module, b'iotracer'), 'EPERM')
    is_equal(delete_module(b'no_such_module'), 'ENOENT')
    is_equal(delete_module(b'x' * 100), 'ENOENT')
    is_equal(delete_module(None), 'EFAULT')
    is_equal(delete_module(b'null_blk'), 0)
    subprocess.run(['cat', '/mnt/disk/f'], check=True, stdout=subprocess.DEVNULL)
    is_equal(f.log().count(';VFS;cat;'), 2)
    is_equal(f.stats('vfs'), (2, 2, 0, 0, 0))
    is_true('unload redirect' in slurp(IOT + '/hooks'), slurp(IOT + '/hooks'))


def traced_file(name):
    """A target with events in its log."""
    touch('/mnt/disk/' + name)
    os.truncate('/mnt/disk/' + name, PAGE)
    t = add('/mnt/disk/' + name, 10)
    subprocess.run(['cat', '/mnt/disk/' + name], check=True, stdout=subprocess.DEVNULL)
    return t


def commands_work():
    """Commands that need each lock of the control files."""
    g = traced_file('g')
    is_equal(g.log().count(';VFS;cat;'), 2)
    for line in 'reset', 'timereset', 'stop', 'start':
        must(line, g.control)
    must('remove /mnt/disk/g')
    command('filter comm=none', 'size 100', 'start', 'reset', 'stop', 'filter none')
    slurp(IOT + '/memory')
    slurp(IOT + '/hooks')


@SUITE.test("a read of a target's log never ends: EBUSY, the log names the process, commands go on")
def log_reader():
    f = traced_file('f')
    with hung(read_never, f.dir + '/log') as pid:
        is_equal(rmmod(), 'EBUSY')
        is_named_inside(pid, f.dir + '/log')
        for line in 'reset', 'stop', 'start':
            must(line, f.control)
        commands_work()
    is_unloaded()


@SUITE.test("a read of a target's log never ends: remove does not wait")
def removed():
    """A target is removed while a task stops inside its log."""
    f = traced_file('f')
    with hung(read_never, f.dir + '/log'):
        must('remove /mnt/disk/f')
        is_equal(listing(), [])
        commands_work()
        is_equal(rmmod(), 'EBUSY')
    is_unloaded()


@SUITE.test('a removed target that a task is inside of is not started, and nobody else reads it', once=True)
def closed():
    """What is left of a removed target neither starts again nor takes another reader."""
    f = traced_file('f')
    fds = [os.open(f'{f.dir}/{name}', os.O_RDWR if name == 'control' else os.O_RDONLY)
           for name in ('control', 'log', 'stream', 'pipe', 'stats')]
    with hung(read_never, f.dir + '/log'):
        must('remove /mnt/disk/f')
        for fd in fds:
            is_equal(error_of(os.read, fd, 100), 'EIO')
        is_equal(error_of(os.write, fds[0], b'start'), 'EIO')
        is_equal(write(f.control, 'start'), 'ENOENT')
        subprocess.run(['cat', '/mnt/disk/f'], check=True, stdout=subprocess.DEVNULL)
        is_true('ext4' not in slurp(IOT + '/hooks'), slurp(IOT + '/hooks'))
    for fd in fds:
        os.close(fd)


def error_of(function, *args):
    try:
        return function(*args)
    except OSError as e:
        return errno.errorcode[e.errno]


@SUITE.test('a removed target that a task is inside of keeps its name, and then gives it back', once=True)
def name_is_taken():
    before = slurp(IOT + '/memory')
    f = traced_file('f')
    with hung(read_never, f.dir + '/log'):
        must('remove /mnt/disk/f')
        again = traced_file('f')
        is_equal(again.name, f.name + '_2')
        is_equal(again.log().count(';VFS;cat;'), 2)
    wait_until(lambda: not os.path.exists(f.dir), f.dir + ' stays')
    must('remove /mnt/disk/f')
    is_equal(traced_file('f').name, f.name)
    must('remove /mnt/disk/f')
    is_equal(slurp(IOT + '/memory'), before)


@SUITE.test("a read of a target's pipe never ends: EBUSY, and remove does not wait", once=True)
def pipe_reader():
    f = traced_file('f')
    with hung(read_never, f.dir + '/pipe') as pid:
        is_equal(rmmod(), 'EBUSY')
        is_named_inside(pid, f.dir + '/pipe')
        must('remove /mnt/disk/f')
        commands_work()
    is_unloaded()


def category_reader(name):
    touch('/mnt/disk/f')
    command('filter comm=cat', 'start')
    subprocess.run(['cat', '/mnt/disk/f'], check=True, stdout=subprocess.DEVNULL)
    with hung(read_never, f'{IOT}/fs/{name}') as pid:
        command('reset', 'size 50', 'filter none', 'stop')
        is_equal(rmmod(), 'EBUSY')
        is_named_inside(pid, f'{IOT}/fs/{name}')
        commands_work()
    is_unloaded()


@SUITE.test("a read of a category's log never ends: EBUSY, reset and stop do not wait", once=True)
def category_log():
    category_reader('log')


@SUITE.test("a read of a category's pipe never ends: EBUSY, reset and stop do not wait", once=True)
def category_pipe():
    category_reader('pipe')


@SUITE.test('a write to control never ends: EBUSY, the log names the process, commands go on')
def control_writer():
    traced_file('f')
    with hung(write_never, CONTROL) as pid:
        is_equal(rmmod(), 'EBUSY')
        is_named_inside(pid, CONTROL)
        commands_work()
    is_unloaded()


@SUITE.test('a command looks up a path on a server that does not answer: EBUSY, commands go on')
def command_lookup():
    """A command looks up a path on a server that does not answer."""
    traced_file('f')
    with fuse.mounted(1) as hold:
        hold.set()
        with hung(write, CONTROL, f'add {fuse.TOP}/none', where=FUSE) as pid:
            is_equal(rmmod(), 'EBUSY')
            is_named_inside(pid, CONTROL)
            commands_work()
            hold.clear() # serve it: a task that waits for a sent request cannot be killed
    is_unloaded()


@SUITE.test("a read of a target's log never ends, attach=kprobe: EAGAIN, and remove does not wait")
def by_kretprobe():
    """Nothing is redirected, so the kernel alone refuses."""
    reload('attach=kprobe')
    f = traced_file('f')
    with hung(read_never, f.dir + '/log'):
        is_equal(rmmod(), 'EAGAIN')
        must('remove /mnt/disk/f')
        commands_work()
        is_equal(rmmod(), 'EAGAIN')
    is_unloaded()


@SUITE.test('many tasks that read all the time do not keep the module loaded')
def many_readers():
    """Tasks that read all the time, one after the other, do not keep the module."""
    f = traced_file('f')

    def read_always():
        fds = [os.open(f.dir + '/stats', os.O_RDONLY), os.open(IOT + '/hooks', os.O_RDONLY)]
        touch(f'/mnt/files/begun.{os.getpid()}')
        while [os.pread(fd, 4096, 0) for fd in fds]:
            pass

    pids = [spawn(read_always) for _ in range(8)]
    wait_until(lambda: len(os.listdir('/mnt/files')) == len(pids), 'no reader begins')
    is_equal(rmmod(), 0)
    for pid in pids: # each got EIO
        is_true(os.waitpid(pid, 0)[1], 'a file that is gone was read')
    reload()
