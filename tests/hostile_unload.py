# SPDX-License-Identifier: GPL-2.0
"""
What hostile_unload.bats tests: python3 hostile_unload.py FUNCTION. See lib/iot.py.

Memory that never comes is a page that userfaultfd should provide and does not. A process
that touches it, or lets the kernel copy to it, waits until it is killed.
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import time

from lib import fuse
from lib.category import command, is_conserved, stats
from lib.iot import (add, as_user, CONTROL, IOT, is_equal, is_true, join, main, matches, must,
                     NOBODY, reload, slurp, touch)
from lib.never import delete_module, LIBC, never, PAGE
from lib.process import spawn, waits_in

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


@contextlib.contextmanager
def hung(function, *args, where='handle_userfault'):
    """A process that is inside this function and does not return."""
    pid = spawn(function, *args)
    try:
        waits_in(pid, where)
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


def rejected_fault():
    command('start', category='fault') # rejects a memfd, which has kind other
    with hung(touch_never, None):
        goes_on()
        command('stop', category='fault')
        is_unloaded()


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


def rejected_read():
    touch('/mnt/disk/f')
    os.truncate('/mnt/disk/f', PAGE)
    command('filter kind=symlink op=READ', 'start')
    with hung(read_never, '/mnt/disk/f'):
        is_unloaded()


def lookup():
    with fuse.mounted(1) as hold:
        command('start')
        hold.set()
        with hung(os.path.exists, fuse.TOP + '/none', where='request_wait_answer') as pid:
            goes_on('fs')
            command('stop')
            error = rmmod()
            if error == 'EBUSY':
                is_named(pid, r'\w+')
            hold.clear() # serve it: a task that waits for a sent request cannot be killed


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


if __name__ == '__main__':
    main(globals())
