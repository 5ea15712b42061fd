# SPDX-License-Identifier: GPL-2.0
"""
/proc/iotracer/<category>/waiting: the threads that wait in a call of category net, conn or epoll. Children are
made to wait; what /proc/<pid>/syscall says of all threads of the machine has to be in the files, and nothing
else.
"""
import collections
import ctypes
import fcntl
import glob
import json
import os
import pickle
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from lib import category, net
from lib.category import stops
from lib.iot import IOT, is_equal, is_true, join, reload, slurp, unload
from lib.machine import files_and_disk, umount_files_and_disk
from lib.net import cookie
from lib.places import TOOL
from lib.process import sleeps_in, spawn
from lib.suite import reloads, Suite
from lib.syscalls import Calls32, native

NAMES = 'net', 'conn', 'epoll'
HOST = '127.0.0.1'
NEVER = 1000000
ALL = 2 ** 64 - 1

# The operation of each system call, and which of its arguments is the descriptor. Those of `files` are
# operations of net if the descriptor is a socket.
CALLS = {
    'net': {'recvfrom': ('RECV', 0), 'recvmsg': ('RECV', 0), 'recvmmsg': ('RECV', 0), 'sendto': ('SEND', 0),
            'sendmsg': ('SEND', 0), 'sendmmsg': ('SEND', 0)},
    'files': {'read': ('RECV', 0), 'readv': ('RECV', 0), 'preadv2': ('RECV', 0), 'write': ('SEND', 0),
              'writev': ('SEND', 0), 'pwritev2': ('SEND', 0), 'sendfile': ('SEND', 0), 'splice': ('RECV', 0)},
    'conn': {'accept': ('ACCEPT', 0), 'accept4': ('ACCEPT', 0), 'connect': ('CONNECT', 0)},
    'epoll': {'epoll_wait': ('EPOLL_WAIT', 0), 'epoll_pwait': ('EPOLL_WAIT', 0),
              'epoll_pwait2': ('EPOLL_WAIT', 0), 'poll': ('POLL', None), 'ppoll': ('POLL', None),
              'select': ('SELECT', None), 'pselect6': ('SELECT', None)},
}
FILE_SIZE = 256 << 10
NUMBERS = {native.numbers[name]: (kind, name) for kind, names in CALLS.items() for name in names
           if name in native.numbers}
LINE = re.compile(r'([A-Z_]+) (\S*)-(\d+)/(\d+)((?: \w+=\S+)*)')


def setup():
    files_and_disk()
    net.link_up('lo')
    reload()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=stops(*NAMES))


def set_filter(*conditions, names=NAMES):
    for name in names:
        category.command('filter none', *(f'filter {c}' for c in conditions), category=name)


def parse(text):
    rows = []
    for line in text.split('\n')[:-1]:
        m = LINE.fullmatch(line)
        is_true(m, f'not a line of waiting: {line!r}')
        row = dict(field.split('=', 1) for field in m[5].split())
        row.update(op=m[1], comm=m[2], pid=int(m[3]), tid=int(m[4]))
        rows.append(row)
    is_true(not text or text.endswith('\n'), 'a torn line')
    is_equal([row['tid'] for row in rows], sorted({row['tid'] for row in rows}))
    return rows


def waiting(name):
    return parse(slurp(f'{IOT}/{name}/waiting'))


def listed(names=NAMES):
    """{(category, thread, operation, descriptor)}"""
    return {(name, row['tid'], row['op'], row.get('fd')) for name in names for row in waiting(name)}


# What the kernel says


def is_socket(tid, fd):
    try:
        return os.readlink(f'/proc/{tid}/fd/{fd}').startswith('socket:')
    except OSError:
        return False


