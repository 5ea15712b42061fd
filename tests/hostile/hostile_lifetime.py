# SPDX-License-Identifier: GPL-2.0
"""
What has ended does not start again: tasks that are inside the files of a target while it is
removed, or of a category while the module is unloaded.

A task is let into a file of a target or category, and waits there for its own memory (userfaultfd).
Meanwhile the target is removed, or the module unloaded.
"""
import contextlib
import ctypes
import errno
import mmap
import os
import select
import struct
import threading
import time

from lib.categories import CATEGORIES
from lib.iot import IOT, is_equal, is_true, join, load, must, reload, slurp, targets, touch
from lib.machine import files_and_disk, umount_files_and_disk
from lib.never import delete_module, Later, LIBC, PAGE
from lib.process import spawn, waits_in
from lib.suite import Suite

SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk, seconds=1200)

FILE, DIRECTORY, DEVICE = '/mnt/disk/f', '/mnt/disk/d', '/dev/vdb'


class Call(threading.Thread):
    """A read or write of a file that waits until its memory arrives."""

    def __init__(self, name, path, flags):
        super().__init__()
        self.memory = Later()
        self.function = getattr(LIBC, name)
        self.fd = os.open(path, flags)
        self.result = None
        self.start()
        waits_in(self.native_id, 'handle_userfault')

    def run(self):
        n = self.function(self.fd, ctypes.c_void_p(self.memory.address), ctypes.c_size_t(PAGE))
        self.result = n if n >= 0 else errno.errorcode[ctypes.get_errno()]

    def goes_on(self, data=b''):
        """Give it its memory. Return: the result of its call."""
        self.memory.arrive(data)
        self.join()
        os.close(self.fd)
        return self.result


def writer(path):
    return Call('write', path, os.O_WRONLY)


def reader(path):
    return Call('read', path, os.O_RDONLY)


def line(text):
    """A command as a whole page: blanks at the end of a line do not count."""
    return text.encode().ljust(PAGE - 1) + b'\n'


def hooks():
    return [row.split() for row in slurp(IOT + '/hooks').splitlines()[1:]]


def attached():
    """The functions that are hooked, but for what guards unloading."""
    return [row for row in hooks() if row[1] != 'unload' and row[3] != '0']


def calls():
    """Calls of each kind that is hooked for targets. FILE keeps its name: others add it meanwhile."""
    os.makedirs(DIRECTORY, exist_ok=True)
    for name in FILE, DIRECTORY + '/f':
        with open(name, 'w+b', buffering=0) as f:
            f.write(b'x' * PAGE)
            os.fsync(f.fileno())
            os.pread(f.fileno(), PAGE, 0)
            mmap.mmap(f.fileno(), PAGE)[0] = 1
        with open(name + '2', 'wb') as f:
            f.write(b'x')
        os.rename(name + '2', name + '3')
        os.stat(name + '3')
        os.rename(name + '3', DIRECTORY + '/f')
    for flags in os.O_RDONLY, os.O_RDONLY | os.O_DIRECT:
        fd = os.open(DEVICE, flags)
        os.preadv(fd, [mmap.mmap(-1, PAGE)], 0)
        os.close(fd)
    os.listdir(DIRECTORY)


@contextlib.contextmanager
def nothing_left():
    """Afterwards nothing is hooked, no memory is taken, and calls of all kinds go on."""
    calls()
    before = attached(), slurp(IOT + '/memory')
    yield
    is_equal(targets(), [])
    # A target's memory goes with the last task that was inside of it, or what that has left to RCU.
    deadline = time.monotonic() + 60
    while (attached(), slurp(IOT + '/memory')) != before and time.monotonic() < deadline:
        time.sleep(0.05)
    is_equal((attached(), slurp(IOT + '/memory')), before)
    calls()


def target(text):
    """Add it. Return: the directory of the target."""
    known = {name for name, _ in targets()}
    must('add ' + text)
    return IOT + '/' + next(os.fsdecode(n) for n, _ in targets() if n not in known)


def goes(where):
    """A removed target goes as soon as nobody is inside: its directory, and then its hooks."""
    deadline = time.monotonic() + 60
    while os.path.exists(where) or attached():
        is_true(time.monotonic() < deadline, (where, attached()))
        time.sleep(0.01)


