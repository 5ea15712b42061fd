# SPDX-License-Identifier: GPL-2.0
"""
Access to /proc/iotracer: who may use it, with whose rights commands act, which addresses it shows
to whom, and that names cannot send control characters to a terminal. The attackers are processes
with few rights.

An attacker is a child process. It gives up the rights that a process in a container, in a user
namespace or of another user does not have, and then tries every file of /proc/iotracer.
"""
import contextlib
import ctypes
import json
import mmap
import os
import re
import select
import shutil
import socket
import stat
import struct
import subprocess

from lib import category, syscalls
from lib.categories import CATEGORIES, WITH_WAITING, WITH_WRITEBACK
from lib.iot import (add, control, CONTROL, drain, error_name, IOT, is_equal, is_true, join, KO,
                     listing, must, NOBODY, PARAMETERS, reload, slurp, slurp_bytes, touch, unload,
                     write)
from lib.machine import execute, files_and_disk, umount, umount_files_and_disk
from lib.places import PROGRAMS, TOOL
from lib.process import spawn
from lib.suite import Suite


def setup():
    files_and_disk()
    os.makedirs('/mnt/nodev', exist_ok=True)
    execute('mount', '-t', 'tmpfs', '-o', 'nodev', 'nodev', '/mnt/nodev')


def teardown():
    umount_files_and_disk()
    umount('/mnt/nodev')


SUITE = Suite(setup=setup, teardown=teardown)

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWUSER, NEWPID = 0x20000, 0x10000000, 0x20000000
MS_REC_PRIVATE = 0x44000
PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_NAME, PR_SET_SECUREBITS = 4, 8, 15, 28
SECBIT_NOROOT = 1
SYS_CAPSET, SYSLOG_READ_ALL = 126, 3
AT_EMPTY_PATH, STATX_INO = 0x1000, 0x100
DAC_OVERRIDE, SETGID, SETUID, SYS_PTRACE, SYS_ADMIN, MKNOD, PERFMON = 1, 6, 7, 19, 21, 27, 38
DENIED = {'EACCES', 'EPERM'}
MESSAGE = 'permission denied: needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace, ' \
          'or membership of the group that proc_gid names'

# Giving up rights


def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def unshare(flags):
    called(LIBC.unshare(flags))


def keep(*capabilities):
    """Keep these capabilities in effect, and no others."""
    mask = sum(1 << c for c in capabilities)
    low, high = mask & 0xffffffff, mask >> 32
    header = ctypes.create_string_buffer(struct.pack('=Ii', 0x20080522, 0))
    data = ctypes.create_string_buffer(struct.pack('=6I', low, low, 0, high, high, 0))
    called(LIBC.syscall(SYS_CAPSET, header, data))


def become(uid, *capabilities, groups=()):
    """Become user @uid, with these capabilities in effect and no others."""
    LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups(groups)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    keep(*capabilities)


def answer(setup, function, *args):
    """What @function returns in a child that has called @setup, or the name of its error."""
    reading, writing = os.pipe()

    def run():
        try:
            setup()
            result = function(*args)
        except OSError as e:
            result = error_name(e)
        os.write(writing, repr(result).encode())

    pid = spawn(run)
    os.close(writing)
    with os.fdopen(reading) as f:
        text = f.read()
    join(pid)
    return eval(text)  # pylint: disable=eval-used


def container(*capabilities, gid=0):
    """A setup: root of a container with its own pid and mount namespaces and its own /proc."""
    def setup():
        unshare(NEWPID | NEWNS)
        pid = os.fork()
        if pid:
            os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        called(LIBC.mount(b'none', b'/', None, MS_REC_PRIVATE, None))
        called(LIBC.mount(b'proc', b'/proc', b'proc', 0, None))
        os.setgroups([gid])
        os.setresgid(gid, gid, gid)
        keep(*capabilities)
    return setup


def user_namespace(uid, groups=()):
    """A setup: root of a user namespace of user @uid, with all capabilities in there."""
    def setup():
        if uid:
            become(uid, groups=groups)
        LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # or root owns /proc/self
        unshare(NEWUSER)
        must('deny', '/proc/self/setgroups')
        must(f'0 {uid} 1', '/proc/self/uid_map')
        must(f'0 {uid} 1', '/proc/self/gid_map')
        is_equal(os.geteuid(), 0)
    return setup