def call_of(tid):
    """What a thread sleeps in, as a member of listed(), and how often it was switched; None for no such call."""
    try:
        words = slurp(f'/proc/{tid}/syscall').split()
        switches = re.findall(r'ctxt_switches:\s*(\d+)', slurp(f'/proc/{tid}/status'))
    except (FileNotFoundError, ProcessLookupError):
        return None
    kind, name = NUMBERS.get(int(words[0]) if words[0].lstrip('-').isdigit() else -1, (None, None))
    if not kind:
        return None
    op, arg = CALLS[kind][name]
    fd = None if arg is None else int(words[1 + arg], 16)
    if kind == 'files':
        if name == 'splice' and not is_socket(tid, fd):
            op, fd = 'SEND', int(words[3], 16)
        if not is_socket(tid, fd):
            return None
        kind = 'net'
    return (kind, int(tid), op, None if fd is None else str(fd)), tuple(switches)


def waiting_by_proc():
    """All threads of the machine: {call_of()}"""
    tids = (path.split('/')[4] for path in glob.glob('/proc/[0-9]*/task/[0-9]*'))
    return {found for found in map(call_of, tids) if found}


# Children that wait


class Memory:
    """What calls of a child point to, until it ends."""

    def __init__(self):
        self.keep = []

    def put(self, data):
        self.keep.append(ctypes.create_string_buffer(data, max(len(data), 1)))
        return ctypes.addressof(self.keep[-1])

    def iov(self):
        return self.put(struct.pack('<QQ', self.put(bytes(64)), 64))

    def message(self):
        """A struct msghdr, and behind it the length of a struct mmsghdr."""
        return self.put(struct.pack('<QIIQQQQII', 0, 0, 0, self.iov(), 1, 0, 0, 0, 0) + bytes(8))


def udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((HOST, 0))
    return s


def listener():
    s = socket.socket()
    s.bind((HOST, 0))
    s.listen(1)
    return s


KEEP = [] # the other ends of sockets


def connected():
    """A socket of TCP that is connected, and from which nothing comes."""
    server = listener()
    s = socket.create_connection(server.getsockname())
    KEEP.extend((server, server.accept()[0]))
    return s


def full():
    """A socket with no room for what is sent."""
    s, other = socket.socketpair()
    KEEP.append(other)
    s.setblocking(False)
    try:
        while True:
            s.send(bytes(4096))
    except BlockingIOError:
        pass
    s.setblocking(True)
    return s


def sent_file(m, s):
    """More pages than there is room for in a buffer that waits already, to which kernels before 6.5 add them."""
    KEEP.append(tempfile.TemporaryFile())
    KEEP[-1].write(bytes(FILE_SIZE))
    KEEP[-1].flush()
    return s.fileno(), KEEP[-1].fileno(), m.put(bytes(8)), FILE_SIZE


def full_pipe():
    """As sent_file()."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, FILE_SIZE)
    is_equal(os.write(writing, bytes(FILE_SIZE)), FILE_SIZE)
    return reading


def crowded(m, s):
    """connect(2) to a socket of UNIX at which one already waits."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(f'\0waiting-{os.getpid()}')
    server.listen(0)
    first = socket.socket(socket.AF_UNIX)
    first.connect(server.getsockname())
    KEEP.extend((server, first))
    address = struct.pack('<H', socket.AF_UNIX) + server.getsockname()
    return s.fileno(), m.put(address), len(address)


def instance(_):
    return native.epoll_create1(0)


def pollfds(m, s):
    return m.put(struct.pack('<ihh', s.fileno(), 1, 0)), 1


def fd_set(m, s):
    return m.put((1 << s.fileno()).to_bytes(128, 'little'))


