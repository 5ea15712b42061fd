# SPDX-License-Identifier: GPL-2.0
"""
A target goes on with the file that its path comes to lead to.

A target goes on with the file that its path comes to lead to.

Each byte that a test writes to a file that a traced path leads to is written at an offset of its
own, so the addresses in the log say which of them are there.
"""
import contextlib
import ctypes
import json
import mmap
import os
import re
import signal
import stat
import subprocess
import time

import iotracer
from lib import fuse
from lib.iot import (add, as_user, control, deleted, IOT, is_equal, is_true, join, listing,
                     LOAD_DIVISOR, must, NOBODY, parameter, refused, reload, slurp,
                     Target, targets, to, touch, unload, write_bytes)
from lib.machine import execute, files_and_disk, umount_files_and_disk
from lib.never import delete_module, never
from lib.process import spawn, waits_in
from lib.suite import reloads, Suite


def setup():
    execute('modprobe', '-a', 'overlay', 'fuse', 'btrfs')
    files_and_disk()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk)

RENAME_EXCHANGE = 2
AT_FDCWD = -100
libc = ctypes.CDLL(None, use_errno=True)


def make(path, at, n=1):
    """Create a file, or open it, and write n bytes from an offset on."""
    touch(path)
    write_bytes(path, at, n)


def run(*words):
    subprocess.run(words, check=True)


def mount(*words):
    run('mount', *words)


def umount(path):
    run('umount', path)


def eventually(condition, words):
    """A worker looks up what a task cannot see at once."""
    deadline = time.monotonic() + 120
    while not condition():
        is_true(time.monotonic() < deadline, words)
        time.sleep(0.01)


def inodes(target):
    """The inode number of each record, in the order of the log."""
    with iotracer.Trace(target.name, live=True) as trace:
        return [record['inode'] for record in trace.records()]


def exchange(a, b):
    is_equal(libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), RENAME_EXCHANGE), 0)

# The last name


@SUITE.test('deleted and created anew, the log goes on', once=True)
def created_anew():
    make('a', 0)
    target = add('a', 100)
    make('a', 1)
    first = os.stat('a').st_ino
    os.unlink('a')
    is_equal(deleted(), ['/mnt/files/a'])
    make('a', 2)
    is_equal(deleted(), [])
    is_equal(listing(), ['/mnt/files/a'])
    is_equal(target.addresses(), [1, 2])
    is_equal(inodes(target), [first, os.stat('a').st_ino])
    is_equal(target.name, f'tmpfs_{first}')
    target.is_conserved()


@SUITE.test('another file is renamed over it')
def renamed_over():
    touch('a')
    target = add('a', 100)
    make('new', 1)
    is_equal(target.addresses(), [])
    os.rename('new', 'a')
    make('a', 2)
    is_equal(target.addresses(), [2])


