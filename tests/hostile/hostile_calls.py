# SPDX-License-Identifier: GPL-2.0
"""
A call waits, fails and is audited when it is traced as when it is not: the tracer asks nobody for
its file, and waits for nothing.

Each call is made by a child, untraced and traced, and has to end the same way.
"""
import contextlib
import errno
import mmap
import os
import re
import shutil
import socket
import struct
import threading
import time

from lib import fuse
from lib.category import command, events, stats
from lib.iot import ends, forget_all, is_equal, is_true, kmsg, must, slurp, touch
from lib.machine import execute, files_and_disk, umount_files_and_disk
from lib.never import Later, never
from lib.process import spawn, waits_in
from lib.suite import Suite
from lib.syscalls import AT_FDCWD, AT_REMOVEDIR, native, Uring


def setup():
    execute('modprobe', 'fuse')
    files_and_disk()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk)

# Seconds. Nothing may wait; this is for machines that emulate processors.
AT_ONCE = 100

RESOLVE_NO_SYMLINKS, RESOLVE_IN_ROOT, RESOLVE_CACHED = 4, 0x10, 0x20
OPENAT = 18
DISK = '/mnt/disk/d'


def number(device):
    return f'{os.major(device)}:{os.minor(device)}'


def in_child(function):
    """Call it in a child, which ends at once. Return: what it returned."""
    shared = mmap.mmap(-1, 4096)
    ends(spawn(lambda: struct.pack_into('<q', shared, 0, function())), AT_ONCE)
    return struct.unpack_from('<q', shared)[0]


@contextlib.contextmanager
def traced(*conditions):
    command('reset', ' '.join(('filter', f'tree={os.getpid()}') + conditions), 'start')
    try:
        yield
    finally:
        command('stop', 'filter none')


def both(function, *conditions):
    """Make a call untraced and traced: it returns the same. Return: that."""
    untraced = in_child(function)
    with traced(*conditions):
        is_equal(in_child(function), untraced)
    return untraced


def how(flags=0, resolve=0):
    return struct.pack('<QQQ', flags, 0, resolve)


def openat2(path, flags=0, resolve=0, dfd=AT_FDCWD):
    return native.openat2(dfd, path, how(flags, resolve), 24)


def one(op, path=...):
    """The one event of an operation."""
    found = [e for e in events() if e['op'] == op and path in (..., e.get('path'))]
    is_equal(len(found), 1)
    return found[0]


@SUITE.test('calls: openat2 and its restrictions, while the server of its file does not answer')
def restricted():
    """Names on FUSE whose entries have expired: to look one up is to ask the server."""
    with fuse.mounted(1, valid=0) as hold:
        os.symlink(fuse.FILE, 'link')
        os.stat(fuse.FILE)
        hold.stop()
        asked = hold.requests()
        is_equal(both(lambda: openat2('link', resolve=RESOLVE_NO_SYMLINKS), 'op=OPEN'), -errno.ELOOP)
        is_equal(one('OPEN')['result'], str(-errno.ELOOP))
        is_equal(both(lambda: openat2(fuse.FILE, resolve=RESOLVE_CACHED), 'op=OPEN'), -errno.EAGAIN)
        is_equal((one('OPEN')['result'], one('OPEN')['path']), (str(-errno.EAGAIN), fuse.FILE))
        is_equal(hold.requests(), asked)
        hold.clear()


@SUITE.test("calls: io_uring's open, while the server of its file does not answer")
def opened_by_uring():
    """The call that submits returns; a worker of io_uring waits for the server."""
    with fuse.mounted(1, valid=0) as hold:
        os.stat(fuse.FILE)

        def submit():
            ring = Uring()
            hold.stop()
            ring.put(OPENAT, fd=AT_FDCWD, addr=fuse.FILE)
            submitted = ring.enter(1, 0)
            hold.clear()
            ring.enter(0, 1)
            return submitted << 32 | ring.take()[1]

        is_equal(both(submit, 'op=OPEN', f'dev={number(os.stat(fuse.TOP).st_dev)}') >> 32, 1)
        e = one('OPEN')
        is_equal((e['path'], e['result']), (fuse.FILE, '0'))


@SUITE.test('calls: a look-up that is restricted to a directory does not leave it')
def in_root():
    """An absolute link leads to a file of this directory, not to the one that it names otherwise."""
    os.makedirs('root')
    touch('root/f')
    os.symlink('/f', 'root/link')
    fd = os.open('root', os.O_PATH)
    with open('/f', 'w', encoding='ascii'): # of another device
        pass
    try:
        both(lambda: openat2('link', resolve=RESOLVE_IN_ROOT, dfd=fd), 'op=OPEN',
             f'dev={number(os.stat("root/f").st_dev)}')
    finally:
        os.unlink('/f')
        os.close(fd)
    is_equal(one('OPEN')['inode'], str(os.stat('root/f').st_ino))