# Trying


def files():
    """Every file of /proc/iotracer, with those of targets, and whether it can be written."""
    found = {}
    for directory, _, names in os.walk(IOT):
        for name in names:
            path = f'{directory}/{name}'
            found[path] = bool(os.stat(path).st_mode & stat.S_IWUSR)
    is_equal(len(found), 6 + 6 * len(CATEGORIES) + len(WITH_WRITEBACK) + len(WITH_WAITING) + 5)
    return found


def tried(path, flags):
    """Open and use a file. Returns 'done', or the name of the error."""
    try:
        fd = os.open(path, flags | os.O_NONBLOCK)
    except OSError as e:
        return error_name(e)
    try:
        if flags != os.O_WRONLY:
            with contextlib.suppress(BlockingIOError):  # an empty pipe
                os.read(fd, 1 << 20)
        if flags != os.O_RDONLY:
            os.write(fd, b'stop\n' if path.count('/') > 3 else b'add /mnt/files/f\n')
        return 'done'
    except OSError as e:
        return error_name(e)
    finally:
        os.close(fd)


def tries(found):
    """What tried() returns for each file: to read, to write, and to do both."""
    return {(path, flags): tried(path, flags) for path, writable in found.items()
            for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR) if writable or flags == os.O_RDONLY}


def keeps_out(setup):
    found = files()
    result = answer(setup, tries, found)
    is_true(isinstance(result, dict) and len(result) >= len(found), result)
    open_ = {what: how for what, how in result.items() if how not in DENIED}
    is_true(not open_, f'not kept out: {open_}')


def lets_in(setup):
    result = answer(setup, tries, files())
    is_true(isinstance(result, dict), result)
    shut = {what: how for what, how in result.items() if how != 'done'}
    is_true(not shut, f'kept out: {shut}')


def fresh(parameters=''):
    reload(parameters)
    touch('f')
    add('f')


def as_root():
    pass


@SUITE.test('no access without a capability: uid 0 in a container, in a user namespace, other users')
def without_capability():
    fresh()
    lets_in(as_root)
    keeps_out(container())
    keeps_out(container(DAC_OVERRIDE, SETUID, SETGID, MKNOD, SYS_PTRACE))
    keeps_out(keep)
    keeps_out(user_namespace(0))
    keeps_out(user_namespace(NOBODY))
    keeps_out(lambda: become(NOBODY))
    # Writing a parameter needs a capability, too; a write that is refused changes nothing.
    changeable = [PARAMETERS + name for name in os.listdir(PARAMETERS)
                  if os.stat(PARAMETERS + name).st_mode & stat.S_IWUSR]
    is_true(len(changeable) >= 5, changeable)
    for path in changeable:
        before = slurp(path)
        for setup in keep, container():
            is_equal((path, answer(setup, write, path, before)), (path, 'EPERM'))
        must(before, path)
        is_equal(slurp(path), before)


@SUITE.test('file modes that permit everybody let in only processes with a capability')
def wide_modes():
    fresh('proc_mode=0666')
    keeps_out(lambda: become(NOBODY))
    keeps_out(user_namespace(NOBODY))
    keeps_out(lambda: become(NOBODY, SYS_PTRACE, DAC_OVERRIDE))
    lets_in(lambda: become(NOBODY, PERFMON))


@SUITE.test('CAP_PERFMON or CAP_SYS_ADMIN alone is enough')
def one_capability():
    fresh()
    lets_in(lambda: keep(PERFMON))
    lets_in(lambda: keep(SYS_ADMIN))
    lets_in(container(PERFMON))