# Name of a call, what makes its socket, its arguments, and fields of the line.
SCENES = [
    ('recvfrom', udp, lambda m, s: (s.fileno(), m.put(bytes(16)), 16, 0x20, 0, 0),
     dict(requested='16', flags='MSG_TRUNC', way='CALL')),
    ('recvmsg', connected, lambda m, s: (s.fileno(), m.message(), 0), {}),
    ('recvmmsg', udp, lambda m, s: (s.fileno(), m.message(), 1, 0, 0), {}),
    ('read', connected, lambda m, s: (s.fileno(), m.put(bytes(16)), 16), dict(requested='16', way='CALL')),
    ('readv', udp, lambda m, s: (s.fileno(), m.iov(), 1), {}),
    ('preadv2', connected, lambda m, s: (s.fileno(), m.iov(), 1, ALL, ALL, 0), {}),
    ('sendto', full, lambda m, s: (s.fileno(), m.put(bytes(4096)), 4096, 0x4000, 0, 0),
     dict(requested='4096', flags='MSG_NOSIGNAL', way='CALL', family='AF_UNIX')),
    ('sendmsg', full, lambda m, s: (s.fileno(), m.message(), 0), {}),
    ('sendmmsg', full, lambda m, s: (s.fileno(), m.message(), 1, 0), {}),
    ('write', full, lambda m, s: (s.fileno(), m.put(bytes(4096)), 4096), dict(requested='4096', way='CALL')),
    ('writev', full, lambda m, s: (s.fileno(), m.iov(), 1), {}),
    ('pwritev2', full, lambda m, s: (s.fileno(), m.iov(), 1, ALL, ALL, 0), {}),
    ('sendfile', full, sent_file, dict(way='SENDFILE', requested=str(FILE_SIZE))),
    ('splice', connected, lambda m, s: (s.fileno(), 0, os.pipe()[1], 0, 100, 0), dict(way='SPLICE', requested='100')),
    ('splice', full, lambda m, s: (full_pipe(), 0, s.fileno(), 0, FILE_SIZE, 0),
     dict(way='SPLICE', requested=str(FILE_SIZE))),
    ('accept', listener, lambda m, s: (s.fileno(), 0, 0), dict(state='LISTEN')),
    ('accept4', listener, lambda m, s: (s.fileno(), 0, 0, socket.SOCK_CLOEXEC), dict(flags='SOCK_CLOEXEC')),
    ('connect', lambda: socket.socket(socket.AF_UNIX), crowded, dict(family='AF_UNIX')),
    ('epoll_wait', udp, lambda m, s: (instance(s), m.put(bytes(64)), 4, NEVER), dict(maximum='4', timeout=str(NEVER * 10**6))),
    ('epoll_pwait', udp, lambda m, s: (instance(s), m.put(bytes(64)), 5, -1, m.put(bytes(8)), 8),
     dict(maximum='5', timeout='-1', flags='SIGMASK')),
    ('epoll_pwait2', udp, lambda m, s: (instance(s), m.put(bytes(64)), 6, m.put(struct.pack('<qq', NEVER, 0)), 0, 0),
     dict(maximum='6', timeout='-2')),
    ('poll', udp, lambda m, s: (*pollfds(m, s), -1), dict(maximum='1', timeout='-1')),
    ('ppoll', udp, lambda m, s: (*pollfds(m, s), 0, 0, 0), dict(maximum='1', timeout='-1')),
    ('select', udp, lambda m, s: (s.fileno() + 1, fd_set(m, s), 0, 0, 0), dict(timeout='-1')),
    ('pselect6', udp, lambda m, s: (s.fileno() + 1, fd_set(m, s), 0, 0, 0, 0), dict(timeout='-1')),
]
SCENES = [scene for scene in SCENES if scene[0] in native.numbers]


def about(s):
    row = dict(cookie=str(cookie(s)), inode=str(os.fstat(s.fileno()).st_ino), family=s.family.name,
               type=socket.SocketKind(s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)).name,
               netns=str(os.stat('/proc/self/ns/net').st_ino))
    if s.family == socket.AF_INET:
        row.update(local=s.getsockname()[0], local_port=str(s.getsockname()[1]))
    return row


def until_asleep(tid, number=None):
    """Wait until a thread sleeps in a system call, and has left the processor. Returns its words in procfs."""
    end = time.monotonic() + 300
    while True:
        words = slurp(f'/proc/{tid}/syscall').split()
        if words[0] == str(number) or (number is None and words[0] not in ('running', '-1')):
            if sleeps_in(tid) != '0':
                return words
        is_true(time.monotonic() < end, f'{tid} does not wait in {number}, but: {words}')
        time.sleep(0.01)