@SUITE.test('a thousand successors, each from its first write on')
def from_the_first_write():
    """A thousand new files, each of which is written once only."""
    touch('a')
    target = add('a', 5000)
    n = 1000 // LOAD_DIVISOR
    for i in range(n):
        os.unlink('a')
        fd = os.open('a', os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.pwrite(fd, b'x', i)
        os.close(fd)
    is_equal(target.addresses(), to(0, n - 1))
    is_equal(len(set(inodes(target))) > 1 or n < 2, True)
    target.is_conserved()


@SUITE.test('a log that is rotated, and written on until its successor comes', once=True)
def log_rotated():
    """What is written to the old log before its successor comes is recorded, too."""
    make('log', 0)
    target = add('log', 100)
    writer = os.open('log', os.O_WRONLY)
    os.pwrite(writer, b'x', 1)
    os.rename('log', 'log.1')
    os.pwrite(writer, b'x', 2)
    is_equal(deleted(), ['/mnt/files/log'])
    make('log', 3)
    os.pwrite(writer, b'x', 4)
    os.close(writer)
    make('log', 5)
    is_equal(target.addresses(), [1, 2, 3, 5])


@SUITE.test('an editor saves', once=True)
def editor_saves():
    """As vim and others do: write a new file, keep the old one, rename."""
    make('text', 0)
    target = add('text', 100)
    for i in to(1, 3):
        make('text.new', 10 * i)
        if os.path.exists('text~'):
            os.unlink('text~')
        os.link('text', 'text~')
        os.rename('text.new', 'text')
        make('text', i)
    is_equal(target.addresses(), [1, 2, 3])


@SUITE.test('exchanged with another file')
def exchanged():
    touch('a', 'b')
    target = add('a', 100)
    exchange('a', 'b')
    eventually(lambda: not deleted(), slurp(IOT + '/control'))
    make('b', 1)
    make('a', 2)
    is_equal(target.addresses(), [2])


@SUITE.test('exchanged with the file of another target')
def exchanged_with_target():
    touch('a', 'b')
    a, b = add('a', 100), add('b', 100)
    exchange('a', 'b')
    eventually(lambda: not deleted(), slurp(IOT + '/control'))
    make('a', 1)
    make('b', 2)
    both = a.addresses(), b.addresses()
    is_equal(sorted(both[0] + both[1]), [1, 2])


@SUITE.test('a successor that comes by link, and by O_TMPFILE')
def linked():
    """A file that comes by link(2), and by O_TMPFILE."""
    touch('a')
    make('other', 0)
    target = add('a', 100)
    os.unlink('a')
    os.link('other', 'a')
    make('other', 1)
    os.unlink('a')
    fd = os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o644)
    fds = os.open('/proc/self/fd', os.O_RDONLY)
    os.link(str(fd), 'a', src_dir_fd=fds) # with a directory it follows the symbolic link
    os.close(fds)
    os.pwrite(fd, b'x', 2)
    os.close(fd)
    is_equal(target.addresses(), [1, 2])


@SUITE.test('of two names one is replaced')
def hard_links():
    """Of two names one is replaced: the log has what both lead to."""
    touch('a')
    os.link('a', 'b')
    target = add('a', 100)
    must('add b')
    is_equal(len(targets()), 1)
    make('new', 0)
    os.rename('new', 'a')
    make('a', 1)
    make('b', 2)
    is_equal(target.addresses(), [1, 2])
    is_equal(set(inodes(target)), {os.stat('a').st_ino, os.stat('b').st_ino})
    must('remove b')
    make('a', 3)
    make('b', 4)
    is_equal(target.addresses(), [1, 2, 3])


@SUITE.test("another target's file is moved there", once=True)
def moved_onto_target():
    """mv b a, where both are targets: the file is a's from then on."""
    touch('a', 'b')
    a, b = add('a', 100), add('b', 100)
    make('b', 1)
    os.rename('b', 'a')
    make('a', 2)
    is_equal((a.addresses(), b.addresses()), ([2], [1]))
    is_equal(deleted(), ['/mnt/files/b'])
    make('b', 3)
    is_equal((a.addresses(), b.addresses()), ([2], [1, 3]))


@SUITE.test("add of a path that a target's name leads to", once=True)
def add_of_followed():
    """add of a path that leads to a target's file now gives that target one more name."""
    touch('a')
    target = add('a', 100)
    os.unlink('a')
    touch('a')
    os.link('a', 'b')
    must('add b')
    must('add a')
    is_equal(len(targets()), 1)
    is_equal(listing(), ['/mnt/files/a', '/mnt/files/b'])
    make('b', 1)
    is_equal(target.addresses(), [1])


@SUITE.test("a path to another target's file, until that target goes", once=True)
def belongs_to_another():
    """A path that comes to lead to another target's file gets it when that target goes."""
    touch('a', 'b')
    a, b = add('a', 100), add('b', 100)
    os.unlink('a')
    os.link('b', 'a')
    make('a', 1)
    is_equal((a.addresses(), b.addresses()), ([], [1]))
    must('remove b')
    eventually(lambda: [make('a', 2), a.addresses()][1], 'not taken over')