@SUITE.test('the group that root named has access, but not from another namespace')
def group():
    fresh(f'proc_gid={NOBODY} proc_mode=0660')
    lets_in(lambda: become(1000, groups=[5, NOBODY]))
    lets_in(lambda: become(NOBODY))
    keeps_out(lambda: become(1000, groups=[5]))
    keeps_out(lambda: become(1000, DAC_OVERRIDE, SETGID))
    keeps_out(user_namespace(NOBODY))
    keeps_out(user_namespace(1000, groups=[NOBODY]))
    keeps_out(user_namespace(0))
    # Root of a container may join any group of the host.
    keeps_out(container(DAC_OVERRIDE, SETUID, SETGID, gid=NOBODY))
    keeps_out(keep)
    # Group 0 is the default of proc_gid: it does not name a group.
    fresh('proc_mode=0666')
    keeps_out(lambda: become(1000, groups=[0]))


@SUITE.test('the user that root named has access, but not from another namespace')
def user():
    fresh(f'proc_uid={NOBODY}')
    lets_in(lambda: become(NOBODY))
    keeps_out(lambda: become(1000, DAC_OVERRIDE))
    keeps_out(user_namespace(NOBODY))

# Descriptors


def read_by(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, 4096).decode()


def written_by(fd, text):
    try:
        return os.write(fd, text)
    except OSError as e:
        return error_name(e)


@SUITE.test('a descriptor that is handed on may be read, and be written by those who may open the file')
def handed_on():
    fresh(f'proc_gid={NOBODY} proc_mode=0660')
    both = os.O_RDWR
    fds = {CONTROL: os.open(CONTROL, both), IOT + '/fs/control': os.open(IOT + '/fs/control', both)}
    stream = os.open(IOT + '/fs/stream', os.O_RDONLY)
    command = {CONTROL: b'remove /mnt/files/f\n', IOT + '/fs/control': b'size 77\n'}
    for setup in (lambda: become(1000), keep, user_namespace(0), user_namespace(1000), container()):
        for path, fd in fds.items():
            before = slurp(path)
            is_equal(answer(setup, read_by, fd), before)
            is_equal(answer(setup, written_by, fd, command[path]), 'EPERM')
            is_equal(slurp(path), before)
        is_equal(answer(setup, lambda: len(os.read(stream, 1 << 20)) >= 0), True)
    # A process that could open the file itself may write.
    for setup in (lambda: become(NOBODY)), (lambda: become(1000, PERFMON)), as_root:
        is_equal(answer(setup, written_by, fds[IOT + '/fs/control'], b'size 78\n'), 8)
    for fd in *fds.values(), stream:
        os.close(fd)


@contextlib.contextmanager
def opened_by_member(path):
    """A descriptor that a member of the group opened and handed to root."""
    mine, theirs = socket.socketpair()

    def send():
        become(NOBODY)
        socket.send_fds(theirs, [b'x'], [os.open(path, os.O_RDWR)])

    join(spawn(send))
    fd = socket.recv_fds(mine, 1, 1)[1][0]
    try:
        yield fd
    finally:
        os.close(fd)
        mine.close()
        theirs.close()


def secrets():
    """A file that all users may read, one that only root may, and one in a directory of root."""
    touch('public', 'secret')
    os.chmod('secret', 0o600)
    os.makedirs('shut', 0o700)
    touch('shut/public')


@SUITE.test('commands act with the rights of the opener')
def acts_as_opener():
    fresh(f'proc_gid={NOBODY} proc_mode=0660')
    secrets()
    with opened_by_member(CONTROL) as fd:
        is_equal(written_by(fd, b'add /mnt/files/secret\n'), 'EACCES')
        is_equal(written_by(fd, b'add /mnt/files/shut/public\n'), 'EACCES')
        # This holds also for a line that a second write ends.
        is_equal(written_by(fd, (b'add ' + b'/' * 1004 + b'mnt/files/secret')), 1024)
        is_equal(written_by(fd, b'\n'), 'EACCES')
        is_equal(listing(), ['/mnt/files/f'])
        is_equal(written_by(fd, b'add public\n'), 11)
        is_equal(listing(), ['/mnt/files/f', '/mnt/files/public'])
    # Root itself may still add the file.
    is_equal(control('add secret'), 10)
    is_equal(control('remove secret\nremove public\n'), 28)