CALLS = {
    'GETATTR': lambda path: native.stat(path, bytes(256)),
    'ACCESS': lambda path: native.access(path, os.R_OK),
    'CHMOD': lambda path: native.chmod(path, 0o600),
    'TRUNCATE': lambda path: native.truncate(path, 0),
    'GETXATTR': lambda path: native.getxattr(path, 'user.a', bytes(16), 16),
    'STATFS': lambda path: native.statfs(path, bytes(256)),
    'OPEN': lambda path: native.open(path, os.O_RDONLY),
    'LINK': lambda path: native.link(path, path + '.link'),
    'RENAME': lambda path: native.rename(path, path + '.new'),
    'UNLINK': native.unlink,
}


@SUITE.test('calls: a server is asked for what the call itself asks for, and the file is known')
def asked_once():
    """By each call the server is asked the same when it is traced; the event has the file."""
    with fuse.mounted(1, valid=0) as hold:
        device, inode = number(os.stat(fuse.FILE).st_dev), str(os.stat(fuse.FILE).st_ino)
        for op, call in CALLS.items():
            def asked():
                before = len(hold.requests())
                result = in_child(lambda: call(fuse.FILE))
                # who closes a file does not wait for its RELEASE
                return result, [r for r in hold.requests()[before:] if r != fuse.RELEASE]

            asked() # the server may be asked for once what it does not know
            untraced = asked()
            is_true(fuse.LOOKUP in untraced[1], (op, untraced))
            with traced(f'op={op}', f'dev={device}'):
                is_equal((op, asked()), (op, untraced))
            e = one(op)
            is_equal((op, e['path'], e['inode']), (op, fuse.FILE, inode))


@SUITE.test('calls: the file of names that are not cached')
def cold():
    """Names that were not used since the kernel forgot them: the disk is read."""
    calls = dict(CALLS, RMDIR=native.rmdir, PROCESS_EXEC=lambda path: native.execve(path, 0, 0))
    for op, call in calls.items():
        shutil.rmtree(DISK, ignore_errors=True)
        os.makedirs(DISK)
        path = f'{DISK}/{op}'
        if op == 'RMDIR':
            os.mkdir(path)
        else:
            shutil.copy('/bin/true', path)
        st = os.stat(path)
        os.sync()
        forget_all()
        with traced(f'op={op}', f'dev={number(st.st_dev)}'):
            before = stats()['missed']
            ends(spawn(call, path), AT_ONCE)
            is_equal((op, stats()['missed']), (op, before))
        e = one(op)
        is_equal((op, e['path'], e['inode'], e['device']),
                 (op, path, str(st.st_ino), number(st.st_dev)))
        if op == 'RENAME':
            is_equal(e['path2'], path + '.new')
    # both names lead to files
    for name in 'ab':
        touch(f'{DISK}/{name}')
    a, b = (str(os.stat(f'{DISK}/{name}').st_ino) for name in 'ab')
    os.sync()
    forget_all()
    with traced('op=RENAME', f'inode={a}'):
        ends(spawn(os.rename, f'{DISK}/a', f'{DISK}/b'), AT_ONCE)
    e = one('RENAME')
    is_equal((e['path'], e['inode'], e['path2'], e['inode2']), (f'{DISK}/a', a, f'{DISK}/b', b))
    # and by io_uring
    for opcode, op, fields in ((36, 'UNLINK', {}), (36, 'RMDIR', {'op_flags': AT_REMOVEDIR})):
        path = f'{DISK}/uring{op}'
        (os.mkdir if fields else touch)(path)
        inode = str(os.stat(path).st_ino)

        def remove():
            ring = Uring()
            os.sync()
            forget_all()
            return ring.submit(opcode, fd=AT_FDCWD, addr=path, **fields)

        with traced(f'op={op}', f'inode={inode}'):
            is_equal(in_child(remove), 0)
        is_equal(one(op)['path'], path)


@SUITE.test('calls: an event whose file is not known and asked for is counted')
def counted():
    """A program that may not run, by a symbolic link: what it leads to only the server knows."""
    with fuse.mounted(1, valid=0):
        device = number(os.stat(fuse.TOP).st_dev)

        def fail():
            return native.execve(fuse.TOP + '/link', 0, 0)

        is_equal(both(fail, 'op=PROCESS_EXEC'), -errno.EACCES)
        is_equal(one('PROCESS_EXEC')['path'], fuse.TOP + '/link')
        before = stats()['missed']
        with traced('op=PROCESS_EXEC', f'dev={device}'):
            is_equal(in_child(fail), -errno.EACCES)
        is_equal((events(), stats()['missed'] - before), ([], 1))
        # without a link it is known
        both(lambda: native.open(fuse.TOP + '/dir', os.O_WRONLY), 'op=OPEN', f'dev={device}')
        is_equal(one('OPEN')['result'], str(-errno.EISDIR))