@SUITE.test('a call under way when its file is replaced')
def in_progress():
    """A read that began before its file was replaced is recorded when it ends."""
    make('a', 0)
    target = add('a', 100)
    old = os.stat('a').st_ino
    with fuse.mounted(1) as hold:
        source = os.open(fuse.FILE, os.O_RDONLY)
        page = mmap.mmap(source, mmap.PAGESIZE, mmap.MAP_PRIVATE,
                         mmap.PROT_READ | mmap.PROT_WRITE)
        hold.set()
        fd = os.open('a', os.O_RDONLY)
        pid = spawn(os.readv, fd, [page])
        waits_in(pid, 'folio_wait', 'request_wait')
        make('new', 1)
        os.rename('new', 'a')
        make('a', 1)
        hold.clear()
        join(pid)
        page.close()
        os.close(source)
    is_equal(sorted(target.addresses()), [0, 1])
    is_equal(sorted(inodes(target)), sorted((old, os.stat('a').st_ino)))



@SUITE.test('made by each call that makes files')
def made_by_each_call():
    """Each call that makes a file: what its maker then writes is recorded."""
    touch('a', 'other')
    target = add('a', 100)

    def mknod():
        os.mknod('a', 0o644 | stat.S_IFREG)

    def excl():
        os.close(os.open('a', os.O_CREAT | os.O_EXCL | os.O_WRONLY))

    def link():
        os.link('other', 'a')

    def rename():
        touch('new')
        os.rename('new', 'a')

    calls = mknod, excl, link, rename
    for i, call in enumerate(calls):
        os.unlink('a')
        call()
        fd = os.open('a', os.O_WRONLY)
        os.pwrite(fd, b'x', i)
        os.close(fd)
    is_equal(target.addresses(), to(0, len(calls) - 1))


@SUITE.test('made by an open that fails', once=True)
def open_that_fails():
    """Before 6.4, open with O_CREAT and O_DIRECTORY makes a file and fails. It is found later."""
    touch('a')
    target = add('a', 100)
    os.unlink('a')
    with contextlib.suppress(OSError):
        os.open('a', os.O_CREAT | os.O_DIRECTORY)
    with contextlib.suppress(FileExistsError):
        os.mknod('a', 0o644 | stat.S_IFREG)
    write_bytes('a', 1, 1)
    is_equal(target.addresses(), [1])


@SUITE.test('without redirection a worker finds the new file')
@reloads
def without_redirection():
    """Where no call may be redirected, a worker finds the new file."""
    reload('attach=entry')
    touch('a')
    target = add('a', 100)
    touch('new')
    os.rename('new', 'a')
    is_followed(target, 'a', 1)
    os.unlink('a')
    touch('a')
    is_followed(target, 'a', 2)


@SUITE.test('the hooks of names go with the last target that follows')
def hooks_go_with_last():
    """The hooks of names are attached while a target follows, and not after that."""
    def attached():
        return re.findall(r'^vfs_rename name (\S+)', slurp(f'{IOT}/hooks'), re.M)

    touch('a', 'b')
    must('add -i a')
    is_true(attached() in ([], ['detached']), attached())
    must('add b')
    is_true(attached() not in ([], ['detached']), attached())
    must('remove b')
    is_true(attached() in ([], ['detached']), attached())

# Other kinds of successors


@SUITE.test('a directory comes in its place')
def directory_in_place():
    touch('a')
    target = add('a', 100)
    os.unlink('a')
    os.mkdir('a')
    eventually(lambda: deleted() == ['/mnt/files/a'], 'a directory is no file')
    os.rmdir('a')
    make('a', 1)
    is_equal(target.addresses(), [1])