@SUITE.test('commands that a setuid program writes act with the rights of the opener')
def deputy():
    """A setuid program writes what an attacker chooses, to a file that the attacker opened."""
    fresh(f'proc_gid={NOBODY} proc_mode=0660')
    secrets()
    shutil.copy('/usr/bin/tee', 'deputy')
    os.chmod('deputy', 0o4755)

    def deceive(text):
        fd = os.open(CONTROL, os.O_WRONLY)
        p = subprocess.run(['./deputy'], input=text, stdout=fd, stderr=subprocess.PIPE, check=False)
        return p.returncode, p.stderr.decode()

    for name in 'secret', 'shut/public':
        status, said = answer(lambda: become(NOBODY), deceive, b'add %s\n' % name.encode())
        is_true(status and 'Permission denied' in said, (status, said))
    is_equal(listing(), ['/mnt/files/f'])
    is_equal(answer(lambda: become(NOBODY), deceive, b'add public\n')[0], 0)
    is_equal(listing(), ['/mnt/files/f', '/mnt/files/public'])


@SUITE.test('a device node on a nodev mount cannot be traced')
def nodev():
    fresh()
    device = os.stat('/dev/vda').st_rdev
    for directory in '/mnt/nodev', '/mnt/files':
        os.mknod(f'{directory}/node', 0o666 | stat.S_IFBLK, device)
    is_equal(control('add /mnt/nodev/node'), 'EACCES')
    is_equal(listing(), ['/mnt/files/f'])
    is_equal(control('add /mnt/files/node'), 19)
    is_equal(control('remove /mnt/files/node'), 22)
    touch('/mnt/nodev/file')
    is_equal(control('add /mnt/nodev/file\nremove /mnt/nodev/file\n'), 43)
    os.unlink('/mnt/nodev/node')
    os.unlink('/mnt/nodev/file')

# Addresses


def schema():
    """{event: (id, size, {field: (offset, size, kind)})}"""
    events = {}
    for line in slurp(IOT + '/format').split('\n'):
        if m := re.match(r'event (\w+) id (\d+) size (\d+):', line):
            fields = {}
            events[m[1]] = int(m[2]), int(m[3]), fields
        elif m := re.match(r'field (\w+) offset (\d+) size (\d+) type (\w+) kind (\w+) ', line):
            fields[m[1]] = int(m[2]), int(m[3]), m[5]
    return events


def records(name):
    """The records of a category's stream, as {(cpu, seq): {field: bytes}}."""
    _, size, fields = schema()[name]
    found = {}
    fd = os.open(f'{IOT}/{name}/stream', os.O_RDONLY)
    data = os.read(fd, 1 << 20)[category.HEADER.size:]
    while data:
        at = 0
        while at < len(data):
            _, cpu, _, count, _, _ = category.BLOCK.unpack_from(data, at)
            at += category.BLOCK.size
            for _ in range(count):
                r = {f: data[at + o:at + o + n] for f, (o, n, _) in fields.items()}
                found[cpu, r['seq']] = r
                at += size
        data = os.read(fd, 1 << 20)
    os.close(fd)
    return found


def make_addresses():
    """Record the mappings, page faults, io_uring requests and calls of epoll of a child."""
    def act():
        os.truncate('/mnt/disk/f', 1 << 17)
        fd = os.open('/mnt/disk/f', os.O_RDWR)
        m = mmap.mmap(fd, 1 << 16)
        m[0] = 1
        m[5000] = 2
        m.resize(1 << 15)
        m.close()
        # its offset is the address of the memory for the answer
        memory = ctypes.create_string_buffer(256)
        is_equal(syscalls.Uring().statx(fd=fd, addr='', off=memory, op_flags=AT_EMPTY_PATH,
                                        len=STATX_INO), 0)
        for scenario in 'rw', 'sockets':
            subprocess.run([PROGRAMS + '/uring', scenario, '/mnt/disk/f'], check=True,
                           stdout=subprocess.DEVNULL)
        with select.epoll() as epoll:
            epoll.register(os.pipe()[1]) # its data is the number of the descriptor

    touch('/mnt/disk/f')
    for name in ADDRESSES:
        kinds = ' kind=all' if name in ('fs', 'uring') else ''
        category.command('stop', 'reset', f'filter tree={os.getpid()}{kinds}', category=name)
        category.command('start', category=name)
    join(spawn(act))
    for name in ADDRESSES:
        category.command('stop', 'filter none', category=name)