class Child:
    """A child that waits in a call. @expected: the fields of its line, @fd: its descriptor in the call."""

    def __init__(self, scene, calls=native):
        name, make, arguments, fields = scene
        reading, writing = os.pipe()

        def act():
            m, s = Memory(), make()
            args = arguments(m, s)
            os.write(writing, pickle.dumps(about(s)))
            os.close(writing)
            getattr(calls, name)(*args)

        self.name = name
        self.pid = spawn(act)
        os.close(writing)
        with os.fdopen(reading, 'rb') as f:
            self.socket = pickle.loads(f.read())
        until_asleep(self.pid, native.numbers[name] if calls is native else None)
        self.fields = fields
        is_epoll = name in CALLS['epoll']
        self.category = 'epoll' if is_epoll else 'conn' if name in CALLS['conn'] else 'net'
        self.expected = ({} if is_epoll else self.socket) | fields

    def row(self):
        rows = [row for row in waiting(self.category) if row['pid'] == self.pid]
        is_equal(len(rows), 1)
        return rows[0]

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Children(list):
    def __enter__(self):
        return self

    def __exit__(self, *args):
        for child in self:
            child.kill()


def no_more_than_asked_for(found, seen):
    """Those that waited before and after, by procfs, and perhaps those that did at one of these times."""
    before, after = seen
    sure = {call for call, _ in before & after}
    perhaps = {call for call, _ in before | after}
    is_equal(sorted(sure - found, key=str), [])
    is_equal(sorted(found - perhaps, key=str), [])


def is_exact():
    """The lists of the whole machine are those of procfs."""
    before = waiting_by_proc()
    found = listed()
    no_more_than_asked_for(found, (before, waiting_by_proc()))
    return found


@SUITE.test('each call that waits is listed, of the whole machine as procfs has them, with its socket and arguments')
def each_call():
    set_filter()
    with Children() as children:
        children.extend(Child(scene) for scene in SCENES)
        found = is_exact()
        is_true({child.pid for child in children} <= {tid for _, tid, _, _ in found}, found)
        for child in children:
            row = child.row()
            is_equal({key: row.get(key) for key in child.expected}, child.expected)
            is_equal((row['tid'], row['comm']), (child.pid, slurp(f'/proc/{child.pid}/comm').strip()))
            is_true(not {'seq', 'result', 'cpu', 'latency'} & set(row), row)
        mine = {child.pid for child in children}
        set_filter(f'tree={os.getpid()}')
        is_equal({tid for _, tid, _, _ in listed()}, mine)
    is_equal(listed(), set())


@SUITE.test('calls of 32-bit programs are listed, those by socketcall(2) without their descriptor')
def narrow():
    calls = Calls32()
    if calls.program: # not calls of the child
        calls.end()
        return
    scenes = [
        ('recvfrom', udp, lambda m, s: (s.fileno(), bytes(16), 16, 0x20, 0, 0), dict(requested='16', flags='MSG_TRUNC')),
        ('read', connected, lambda m, s: (s.fileno(), bytes(16), 16), dict(requested='16')),
        ('write', full, lambda m, s: (s.fileno(), bytes(4096), 4096), dict(requested='4096')),
        ('accept4', listener, lambda m, s: (s.fileno(), 0, 0, socket.SOCK_CLOEXEC), dict(flags='SOCK_CLOEXEC')),
        ('epoll_wait', udp, lambda m, s: (instance(s), bytes(64), 4, NEVER), dict(timeout=str(NEVER * 10**6))),
        ('poll', udp, lambda m, s: (struct.pack('<ihh', s.fileno(), 1, 0), 1, -1), dict(maximum='1', timeout='-1')),
        ('_newselect', udp, lambda m, s: (s.fileno() + 1, (1 << s.fileno()).to_bytes(128, 'little'), 0, 0, 0),
         dict(op='SELECT', timeout='-1')),
        ('ppoll_time64', udp, lambda m, s: (struct.pack('<ihh', s.fileno(), 1, 0), 1, 0, 0, 0), dict(maximum='1')),
        ('socketcall', listener, lambda m, s: (5, struct.pack('<III', s.fileno(), 0, 0)), dict(op='ACCEPT', fd=None)),
        ('socketcall', udp, lambda m, s: (10, struct.pack('<IIII', s.fileno(), calls.place(bytes(16)), 16, 0)),
         dict(op='RECV', fd=None, way='OTHER')),
    ]
    op_names = {'accept4': 'conn', 'epoll_wait': 'epoll', 'poll': 'epoll', '_newselect': 'epoll', 'ppoll_time64': 'epoll'}
    set_filter(f'tree={os.getpid()}')
    with Children() as children:
        for scene in scenes:
            child = Child(scene, calls)
            children.append(child)
            child.category = op_names.get(child.name, 'net')
            if child.fields.get('op') == 'ACCEPT':
                child.category = 'conn'
            row = child.row()
            known = child.socket if child.name != 'socketcall' and child.category != 'epoll' else {}
            for key, value in (known | child.fields).items():
                is_equal((child.name, key, row.get(key)), (child.name, key, value))
        is_equal(sorted(tid for _, tid, _, _ in listed()), sorted(child.pid for child in children))