def is_followed(target, name, at, words='not followed'):
    """A worker finds the file to which the path of @target leads now, @name: write there at @at."""
    eventually(lambda: [make(name, at), at in target.addresses()][1], words)


@SUITE.test('a symbolic link comes in its place, and is retargeted')
def symlink_in_place():
    """The path becomes a symbolic link, which is retargeted later."""
    touch('a', 'x', 'y')
    target = add('a', 100)
    os.symlink('x', 'link')
    os.rename('link', 'a')
    is_followed(target, 'x', 1, 'the link is not followed')
    os.symlink('/mnt/files/y', 'link')
    os.rename('link', 'a')
    is_followed(target, 'y', 2, 'the new link is not followed')
    before = len(target.addresses())
    make('x', 3)
    is_equal(len(target.addresses()), before)


@SUITE.test('another filesystem is mounted above, and goes')
def other_filesystem():
    """A path that leads to another filesystem is not followed there, and comes back."""
    os.mkdir('d')
    touch('d/a')
    target = add('d/a', 100)
    mount('-t', 'tmpfs', 'other', 'd')
    make('d/a', 1)
    umount('d')
    make('d/a', 2)
    is_equal(target.addresses(), [2])



@SUITE.test('another filesystem is mounted above, while the path leads to a file')
def mounted_over():
    """Something is mounted over the directory of a path, and goes: the worker sees both."""
    os.mkdir('d')
    touch('d/a')
    target = add('d/a', 100)
    mount('-t', 'tmpfs', 'other', 'd')
    eventually(lambda: deleted() == ['/mnt/files/d/a'], 'not seen')
    umount('d')
    eventually(lambda: not deleted(), 'not seen')
    make('d/a', 1)
    is_equal(target.addresses(), [1])


@SUITE.test('a subvolume above is deleted, and a snapshot takes its name')
def subvolume():
    """A subvolume of btrfs above the path is deleted, and another one takes its name."""
    os.makedirs('/mnt/btrfs', exist_ok=True)
    run('mkfs.btrfs', '-q', '-f', '/dev/vdb')
    mount('/dev/vdb', '/mnt/btrfs')
    try:
        run('btrfs', '-q', 'subvolume', 'create', '/mnt/btrfs/now')
        touch('/mnt/btrfs/now/a')
        run('btrfs', '-q', 'subvolume', 'snapshot', '/mnt/btrfs/now', '/mnt/btrfs/backup')
        target = add('/mnt/btrfs/now/a', 1000)
        run('btrfs', '-q', 'subvolume', 'delete', '/mnt/btrfs/now')
        eventually(lambda: deleted() == ['/mnt/btrfs/now/a'], 'not seen')
        run('btrfs', '-q', 'subvolume', 'snapshot', '/mnt/btrfs/backup', '/mnt/btrfs/now')
        is_followed(target, '/mnt/btrfs/now/a', 1)
        before = target.addresses().count(2)
        make('/mnt/btrfs/backup/a', 2)
        is_equal(target.addresses().count(2), before)
        must('remove /mnt/btrfs/now/a')
    finally:
        umount('/mnt/btrfs')

# Directories


@SUITE.test('a directory above is renamed away and back', once=True)
def parent_renamed():
    os.makedirs('d/e')
    touch('d/e/a')
    target = add('d/e/a', 100)
    os.rename('d', 'f')
    eventually(lambda: deleted() == ['/mnt/files/d/e/a'], 'not seen')
    make('f/e/a', 1)
    is_equal(target.addresses(), [1])
    os.rename('f', 'd')
    eventually(lambda: not deleted(), 'not seen')
    make('d/e/a', 2)
    is_equal(target.addresses(), [1, 2])
    is_equal(len(set(inodes(target))), 1)