@SUITE.test('calls: arguments that never arrive are not waited for')
def never_arrive():
    """Pages that are never there: calls that fail before they need them return."""
    _memory, address, uffd = never(os.memfd_create('never'))
    bad = 1 << 20
    for call, op, error in (
            (lambda: native.statx(AT_FDCWD, address, 0x80000000, 0, 0), 'GETATTR', errno.EINVAL),
            (lambda: native.openat2(AT_FDCWD, address, how(), 8), 'OPEN', errno.EINVAL),
            (lambda: native.openat2(AT_FDCWD, 'f', address, 8), 'OPEN', errno.EINVAL),
            (lambda: native.copy_file_range(bad, address, bad, address, 1, 0), 'COPY_FILE_RANGE',
             errno.EBADF),
            (lambda: native.ioctl(bad, 0x40086602, address), 'SETFLAGS', errno.EBADF)): # FS_IOC_SETFLAGS
        is_equal((op, both(call, f'op={op}')), (op, -error))
        is_equal((op, one(op)['result']), (op, str(-error)))
    os.close(uffd)


@SUITE.test('calls: arguments that arrive during the call')
def arrive_late():
    """What is not in memory before the call, and is read by it, is in the event."""
    touch('late')
    os.truncate('late', 100)
    inode = str(os.stat('late').st_ino)
    top = os.getcwd()

    def late(data, call):
        page = Later()
        thread = threading.Thread(target=call, args=(page.address,))
        thread.start()
        waits_in(thread.native_id, 'handle_userfault')
        page.arrive(data)
        thread.join()

    with traced(f'inode={inode}', 'op=GETATTR,OPEN,UNLINK'):
        late(b'late', lambda name: native.stat(name, bytes(256)))
        late(b'late', lambda name: native.open(name, os.O_WRONLY))
        late(how(os.O_WRONLY | os.O_APPEND), lambda data: native.openat2(AT_FDCWD, 'late', data, 24))
    is_equal([(e['op'], e['path'], e.get('flags')) for e in events()],
             [('GETATTR', top + '/late', None), ('OPEN', top + '/late', 'O_WRONLY'),
              ('OPEN', top + '/late', 'O_WRONLY|O_APPEND')])

    fd, to = os.open('late', os.O_RDWR), os.open('to', os.O_RDWR | os.O_CREAT)
    with traced('op=COPY_FILE_RANGE'):
        late(struct.pack('<q', 10), lambda offset: native.copy_file_range(fd, offset, to, 0, 20, 0))
    e = one('COPY_FILE_RANGE')
    is_equal((e['offset'], e['requested'], e['result'], e['inode']), ('10', '20', '20', inode))
    os.close(fd)
    os.close(to)


# The kernel's audit: <linux/audit.h>. With no daemon its records are in the kernel's log.


class Audit:
    """Have all system calls of a process's children, and what they look up, recorded."""

    SET, ADD, DELETE, PPID = 1001, 1011, 1012, 18

    def __init__(self, parent):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)
        self.rule = struct.pack('<III64I', 4, 2, 1, *[0xffffffff] * 64) + \
            struct.pack('<64I64I64I', self.PPID, *[0] * 63, parent, *[0] * 63, 0x40000000, *[0] * 63) + \
            struct.pack('<I', 0)

    def send(self, kind, body):
        self.socket.send(struct.pack('<IHHII', 16 + len(body), kind, 5, 1, 0) + body)
        _, reply, _, _, _, result = struct.unpack_from('<IHHIIi', self.socket.recv(65536))
        is_equal((reply, result), (2, 0))

    def status(self, enabled):
        # mask: enabled, rate limit and backlog limit
        self.send(self.SET, struct.pack('<8I', 1 | 8 | 16, enabled, 0, 0, 0, 8192, 0, 0))

    @staticmethod
    def new():
        return [m[1] for m in (re.search(r'audit: type=1302 .* item=\d+ name="(\S+)"', line)
                               for line in kmsg.lines()) if m]


@SUITE.test('calls: no audit record is made for the tracer')
def audited():
    """The files that are recorded of each call are the same, and as many."""
    limit = slurp('/proc/sys/kernel/printk_ratelimit')
    must('0', '/proc/sys/kernel/printk_ratelimit')
    audit = Audit(os.getpid())
    audit.status(1)
    audit.send(Audit.ADD, audit.rule)
    try:
        for op, call in CALLS.items():
            def recorded():
                for name in '', '.link', '.new':
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink('audited' + name)
                touch('audited')
                kmsg.skip()
                ends(spawn(lambda: (call('audited'), native.stat('last', bytes(256)))), AT_ONCE)
                names, deadline = [], time.monotonic() + AT_ONCE
                while 'last' not in names: # it comes from a thread
                    names += audit.new()
                    is_true(time.monotonic() < deadline, names)
                return names

            untraced = recorded()
            is_true('audited' in untraced, untraced)
            with traced():
                is_equal((op, recorded()), (op, untraced))
    finally:
        audit.send(Audit.DELETE, audit.rule)
        audit.status(0)
        must(limit, '/proc/sys/kernel/printk_ratelimit')