def of(name, conditions):
    set_filter(conditions, names=[name])
    return {row['pid'] for row in waiting(name)}


@SUITE.test('the filter of the category selects the threads, started or not: who, operation and socket')
def filters():
    set_filter()
    scenes = {scene[0]: scene for scene in SCENES}
    with Children() as children:
        for name in 'recvfrom', 'read', 'sendto', 'accept', 'epoll_pwait', 'ppoll':
            if name in scenes:
                children.append(Child(scenes[name]))
        by_name = {child.name: child for child in children}
        tree = f'tree={os.getpid()} '
        udp_, tcp, unix = (by_name[name] for name in ('recvfrom', 'read', 'sendto'))
        group, uid = category_of(udp_.pid), os.geteuid()
        comm = slurp(f'/proc/{udp_.pid}/comm').strip()
        everybody = {udp_.pid, tcp.pid, unix.pid}
        for condition, pids in (
                (f'pid={tcp.pid}', {tcp.pid}), (f'tid={tcp.pid},{udp_.pid}', {tcp.pid, udp_.pid}),
                (f'{tree}comm={comm}', everybody), (f'{tree}comm=nobody', set()),
                (f'{tree}uid={uid}', everybody), (f'{tree}uid={uid + 1}', set()),
                (f'{tree}op=RECV', {udp_.pid, tcp.pid}), (f'{tree}op=SEND', {unix.pid}),
                (f'{tree}family=AF_UNIX', {unix.pid}), (f'{tree}proto=IPPROTO_UDP', {udp_.pid}),
                (f"{tree}port={tcp.socket['local_port']}", {tcp.pid}), (f'{tree}addr={HOST}', {udp_.pid, tcp.pid}),
                (f'{tree}addr=10.0.0.0/8', set()), (f"{tree}inode={unix.socket['inode']}", {unix.pid}),
                (f"{tree}netns={tcp.socket['netns']}", everybody), (f'{tree}netns=1', set()),
                (f'{tree}cgroup={group}', everybody), (f'{tree}cgroup={group + 1}', set()),
                # a call that has not ended has neither
                (f'{tree}min_latency=1000000000', everybody), (f'{tree}min_size=1000', everybody)):
            is_equal((condition, of('net', condition)), (condition, pids))
            category.command('start', category='net')
            is_equal((condition, {row['pid'] for row in waiting('net')}), (condition, pids))
            category.command('stop', category='net')
        is_equal(of('conn', f"{tree}port={by_name['accept'].socket['local_port']}"), {by_name['accept'].pid})
        is_equal(of('conn', f'{tree}port=1'), set())
        is_equal(of('epoll', f'{tree}op=POLL'), {by_name['ppoll'].pid})
    set_filter()