@SUITE.test('a directory above is replaced')
def parent_replaced():
    os.makedirs('d/e')
    touch('d/e/a')
    target = add('d/e/a', 100)
    os.makedirs('new/e')
    touch('new/e/a')
    os.rename('d', 'old')
    os.rename('new', 'd')
    is_followed(target, 'd/e/a', 1)
    make('old/e/a', 2)
    is_true(2 not in target.addresses(), target.log())
    os.unlink('d/e/a')
    make('d/e/a', 3)
    is_true(3 in target.addresses(), target.log())


@SUITE.test('a directory above is deleted and made again', once=True)
def parent_made_anew():
    """Deleted with all that is in it, and made again."""
    os.makedirs('d/e')
    touch('d/e/a')
    target = add('d/e/a', 100)
    os.unlink('d/e/a')
    os.rmdir('d/e')
    os.rmdir('d')
    is_equal(deleted(), ['/mnt/files/d/e/a'])
    os.makedirs('d/e')
    is_followed(target, 'd/e/a', 1)


@SUITE.test('a directory above becomes a symbolic link, which is retargeted')
def parent_becomes_link():
    os.makedirs('releases/1')
    os.makedirs('releases/2')
    touch('releases/1/a', 'releases/2/a')
    os.rename('releases/1', 'now')
    target = add('now/a', 100)
    os.rename('now', 'releases/1')
    os.symlink('releases/2', 'now')
    is_followed(target, 'now/a', 1)
    os.symlink('releases/1', 'next')
    os.rename('next', 'now')
    is_followed(target, 'releases/1/a', 2)

# What is not held up


@SUITE.test('unmounting is not held up')
def unmount():
    os.mkdir('m')
    mount('-t', 'tmpfs', 'm', 'm')
    os.mkdir('m/d')
    touch('m/d/a')
    add('m/d/a', 100)
    umount('m')
    eventually(lambda: deleted() == ['/mnt/files/m/d/a'], 'not seen')
    os.rmdir('m')


@SUITE.test('unmounted and mounted again')
def remount():
    """Unmounted and mounted again: the same file, and its successor."""
    os.makedirs('/mnt/disk/d', exist_ok=True)
    touch('/mnt/disk/d/a')
    target = add('/mnt/disk/d/a', 100)
    device = re.search(r'(\S+) /mnt/disk ', slurp('/proc/mounts'))[1]
    umount('/mnt/disk')
    eventually(deleted, 'not seen')
    mount(device, '/mnt/disk')
    make('/mnt/disk/d/a', 1)
    eventually(lambda: not deleted(), 'not seen')
    os.unlink('/mnt/disk/d/a')
    make('/mnt/disk/d/a', 2)
    is_equal([int(l.split(';')[2]) for l in target.log().splitlines() if ';VFS;' in l], [1, 2])


@SUITE.test('deleted directories are not held')
def remove_directory():
    """The directories of a listed path are deleted, and what they took is given back."""
    os.makedirs('d/e')
    touch('d/e/a')
    free = os.statvfs('.').f_ffree
    add('d/e/a', 100)
    os.unlink('d/e/a')
    os.rmdir('d/e')
    os.rmdir('d')
    eventually(lambda: os.statvfs('.').f_ffree == free + 3, 'an inode is held')


@SUITE.test('the module goes and comes while names change')
@reloads
def unload_in_between():
    """The module goes while names change, and no hook of it stays."""
    def change():
        for i in range(100000):
            if os.path.exists('stop'):
                return
            touch('new')
            os.rename('new', 'd/a')
            os.rename('d', 'e')
            os.rename('e', 'd')

    os.mkdir('d')
    names = ['d/a'] + [f'd/{i}' for i in range(100)]
    touch(*names)
    pid = spawn(change)
    for _ in range(10):
        # before all paths have been looked up, all have changed again
        for name in names:
            control(f'add {name} 100')
        unload()
        reload()
    touch('stop')
    join(pid)

# Rights