def let_in(text):
    """Each command that was let in before: what has ended does not start."""
    for command, result in (('start', 'ENODEV'), ('stop', PAGE), ('timereset', PAGE)):
        where = target(text)
        call = writer(where + '/control')
        must('remove ' + text)
        is_equal(targets(), [])
        is_equal((text, command, call.goes_on(line(command))), (text, command, result))
        goes(where)


READERS = 'control', 'log', 'stream', 'stats', 'pipe'
SEEKABLE = 'control', 'log', 'stats', 'error'


def readers_let_in(text):
    """Reads that were let in before end with what is there. Then nobody is inside."""
    where = target(text)
    calls()
    reads = [reader(f'{where}/{name}') for name in READERS]
    must('remove ' + text)
    for read in reads:
        n = read.goes_on()
        is_true(isinstance(n, int) and n > 0, (text, n))
    goes(where)


def pipe_ends(text):
    """A reader that waits for events of a target gets end of file when that is removed."""
    where = target(text)
    must('stop', where + '/control')
    fd = os.open(where + '/pipe', os.O_RDONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.read(fd, 65536):
            pass
    os.set_blocking(fd, True)
    found = []
    read = threading.Thread(target=lambda: found.append(os.read(fd, 65536)))
    read.start()
    waits_in(read.native_id, 'iot_')
    must('remove ' + text)
    read.join(60)
    is_equal((text, found), (text, [b'']))
    os.close(fd)
    goes(where)


def is_gone(text):
    """While a task is inside, each call on a file of a removed target fails, as after its removal."""
    where = target(text)
    fds = {name: os.open(f'{where}/{name}', os.O_RDONLY) for name in READERS}
    writing = os.open(where + '/control', os.O_WRONLY)
    call = writer(where + '/control')
    must('remove ' + text)
    for name, fd in fds.items():
        is_equal((name, error_of(os.read, fd, 100)), (name, 'EIO'))
        is_equal((name, error_of(os.open, f'{where}/{name}', os.O_RDONLY)), (name, 'ENOENT'))
        if name in SEEKABLE:
            is_equal((name, error_of(os.lseek, fd, 1, os.SEEK_SET)), (name, 'EIO'))
    is_equal(error_of(os.write, writing, b'start'), 'EIO')
    poll = select.poll()
    poll.register(fds['pipe'], select.POLLIN)
    is_true(poll.poll(0)[0][1] & select.POLLHUP, 'a pipe that is gone')
    for fd in list(fds.values()) + [writing]:
        os.close(fd)
    call.goes_on(line('stop'))
    goes(where)


def error_of(function, *args):
    try:
        return function(*args)
    except OSError as e:
        return errno.errorcode[e.errno]


def all_of(*texts):
    """Each law for these targets."""
    with nothing_left():
        for text in texts:
            for law in let_in, readers_let_in, pipe_ends, is_gone:
                law(text)


@SUITE.test('file: calls that were let in before the target was removed do not start it, and end')
def file_let_in():
    touch(FILE)
    all_of(FILE)


@SUITE.test('device: calls that were let in before the target was removed do not start it, and end')
def device_let_in():
    all_of(DEVICE)


@SUITE.test('directory: calls that were let in before the target was removed do not start it, and end')
def directory_let_in():
    os.mkdir(DIRECTORY)
    all_of(DIRECTORY)


@SUITE.test('processes: calls that were let in before the target was removed do not start it, and end')
def processes_let_in():
    all_of(f'pid={os.getpid()}')


@SUITE.test('category: a command that was let in keeps the module loaded until it ends')
def category_let_in():
    """A command that was let in keeps the module loaded. Afterwards it can be unloaded."""
    control = IOT + '/fs/control'
    for command in 'start', 'filter op=READ', 'size 100', 'reset', 'stop':
        call = writer(control)
        # the guard is there from the first redirection on
        guarded = any(row[1] == 'unload' for row in hooks())
        is_equal(delete_module(b'iotracer'), 'EBUSY' if guarded else 'EAGAIN')
        is_equal(call.goes_on(line(command)), PAGE)
    is_true(not attached(), attached())


# Races

# What fails because something is gone, or is just changing: EINVAL is the kernel's for a seek.
CALM = errno.ENOENT, errno.EIO, errno.ENODEV, errno.EBUSY, errno.EINTR, errno.EINVAL


class Loops:
    """Processes that call functions until the end. The errors of what is gone are none."""

    def __init__(self):
        self.shared = mmap.mmap(-1, PAGE)
        self.pids = []

    def begin(self, function, *args):
        self.pids.append(spawn(self.loop, 4 * len(self.pids) + 4, function, *args))

    def loop(self, at, function, *args):
        while not self.shared[0]:
            while self.shared[1]:
                time.sleep(0.01)
            try:
                function(*args)
            except OSError as e:
                if e.errno not in CALM:
                    raise
                time.sleep(0.001)
            struct.pack_into('<I', self.shared, at, self.count(at) + 1)

    def count(self, at):
        return struct.unpack_from('<I', self.shared, at)[0]

    def go_on(self, rounds):
        """Wait until each has made so many rounds."""
        places = range(4, 4 * len(self.pids) + 4, 4)
        ends = [self.count(at) + rounds for at in places]
        while not all(self.count(at) >= end for at, end in zip(places, ends)):
            for pid in self.pids:
                is_equal(os.waitpid(pid, os.WNOHANG), (0, 0))
            time.sleep(0.01)

    def unload(self):
        """
        Unload the module in their midst. On a slow machine a command may be under way all the time,
        so in the end they begin no more rounds until it is unloaded.
        """
        for pause in 0, 0, 0, 1:
            self.shared[1] = pause
            error = delete_module(b'iotracer')
            while pause and error:
                is_true(error in ('EBUSY', 'EAGAIN'), error)
                error = delete_module(b'iotracer')
            if not error:
                break
        self.shared[1] = 0

    def __enter__(self):
        return self

    def __exit__(self, failed, *unused):
        self.shared[0], self.shared[1] = 1, 0
        if not failed:
            join(*self.pids)


def of_targets():
    known = set(CATEGORIES)
    return [f'{IOT}/{name}' for name in os.listdir(IOT)
            if name not in known and os.path.isdir(f'{IOT}/{name}')]


def of_categories():
    return [f'{IOT}/{name}' for name in CATEGORIES]


def write_commands(of, *commands):
    for where in of():
        fd = os.open(where + '/control', os.O_WRONLY)
        try:
            for command in commands:
                os.write(fd, command.encode())
        finally:
            os.close(fd)


def read_all(of):
    for where in of():
        for name in READERS + ('error',):
            fd = os.open(f'{where}/{name}', os.O_RDONLY | os.O_NONBLOCK)
            try:
                read_one(fd, name)
            finally:
                os.close(fd)


def read_one(fd, name):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    poll.poll(0)
    with contextlib.suppress(BlockingIOError):
        os.read(fd, 65536)
        os.read(fd, 65536)
    if name in SEEKABLE:
        os.lseek(fd, 0, os.SEEK_SET)
        os.lseek(fd, 1000, os.SEEK_SET)


@SUITE.test('targets of each kind come and go, and the module, while their files are used all the time')
def targets_race():
    """Targets of each kind come and go, and so does the module, while their files are used."""
    touch(FILE)
    os.mkdir(DIRECTORY)
    with Loops() as loops:
        texts = FILE, DEVICE, DIRECTORY, f'pid={os.getpid()}', 'comm=python3'
        loops.begin(write_commands, of_targets, 'start', 'stop', 'start')
        loops.begin(write_commands, of_targets, 'start', 'reset', 'timereset', 'start')
        loops.begin(read_all, of_targets)
        loops.begin(calls)
        before = attached()
        for text in texts:
            must('add ' + text)
        loops.go_on(1)
        for text in texts:
            must('remove ' + text)
        is_equal(attached(), before)
        for text in texts:
            must('add ' + text)
        loops.go_on(1)
        loops.unload()
        loops.go_on(1)
    reload()


@SUITE.test('the module comes and goes while the files of its categories are used all the time')
def categories_race():
    """The module comes and goes while the files of its categories are used."""
    with Loops() as loops:
        loops.begin(write_commands, of_categories, 'start', 'filter pid=1', 'size 100', 'sample 2')
        loops.begin(write_commands, of_categories, 'start', 'stop', 'mode discard', 'reset', 'filter none')
        loops.begin(read_all, of_categories)
        loops.begin(calls)
        loops.go_on(1)
        loops.unload()
        loops.go_on(1)
        is_true(load(), 'insmod')
        loops.go_on(1)
    reload()