# The categories whose records have fields that can hold an address.
ADDRESSES = {'fs': {'address', 'result'}, 'fault': {'address'}, 'uring': {'user_data', 'offset'},
             'epoll': {'data'}}
POSITIONS = {1, 2, 3, 4, 5, 8, 17, 22, 23, 24, 30, 33, 49}


def masked(record, kinds):
    """A record without its addresses, by the kinds of its fields."""
    has_address = any(any(record[f]) for f, k in kinds.items() if k == 'address')
    result = dict(record)
    for f, kind in kinds.items():
        value = int.from_bytes(record[f], 'little', signed=True)
        if kind == 'address' or kind == 'returned' and has_address and value > 0 or \
                kind == 'sqeoff' and int.from_bytes(record['opcode'], 'little') not in POSITIONS:
            result[f] = bytes(len(record[f]))
    return result


def addresses():
    fresh(f'proc_gid={NOBODY} proc_mode=0640')
    make_addresses()
    kinds = {name: {f: k for f, (_, _, k) in fields.items()}
             for name, (_, _, fields) in schema().items()}
    def member():
        become(NOBODY)

    for name in ADDRESSES:
        hidden = answer(member, slurp, f'{IOT}/{name}/log')
        shown = slurp(f'{IOT}/{name}/log')
        is_equal(len(hidden.split('\n')), len(shown.split('\n')))
        is_true(re.search(r' (address|user_data|data)=0x', shown), shown)
        is_true(not re.search(r' (address|user_data|data)=', hidden), hidden)
        is_true(not re.search(r' (MMAP|MREMAP) .* result=[1-9]', hidden), hidden)
        is_equal(answer(lambda: become(NOBODY, SYS_PTRACE), slurp, f'{IOT}/{name}/log'), shown)
        # The pipe hides them too. No other reader has taken any of its events.
        is_equal(answer(member, pipe_text, name).decode('latin-1'), hidden)
        all_ = records(name)
        expected = {key: masked(r, kinds[name]) for key, r in all_.items()}
        for f in ADDRESSES[name]:
            is_true(any(all_[key][f] != expected[key][f] for key in all_), f'{name}: no {f} to hide')
        is_equal(answer(member, records, name), expected)
        for setup in (lambda: become(NOBODY, SYS_PTRACE)), (lambda: keep(PERFMON)), \
                (lambda: keep(SYS_ADMIN)):
            is_equal(answer(setup, records, name), all_)
    is_true(re.search(r' MMAP .* result=[1-9]', slurp(IOT + '/fs/log')), 'no address of mmap')
    # The kind of a field says that it can hold an address. Records of targets have none.
    for name in CATEGORIES + ('io',):
        is_equal({f for f, k in kinds[name].items() if k in ('address', 'returned', 'sqeoff')},
                 ADDRESSES.get(name, set()))
    # The process that opened the file decides, not the one that reads.
    fd = os.open(IOT + '/fault/log', os.O_RDONLY)
    is_equal(answer(member, lambda: drain(fd)), slurp_bytes(IOT + '/fault/log'))
    os.close(fd)


def addresses_on_devices():
    """The log of a directory hides addresses of processes, and shows those on the disk."""
    fresh(f'proc_gid={NOBODY} proc_mode=0640')
    os.makedirs('/mnt/disk/d', exist_ok=True)
    log = add('/mnt/disk/d').dir + '/log'
    with open('/mnt/disk/d/f', 'w+b', buffering=0) as file:
        file.write(bytes(mmap.PAGESIZE))
        os.fsync(file)
        mmap.mmap(file.fileno(), mmap.PAGESIZE).close()
    hidden = answer(lambda: become(NOBODY), slurp, log).split('\n')
    shown = slurp(log).split('\n')
    written = [line.split(';') for line in shown if ';BLOCK_WRITE;f;' in line]
    is_true(written and all(int(f[2]) > 0 for f in written), written)
    is_equal([(line, other) for line, other in zip(shown, hidden) if line != other],
             [(line, re.sub(r';\d+$', ';0', line)) for line in shown if ';MMAP;' in line])
    is_true(any(re.search(r';MMAP;f;;[1-9]', line) for line in shown), shown)
    is_equal(len(hidden), len(shown))
    must('remove /mnt/disk/d')