@SUITE.test('a successor that may not be read is not followed to')
@reloads
def no_right_to_successor():
    """Who added the path has to have the right to read the file that it leads to."""
    def add_it():
        return control('add /mnt/files/d/a')

    reload(f'proc_uid={NOBODY} proc_mode=0600')
    os.mkdir('d')
    touch('d/a')
    is_equal(as_user(NOBODY, add_it), str(len('add /mnt/files/d/a')))
    target = Target('d/a')
    make('secret', 0)
    os.chmod('secret', 0o600)
    os.rename('secret', 'd/a')
    make('d/a', 1)
    is_equal(deleted(), ['/mnt/files/d/a'])
    make('open', 0)
    os.rename('open', 'd/a')
    make('d/a', 2)
    is_equal(target.addresses(), [2])

# Without following


@SUITE.test('add -i stays with the file', once=True)
def add_inode():
    """add -i: the file that was added, whatever becomes of its name."""
    touch('a', 'b')
    must('add -i a 100')
    target = Target('a')
    fd = os.open('a', os.O_WRONLY)
    os.rename('b', 'a')
    make('a', 1)
    os.pwrite(fd, b'x', 2)
    os.close(fd)
    is_equal(target.addresses(), [2])
    is_equal(deleted(), [])
    must('add a 100')
    is_equal(len(targets()), 2)
    refused('ENOENT', 'add -i')


@SUITE.test('follow=inode stays with the file')
@reloads
def follow_inode():
    """follow=inode is -i for every add."""
    reload('follow=inode')
    is_equal(parameter('follow'), 'inode')
    touch('a', 'b')
    target = add('a', 100)
    os.rename('b', 'a')
    make('a', 1)
    is_equal(target.addresses(), [])
    is_equal(deleted(), [])

# Other views of a file


@SUITE.test('a bind mount')
def bind_mount():
    touch('a')
    touch('other')
    target = add('a', 100)
    mount('--bind', 'a', 'other')
    must('add other')
    is_equal(len(targets()), 1)
    make('other', 1)
    umount('other')
    os.unlink('a')
    make('a', 2)
    is_equal(target.addresses(), [1, 2])


@SUITE.test('the copy-up of an overlay')
def overlay():
    """The lower file becomes an upper one at the first write, and is replaced later."""
    for name in 'lower', 'upper', 'work', 'merged':
        os.mkdir(name)
    make('lower/a', 0)
    mount('-t', 'overlay', '-o', 'lowerdir=lower,upperdir=upper,workdir=work', 'overlay', 'merged')
    try:
        target = add('merged/a', 100)
        make('merged/a', 1)
        is_true(os.path.exists('upper/a'), 'not copied up')
        make('merged/a', 2)
        os.unlink('merged/a')
        make('merged/a', 3)
        is_equal(target.addresses(), [1, 2, 3])
        must('remove merged/a')
    finally:
        umount('merged')

# In /proc


@SUITE.test('the file has its name in /proc/iotracer')
def alias():
    """The file that the path leads to has its name in /proc/iotracer, which goes with it."""
    touch('a')
    target = add('a', 100)
    os.link('a', 'first')
    names = []
    for i in range(3):
        make('new', 0)
        os.rename('new', 'a')
        names.append(f'{IOT}/tmpfs_{os.stat("a").st_ino}')
        is_equal(os.readlink(names[-1]), target.name)
        make('a', i)
        is_equal(slurp(names[-1] + '/log'), target.log())
    is_equal(len(set(names)), 3)
    eventually(lambda: not any(map(os.path.lexists, names[:2])), 'old names stay')
    must('remove a')
    eventually(lambda: not os.path.lexists(names[-1]), 'the last name stays')