def category_of(pid):
    """The inode number of a process's group in the unified hierarchy."""
    path = re.search(r'^0::(.*)$', slurp(f'/proc/{pid}/cgroup'), re.M)[1]
    for root in '/sys/fs/cgroup', '/sys/fs/cgroup/unified':
        if os.path.exists(f'{root}/cgroup.controllers'):
            return os.stat(root + path).st_ino
    return 1


@SUITE.test('a stopped thread is not listed; a poll(2) that goes on after it is, as one that is made again')
def stopped():
    set_filter(f'tree={os.getpid()}')
    scenes = {scene[0]: scene for scene in SCENES}
    with Children() as children:
        children.extend(Child(scenes[name]) for name in ('ppoll', 'recvfrom', 'epoll_pwait'))
        before = {child.name: child.row() for child in children}
        for child in children:
            os.kill(child.pid, signal.SIGSTOP)
            os.waitpid(child.pid, os.WUNTRACED)
        is_equal(listed(), set())
        for child in children:
            os.kill(child.pid, signal.SIGCONT)
        poll, receive, _ = children
        until_asleep(receive.pid, native.numbers['recvfrom'])
        is_equal(receive.row(), before['recvfrom'])
        # ppoll(2) is made again as it was, poll(2) by another system call
        until_asleep(poll.pid, native.numbers['ppoll'])
        is_equal(poll.row(), before['ppoll'])
    if 'poll' not in scenes:
        return
    with Children() as children:
        children.extend(Child((*scenes['poll'][:2], lambda m, s, t=t: (*pollfds(m, s), t), {})) for t in (-1, NEVER))
        for child in children:
            os.kill(child.pid, signal.SIGSTOP)
            os.waitpid(child.pid, os.WUNTRACED)
            os.kill(child.pid, signal.SIGCONT)
            until_asleep(child.pid, native.numbers['restart_syscall'])
        forever, limited = (child.row() for child in children)
        for row in forever, limited:
            is_equal((row['op'], row['maximum'], row['flags']), ('POLL', '1', 'AGAIN'))
        is_equal(forever['timeout'], '-1')
        is_true(0 < int(limited['timeout']) <= NEVER * 10**6, limited)


@SUITE.test('a descriptor that is closed while the call waits leads to no socket; the call is listed')
def closed():
    set_filter(f'tree={os.getpid()}')
    reading, writing = os.pipe()

    def act():
        m, s = Memory(), connected()
        thread = threading.Thread(target=native.recvfrom, args=(s.fileno(), m.put(bytes(16)), 16, 0, 0, 0), daemon=True)
        thread.start()
        until_asleep(thread.native_id, native.numbers['recvfrom'])
        is_true('cookie' in waiting('net')[0], waiting('net'))
        fd = s.detach()
        os.close(fd)
        os.write(writing, pickle.dumps((fd, thread.native_id)))
        signal.pause()

    pid = spawn(act)
    fd, tid = pickle.loads(os.read(reading, 4096))
    row, = waiting('net')
    is_equal((row['op'], row['tid'], row['pid'], row['fd'], row['requested']), ('RECV', tid, pid, str(fd), '16'))
    is_true('cookie' not in row and 'family' not in row, row)
    is_equal(of('net', f'tree={os.getpid()} family=AF_INET'), set())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(reading)
    os.close(writing)


def in_pieces(name, size):
    fd = os.open(f'{IOT}/{name}/waiting', os.O_RDONLY)
    text = b''
    while part := os.read(fd, size):
        text += part
    os.close(fd)
    return text.decode()