def pipe_text(name):
    """What can be read from a pipe now, as bytes."""
    fd = os.open(f'{IOT}/{name}/pipe', os.O_RDONLY | os.O_NONBLOCK)
    parts = []
    with contextlib.suppress(BlockingIOError):
        while part := os.read(fd, 1 << 16):
            parts.append(part)
    os.close(fd)
    return b''.join(parts)

# Terminals

HOSTILE = [b'\x1b]0;owned\x07', b'\x1b[2J\x1b[31m', b'c1\xc2\x9b31m', b'raw\x9b31m', b'\x9d0;x\x9c',
           b'over\xc0\x9b[31m', b'cut\xe2\x82', b'del\x7f', b'nl\nnl', b'tab\t', b'back\\033',
           'schön名前'.encode(), b'\xc2\x85', b'sep\xe2\x80\xa8', b'cr\rcr', b'\xed\xa0\x80', b'\xf4\x90\x80\x80']


def is_safe(data, *, keep_=b'\n'):
    """Check that @data commands no terminal: it is UTF-8 without control characters."""
    text = data.decode('utf-8') if isinstance(data, bytes) else data
    bad = {c for c in text if (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0) and c.encode() not in keep_}
    is_true(not bad, f'{bad} in {text!r}')
    return text


def shown_as(name, separators=b' '):
    """A name as the module writes it."""
    shown = b''
    for c in name.decode('utf-8', 'surrogateescape'):
        raw = c.encode('utf-8', 'surrogateescape')
        if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or 0xdc80 <= ord(c) < 0xdd00 or c in '\u2028\u2029' or \
                raw in (b'\\', *(bytes([s]) for s in separators)):
            raw = b''.join(b'\\%03o' % byte for byte in raw)
        shown += raw
    return shown.decode()


def use(name, path):
    """Write, map and read the file, in a thread with this name."""
    LIBC.prctl(PR_SET_NAME, name, 0, 0, 0)
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(fd, b'x' * 4096)
    os.fsync(fd)
    m = mmap.mmap(fd, 4096)
    m[0] = 1
    m.close()
    os.pread(fd, 100, 0)
    os.close(fd)


@SUITE.test('control characters in names are escaped: control, logs, stats, filters', once=True)
def terminal_module():
    fresh()
    for name in CATEGORIES:
        category.command(f'filter tree={os.getpid()}', 'start', category=name)
    for name in HOSTILE:
        touch(b'/mnt/disk/' + name)
        must(b'add /mnt/disk/' + b''.join(b'\\%03o' % b for b in name))
        join(spawn(use, name, b'/mnt/disk/' + name))
    for name in CATEGORIES:
        category.command('stop', category=name)
    expected = sorted(shown_as(b'/mnt/disk/' + name) for name in HOSTILE)
    lines = is_safe(slurp_bytes(CONTROL)).split('\n')[:-1]
    is_equal(sorted(line.split(' ')[1] for line in lines if '/disk/' in line), expected)
    # The log of each file has the name of the thread.
    for line in lines:
        if '/disk/' not in line:
            continue
        where, path = line.split(' ')
        name = next(n for n in HOSTILE if shown_as(b'/mnt/disk/' + n) == path)
        log = is_safe(slurp_bytes(f'{IOT}/{where}/log'))
        is_true(f';{shown_as(name[:15], b";")};' in log, log)
        is_safe(slurp_bytes(f'{IOT}/{where}/stats'))
        is_safe(slurp_bytes(f'{IOT}/{where}/control'))
    for category_ in CATEGORIES:
        log = is_safe(slurp_bytes(f'{IOT}/{category_}/log'))
        is_safe(pipe_text(category_))
        write(f'{IOT}/{category_}/control', b'filter comm=' + b'\\'.join(HOSTILE[:9]))
        is_safe(slurp_bytes(f'{IOT}/{category_}/error'))
        for name in HOSTILE if category_ in ('fs', 'fault', 'cache') else ():
            is_true(f'path={shown_as(b"/mnt/disk/" + name)}' in log, (category_, name, log))
            is_true(f' {shown_as(name[:15], b"; ")}-' in log, (category_, name, log))
        is_safe(slurp_bytes(f'{IOT}/{category_}/stats'))
    is_safe(slurp_bytes(IOT + '/hooks'))
    # A listed path can be written back as it is.
    for line in lines:
        path = line.split(' ')[1]
        must(f'remove {path}\nadd {path}\n'.encode())
    is_equal(sorted(slurp_bytes(CONTROL).decode().split('\n')[:-1]), sorted(lines))
    must(''.join(f'remove {line.split(" ")[1]}\n' for line in lines).encode())
    is_equal(listing(), [])
    for name in HOSTILE:
        if b'\n' in name or len(name) > 15:
            continue
        word = b''.join(b'\\%03o' % b for b in name)
        must(b'filter comm=' + word, IOT + '/fs/control')
        text = is_safe(slurp_bytes(IOT + '/fs/control'))
        is_true(f'filter comm={shown_as(name)}' in text, text)
        must(re.search('filter .*', text)[0].encode(), IOT + '/fs/control')
        is_equal(is_safe(slurp_bytes(IOT + '/fs/control')), text)
    category.command('filter none')