@SUITE.test('the names of successors stay if unloading is refused')
@reloads
def alias_stays():
    """When unloading is refused, the names of files are there as before, also one that is in use."""
    touch('a', 'c')
    targets = {name: add(name, 100) for name in 'ac'}
    names = {}
    for name in 'ac':
        touch('new')
        os.rename('new', name)
        names[name] = f'{IOT}/tmpfs_{os.stat(name).st_ino}'
    leads = {name: os.readlink(path) for name, path in names.items()}

    def stuck(function, path):
        _memory, address, _uffd = never(os.memfd_create('never'))
        function(path, ctypes.c_void_p(address))

    def read(path, address):
        libc.read(os.open(path, os.O_RDONLY), address, 100)

    def read_link(path, address):
        libc.readlink(path.encode(), address, 100)

    # Inside /proc/iotracer, not inside a traced call: the links are hidden only when none of those is
    # in flight.
    readers = [spawn(stuck, read, targets['a'].dir + '/stats'), spawn(stuck, read_link, names['c'])]
    for pid in readers:
        waits_in(pid, 'handle_userfault')
    is_equal(delete_module(b'iotracer'), 'EBUSY')
    is_equal(os.readlink(names['a']), leads['a'])
    os.kill(readers[1], signal.SIGKILL)
    os.waitpid(readers[1], 0)
    is_equal(delete_module(b'iotracer'), 'EBUSY')
    eventually(lambda: all(map(os.path.lexists, names.values())), 'a name is gone')
    is_equal({name: os.readlink(path) for name, path in names.items()}, leads)
    is_equal(slurp(names['c'] + '/stats').splitlines()[0], 'target ' + leads['c'])
    # its target is removed while the name is hidden: it does not come back
    removed = spawn(remove_hidden, 'c', names['c'])
    is_equal(delete_module(b'iotracer'), 'EBUSY')
    join(removed)
    eventually(lambda: not os.path.lexists(names['c']), 'a name stays')
    is_equal(os.readlink(names['a']), leads['a'])
    os.kill(readers[0], signal.SIGKILL)
    os.waitpid(readers[0], 0)
    unload()


def remove_hidden(path, name):
    """Remove a target as soon as the name of its file is hidden."""
    while os.path.lexists(name):
        time.sleep(0.001)
    must('remove ' + os.path.abspath(path))


@SUITE.test('a readlink that never ends holds up no command, and unloading is refused')
@reloads
def alias_read_for_ever():
    """A program is stuck in a readlink: remove does not wait, and the module cannot go."""
    touch('a', 'new')
    add('a', 100)
    os.rename('new', 'a')
    name = f'{IOT}/tmpfs_{os.stat("a").st_ino}'
    fd = os.open('page', os.O_RDWR | os.O_CREAT)

    def read():
        memory, address, uffd = never(fd)
        touch('ready')
        libc.readlink(name.encode(), ctypes.c_void_p(address), 100)
        os.close(uffd)
        memory.close()

    pid = spawn(read)
    while not os.path.exists('ready'):
        time.sleep(0.01)
    waits_in(pid, 'handle_userfault')
    must('remove a')
    is_equal(targets(), [])
    is_true(delete_module(b'iotracer') in ('EBUSY', 'EAGAIN'), 'unloaded')
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    unload()

# Commands


@SUITE.test('a stopped target follows', once=True)
def stopped():
    """A target that is stopped follows, and records nothing."""
    touch('a')
    target = add('a', 100)
    target.command('stop')
    os.unlink('a')
    make('a', 1)
    target.command('start')
    make('a', 2)
    is_equal(target.addresses(), [2])


@SUITE.test('remove by the old and by the new name', once=True)
def removed_by_any_name():
    touch('a')
    target = add('a', 100)
    os.rename('a', 'b')
    must('remove b')
    is_true(not os.path.exists(target.dir), 'still there')
    touch('a')
    add('a')
    os.unlink('a')
    must('remove a')
    is_equal(targets(), [])

# Programs


def total_of(target, level, direction):
    rows = [line.split(';') for line in target.log().splitlines()]
    mine = [int(r[3]) for r in rows if r[4] == level and r[1] == direction]
    return len(mine), sum(mine)