@SUITE.test('many threads are listed once each, read in pieces of any size, from any position, between signals')
def many():
    set_filter(f'tree={os.getpid()}')
    scene = next(scene for scene in SCENES if scene[0] == 'recvfrom')
    with Children() as children:
        children.extend(Child(scene) for _ in range(100))
        text = slurp(f'{IOT}/net/waiting')
        is_equal([row['tid'] for row in parse(text)], sorted(child.pid for child in children))
        for size in 1, 100, 4096, 1 << 20:
            is_equal(in_pieces('net', size), text)
        fd = os.open(f'{IOT}/net/waiting', os.O_RDONLY)
        for at in 0, 1, 1000, len(text) - 1, len(text), len(text) + 1:
            is_equal(os.pread(fd, 500, at).decode(), text[at:at + 500])
        os.close(fd)
        came = []
        signal.signal(signal.SIGALRM, lambda *_: came.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for _ in range(20):
            is_equal(in_pieces('net', 4096), text)
        signal.setitimer(signal.ITIMER_REAL, 0)
        is_true(came, 'no signal came')


@SUITE.test('a trace has the calls that wait when recording ends, and what iotracer waiting shows', once=True)
def recorded():
    set_filter(f'tree={os.getpid()}')
    scenes = {scene[0]: scene for scene in SCENES}
    with Children() as children, tempfile.TemporaryDirectory() as place:
        children.extend(Child(scenes[name]) for name in ('recvfrom', 'accept', 'ppoll'))
        shown = json.loads(subprocess.run([TOOL, 'waiting', '-f', 'json'], check=True, stdout=subprocess.PIPE).stdout)
        of_children = [call for call in shown if call['pid'] in {child.pid for child in children}]
        is_equal(sorted((call['category'], call['op'], call['tid']) for call in of_children),
                 sorted((child.category, child.row()['op'], child.pid) for child in children))
        trace = place + '/trace'
        ended = subprocess.run([TOOL, 'record', '-c', ','.join(NAMES), '-f', f'tree={os.getpid()}', '--time=0.1', '-o', trace],
                               check=True, stderr=subprocess.PIPE, text=True)
        is_true(re.search(r'^  waiting   3 calls: 1 RECV, 1 ACCEPT, 1 POLL$', ended.stderr, re.M), ended.stderr)
        with open(trace + '/metadata.json', encoding='utf-8') as f:
            kept = {c['name']: c['waiting']['listed'] for c in json.load(f)['categories']}
        for child in children:
            call, = kept[child.category]
            is_equal({key: str(call.get(key)) for key in child.expected}, child.expected)
            is_equal((call['tid'], call['op']), (child.pid, child.row()['op']))


def churn(seconds):
    """Threads and processes that begin, wait for a moment, exec and end."""
    end = time.monotonic() + seconds

    def wait_often():
        s, other = socket.socketpair()
        s.settimeout(0.001)
        while time.monotonic() < end:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as new:
                new.settimeout(0.001)
                for one in s, new:
                    try:
                        one.recv(1)
                    except TimeoutError:
                        pass
        other.close()

    while time.monotonic() < end:
        threads = [threading.Thread(target=wait_often) for _ in range(4)]
        for thread in threads:
            thread.start()
        while time.monotonic() < end:
            pid = os.fork()
            if not pid:
                threading.Thread(target=native.recvfrom, args=(socket.socketpair()[0].detach(), 0, 0, 0, 0, 0), daemon=True).start()
                os.execv('/bin/true', ['true'])
            os.waitpid(pid, 0)
        for thread in threads:
            thread.join()


@SUITE.test('threads that begin, exec and end meanwhile, readers that are killed: each line is whole, those that stay are there')
@reloads
def changes():
    set_filter()
    scene = next(scene for scene in SCENES if scene[0] == 'recvfrom')
    busy = [spawn(churn, 8) for _ in range(2)]
    with Children() as children:
        children.extend(Child(scene) for _ in range(10))
        stay = {child.pid for child in children}
        end = time.monotonic() + 8
        rounds = collections.Counter()
        while time.monotonic() < end:
            rows = {name: waiting(name) for name in NAMES}
            is_true(stay <= {row['tid'] for row in rows['net']}, rows['net'])
            rounds['read'] += 1
            reader = spawn(lambda: [slurp(f'{IOT}/net/waiting') for _ in range(1000)])
            time.sleep(0.01)
            os.kill(reader, signal.SIGKILL)
            is_equal(os.waitpid(reader, 0)[1], signal.SIGKILL)
        is_true(rounds['read'], 'nothing was read')
        join(*busy)
        category.command('start', category='net')
        category.command('stop', category='net')
        unload() # although calls wait