@SUITE.test('control characters in the name of a device node are escaped', once=True)
def terminal_node():
    """A target that is a device has the name of its node."""
    fresh()
    node = b'/dev/\x1b[31m\xc2\x9b'
    os.mknod(node, 0o600 | stat.S_IFBLK, os.stat('/dev/vda').st_rdev)
    try:
        must(b'add ' + node)
        is_safe(slurp_bytes(CONTROL))
        is_safe(slurp_bytes(b'/proc/iotracer/' + node[5:] + b'/stats'))
        for command in ('list',), ('status',), ('profile', node), ('log', node), ('list', '-f', 'json'):
            is_safe(run_by(*command)[1])
        must(b'remove ' + node)
    finally:
        os.unlink(node)


def kernel_log():
    buffer = ctypes.create_string_buffer(1 << 20)
    size = LIBC.klogctl(SYSLOG_READ_ALL, buffer, len(buffer))
    called(size)
    return buffer.raw[:size]


@SUITE.test("control characters in parameters are escaped in the kernel's log", once=True)
def terminal_parameter():
    unload()
    subprocess.run(['insmod', KO, b'attach=\x1b[31m\x9bx'], check=False, stderr=subprocess.DEVNULL)
    # other suites of this machine have loaded it with attach=, too
    lines = [line for line in kernel_log().split(b'\n') if b'attach=' in line and b'31m' in line]
    is_equal(len(lines), 1)
    is_safe(lines[0])
    is_true(rb'attach=\e[31m' in lines[0], lines[0])
    reload()

# The tool


