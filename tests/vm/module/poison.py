# SPDX-License-Identifier: GPL-2.0
"""
No byte of a record is shown that was not written: the module fills each slot of a ring with poison
before it writes there. Modules for debug kernels do so; 6.12 has a build for it, 6.12-poison.
"""
import mmap
import os
import select
import socket
import subprocess

import iotracer
from lib import iot
from lib.categories import CATEGORIES
from lib.category import command
from lib.iot import add, is_true, join, must, touch, unload
from lib.machine import execute, new_filesystem, new_tmpfs, umount
from lib.places import BUILD, PROGRAMS
from lib.process import spawn
from lib.stream import fields
from lib.suite import reloads, Suite

RECORD = 128    # bytes of a target's record


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    execute('ip', 'link', 'set', 'lo', 'up')
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/ext4')


def teardown():
    unload()
    umount('/mnt/files', '/mnt/ext4')


SUITE = Suite(setup=setup, teardown=teardown, tags=('debug:kasan', 'debug:kcsan'))


def is_written(event, row):
    """Each field was written: no field is all poison, and no text has any poison in it."""
    name, parts, _ = event
    for field, (offset, size, kind) in parts.items():
        value = row[offset:offset + size]
        poisoned = value.count(0xd7)
        is_true(poisoned < size and (kind != 'char' or not poisoned),
                f'{name}: {field} was not written: {row.hex()}')


def busy(directory):
    """Do a bit of everything that causes events."""
    os.chdir(directory)
    fd = os.open('file', os.O_RDWR | os.O_CREAT, 0o644)
    os.write(fd, b'x' * 65536)
    os.pread(fd, 100, 5)
    os.preadv(fd, [bytearray(10), bytearray(20)], 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.fsync(fd)
    os.fdatasync(fd)
    os.ftruncate(fd, 40000)
    os.posix_fallocate(fd, 0, 50000)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.fchmod(fd, 0o600)
    os.fchown(fd, 1, 2)
    os.utime('file')
    os.stat('file')
    os.link('file', 'link')
    os.symlink('file', 'symlink')
    os.readlink('symlink')
    os.mkdir('dir')
    os.listdir('dir')
    os.mkfifo('fifo')
    os.rename('link', 'dir/moved')
    os.chmod('file', 0o644)
    os.truncate('file', 30000)
    os.setxattr('file', 'user.a', b'b')
    os.getxattr('file', 'user.a')
    os.statvfs('.')
    other = os.open('other', os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    os.copy_file_range(fd, other, 5000, 0)
    os.sendfile(other, fd, 0, 3000)
    r, w = os.pipe()
    os.splice(fd, w, 2000, 0)
    os.splice(r, other, 2000)
    os.dup2(other, 200)
    os.close(200)
    with mmap.mmap(fd, 30000) as m:
        m[5] = m[20000]
        m.madvise(mmap.MADV_WILLNEED)
        m.flush()
    for path in 'missing', 'dir/none':
        try:
            os.lstat(path)
            os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            pass
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    with socket.socket() as listener, socket.socket() as s:
        listener.bind(('127.0.0.1', 0))
        listener.listen()
        s.connect(listener.getsockname())
        listener.accept()[0].close()
        s.shutdown(socket.SHUT_RDWR)
    one, two = socket.socketpair()
    with one, two:
        one.send(b'x' * 100)
        two.recv(50)
    with select.epoll() as epoll:
        epoll.register(r)
        epoll.poll(0)
    select.select([], [w], [])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b'x', ('127.0.0.1', 9)) # a closed port: the packet is dropped
    os.sync()
    for path in 'dir/moved', 'symlink', 'fifo', 'other', 'file':
        os.unlink(path)
    os.rmdir('dir')
    os.close(other)
    os.close(fd)


@SUITE.test('no byte of a record is shown that was not written')
@reloads
def poison():
    iot.unload()
    execute('insmod', poisoned_module(), 'MAX_EVENTS=20000')
    events = fields()
    touch('/mnt/ext4/file', '/mnt/files/file')
    targets = [add(path) for path in ('/mnt/ext4/file', '/mnt/files/file', '/dev/vda')]
    for category in CATEGORIES:
        command('start', category=category)
    for directory in '/mnt/ext4', '/mnt/files':
        join(spawn(busy, directory))
        must('3', '/proc/sys/vm/drop_caches')
    os.chdir('/mnt/ext4')
    subprocess.run('dd if=/dev/zero of=d bs=64k count=4 oflag=direct; dd if=d of=/dev/null '
                   f'bs=4k iflag=direct; {PROGRAMS}/io_uring-cp d copy; sync d copy',
                   shell=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.chdir('/')
    for category in CATEGORIES:
        command('stop', category=category)
    for category in CATEGORIES:
        all_are_written(category, events)
    for t in targets:
        all_are_written(t.name, events)


def all_are_written(name, events):
    """Every record of a stream."""
    with iotracer.Trace(name, live=True) as trace:
        rows = [(record.event.id, record.data) for record in trace.records()]
    is_true(rows, f'{name}: no events')
    for number, row in rows:
        is_written(events[number], row)


def poisoned_module():
    """The usual module if its slots are poisoned, as on debug kernels; else a build for this."""
    built = f'{BUILD}-poison/iotracer.ko'
    for path in iot.KO, built:
        if os.path.exists(path) and b'slots=poisoned' in open(path, 'rb').read():
            return path
    raise AssertionError('scripts/build-all 6.12-poison builds what this needs')