@SUITE.test('fio makes the file anew: the totals are its own', once=True)
def fio_made_anew():
    """The old system's acceptance test: add an empty file, which fio deletes and creates anew."""
    os.chdir('/mnt/disk')
    touch('io')
    first = os.stat('io').st_ino, os.stat('io').st_ctime_ns
    target = add('io', 100000)
    run('fio', '--name=io', '--filename=io', '--rw=randwrite', '--bs=4k', '--size=4m',
        '--output=/tmp/names.json', '--output-format=json', '--eta=never', '--ioengine=psync',
        '--fallocate=none')
    job = json.loads(slurp('/tmp/names.json'))['jobs'][0]
    is_true(job['write']['total_ios'] == 1024, job['write'])
    is_equal(total_of(target, 'VFS', 'W'), (job['write']['total_ios'], job['write']['io_bytes']))
    is_true(os.stat('io').st_ctime_ns != first[1], 'the same file')
    target.is_conserved()


@SUITE.test('the file is deleted before fio makes it: the totals are its own', once=True)
def fio_unlinks_first():
    os.chdir('/mnt/disk')
    touch('io')
    target = add('io', 100000)
    os.unlink('io')
    run('fio', '--name=io', '--filename=io', '--rw=write', '--bs=16k', '--size=4m',
        '--output=/tmp/names.json', '--output-format=json', '--eta=never', '--fallocate=none',
        '--ioengine=psync')
    job = json.loads(slurp('/tmp/names.json'))['jobs'][0]
    is_equal(total_of(target, 'VFS', 'W'), (job['write']['total_ios'], job['write']['io_bytes']))
    target.is_conserved()


@SUITE.test("sqlite's journal", once=True)
def sqlite_journal():
    """The rollback journal is made for each transaction and deleted at its end."""
    os.chdir('/mnt/disk')
    touch('db-journal')
    target = add('db-journal', 100000)
    os.unlink('db-journal')
    run('sqlite3', 'db', 'create table t(x);')
    before = total_of(target, 'VFS', 'W')[0]
    is_true(before > 0, 'nothing of the first journal')
    for i in range(3):
        run('sqlite3', 'db', f'insert into t values({i});')
        now = total_of(target, 'VFS', 'W')[0]
        is_true(now > before, f'nothing of journal {i}')
        before = now

# Floods


def flood(kind):
    """Renames and creations of other names, in the directory of a target, by nobody."""
    for i in range(20000 // LOAD_DIVISOR):
        if kind == 'names':
            os.close(os.open(f'n{i % 100}', os.O_CREAT | os.O_WRONLY))
            os.unlink(f'n{i % 100}')
        else:
            touch('new')
            os.rename('new', 'victim')


@SUITE.test('a flood of names by nobody, beside another target', once=True)
def flooded():
    """While nobody makes names and replaces a target's file, another log stays exact."""
    os.mkdir('d')
    os.chmod('d', 0o777)
    touch('d/victim', 'd/mine')
    os.chown('d/victim', NOBODY, NOBODY)
    victim, mine = add('d/victim', 10), add('d/mine', 5000)

    def attack(kind):
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        os.chdir('d')
        flood(kind)

    pids = [spawn(attack, kind) for kind in ('names', 'victim')]
    write_bytes('d/mine', 0, 2000)
    join(*pids)
    is_equal(mine.addresses(), to(0, 1999))
    victim.is_conserved()
    mine.is_conserved()
    lines = slurp(victim.dir + '/stats').count('inode ')
    is_equal(lines, 1)


@SUITE.test('a directory above many targets is renamed all the time')
def flooded_paths():
    """A directory of many listed paths is renamed all the time; all are right in the end."""
    os.makedirs('d/e')
    n = 200 // LOAD_DIVISOR
    for i in range(n):
        touch(f'd/e/{i}')
        must(f'add d/e/{i}')
    for _ in range(500):
        os.rename('d', 'f')
        os.rename('f', 'd')
    eventually(lambda: not deleted(), 'not right in the end')
    is_equal(len(targets()), n)