def run_by(*words, setup=None, cwd=None):
    p = subprocess.run([TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       check=False, preexec_fn=setup, cwd=cwd)
    return p.returncode, p.stdout, p.stderr


@SUITE.test('control characters in names are escaped: the tool', once=True)
def terminal_tool():
    fresh()
    must('remove f')
    for name in HOSTILE:
        touch(name)
        is_equal(run_by('add', b'./' + name)[0], 0)
        join(spawn(use, name, name))
    for words in ('list',), ('status',), ('list', '--format=json'), ('status', '--format=json'):
        status, out, err = run_by(*words)
        is_equal((status, err), (0, b''))
        text = is_safe(out)
        if 'json' in words[-1]:
            json.loads(text)
        for name in HOSTILE:
            shown = shown_as(name, b'')
            is_true((shown if 'json' not in words[-1] else json.dumps(shown, ensure_ascii=False)[1:-1])
                    in text, (words, name, text))
    name = HOSTILE[0]
    for words in ('log',), ('log', '--format=csv'), ('log', '--format=json'), ('profile',), \
            ('profile', '--format=json'):
        status, out, err = run_by(*words, b'./' + name)
        is_equal((status, err), (0, b''))
        text = is_safe(out)
        is_true('033' in text, text)
        if 'json' in words[-1]:
            for line in text.strip().split('\n') if words[0] == 'log' else [text]:
                json.loads(line)
    is_equal(run_by('remove', '--all')[0], 0)


@SUITE.test('control characters in names are escaped: traces, labels and tags', once=True)
def terminal_trace():
    fresh()
    name = b'\x1b[31m\xc2\x9bn'
    shutil.copy('/bin/true', name)
    os.chmod(name, 0o755)
    status, out, err = run_by('record', '-o', b'\x1b]trace', '-c', 'fs', '--label', b'\x1b[1m\x9b', '--tag',
                               b'k\x1b=\x07', '--', b'./' + name, b'\x1b[2J')
    is_equal(status, 0)
    is_safe(out + err)
    directory = b'\x1b]trace'
    for file in os.listdir(directory):
        if file.endswith(b'.json'):
            with open(directory + b'/' + file, 'rb') as f:
                json.loads(is_safe(f.read(), keep_=b'\n\t'))
    for how in 'csv', 'json':
        status, out, err = run_by('export', '--per-category', f'--format={how}', directory)
        is_equal(status, 0)
        is_safe(err)
        text = is_safe(out)
        is_true('033[31m' in text, text)
        for line in text.strip().split('\n') if how == 'json' else ():
            json.loads(line)
    # "record" refuses a directory that exists, and names it.
    status, out, err = run_by('record', '-o', directory, '--', 'true')
    is_equal(status, 1)
    is_true('033]trace' in is_safe(out + err), err)


@SUITE.test('control characters in arguments are escaped: messages of the tool', once=True)
def terminal_messages():
    fresh()
    bad = b'\x1b[31m\xc2\x9b\x9b\x07'
    for words in (('list', bad), ('add', bad), ('remove', bad), ('log', bad), ('profile', bad),
                  ('status', bad),
                  ('profile', 'a', bad), ('log', 'a', bad), (b'--' + bad,), ('list', b'--' + bad),
                  ('list', b'-' + bad), ('list', b'--color=' + bad), ('list', b'--format=' + bad),
                  ('add', '-n', bad, 'f'), (bad,), ('format', bad), ('export', bad, bad),
                  ('export', '-o', 'x', bad), ('record', '-c', bad), ('record', '-f', bad + b'=x'),
                  ('record', '-f', b'op=' + bad), ('record', '-f', b'comm=x ' + bad),
                  ('filter', 'fs', bad + b'=x'), ('filter', 'fs', b'op=' + bad), ('help', bad),
                  ('record', '--time', bad), ('record', '--tag', bad), ('record', '--', b'./' + bad)):
        status, out, err = run_by(*words)
        is_true(status, words)
        is_equal(out, b'')
        is_true('033' in is_safe(err), (words, err))
    p = subprocess.run([TOOL, 'list'], env={'IOTRACER_PROC': b'/none' + bad}, check=False,
                       stderr=subprocess.PIPE)
    is_safe(p.stderr)


def powerless():
    """Have no capability, and get none by exec as uid 0."""
    called(LIBC.prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0))
    keep()


@SUITE.test('the tool names the missing permission', once=True)
def missing_permission():
    fresh()
    for words in ('add', 'f'), ('list',), ('status',), ('log', 'f'), ('remove', 'f'), ('stop', '--all'), \
            ('record', '-o', '/tmp/denied', '--', 'true'):
        for setup in powerless, (lambda: become(NOBODY)):
            status, out, err = run_by(*words, setup=setup)
            is_equal((status, out), (4, b''))
            is_true(re.fullmatch(rf'iotracer: \S*: {MESSAGE}\n', err.decode()), err)
    # A process without the right to open a file cannot write to a descriptor that it was left.
    fd = os.open(CONTROL, os.O_WRONLY)
    is_equal(answer(keep, written_by, fd, b'remove f\n'), 'EPERM')
    os.close(fd)


SUITE.add('addresses of other processes are shown only with the right capability, in text and binary', addresses, addresses_on_devices)
