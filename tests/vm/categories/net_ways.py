# SPDX-License-Identifier: GPL-2.0
"""
Category net: MSG_ZEROCOPY and its notifications, receives that are no call of a receive function, and the calls
that fail. The counts of others are the queue of errors of the socket, TCP_INFO as ss shows it, and strace.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import re
import select
import socket
import struct
import sys
import termios
import time
from typing import NamedTuple

from lib.category import stops
from lib.iot import is_equal, is_true, join, reload, slurp
from lib.machine import execute, files_and_disk, umount_files_and_disk
from lib.net import cookie, link_up, new_namespace, until
from lib.net_calls import are_recorded, begin, command, end, fails, HOST4, HOST6, NET, tcp, udp
from lib.process import spawn
from lib.suite import Suite
from lib.syscalls import native

SO_ZEROCOPY, MSG_ZEROCOPY = 60, 0x4000000
SO_EE_CODE_ZEROCOPY_COPIED = 1
EXTENDED_ERROR = struct.Struct('=IBBBxII') # errno, origin, type, code, info, data
TCP_ZEROCOPY_RECEIVE = 35
PAGE = 4096
UDP_HEADER = 8
DATA = b'z' * 20000


def setup():
    files_and_disk()
    link_up('lo')
    reload()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=stops(NET))


class Notice(NamedTuple):
    """A notification as the queue of errors has it, and when it was read."""
    first: int
    last: int
    copied: bool
    time: int


def notices(s, last):
    """The notifications of a socket up to this number."""
    poll = select.poll()
    poll.register(s, 0)
    found = []
    while not found or found[-1].last < last:
        is_true(poll.poll(60000), f'{found}, none for {last}')
        for _, _, data in s.recvmsg(1, 256, socket.MSG_ERRQUEUE)[1]:
            number, origin, _, code, info, last_ = EXTENDED_ERROR.unpack_from(data)
            is_equal((number, origin), (0, 5)) # SO_EE_ORIGIN_ZEROCOPY
            found.append(Notice(info, last_, bool(code & SO_EE_CODE_ZEROCOPY_COPIED), time.monotonic_ns()))
    return found


def zerocopy(s):
    s.setsockopt(socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    return s


class Sender:
    """Sends with MSG_ZEROCOPY, and what the records have to say of them."""

    def __init__(self, said, s):
        self.said, self.socket, self.number, self.first = said, zerocopy(s), 0, 0

    def send(self, data, *, more=0, remote=None):
        flags = MSG_ZEROCOPY | more
        size = self.socket.sendto(data, flags, remote) if remote else self.socket.send(data, flags)
        self.said.add(self.socket, 'SEND', len(data), size, flags='MSG_MORE|MSG_ZEROCOPY' if more else 'MSG_ZEROCOPY',
                      flags2='NOTIFIED', remote=remote)
        self.said.rows[-1].update(zerocopy_first=self.number, zerocopy_last=self.number)
        self.number += 1

    def is_notified(self, requested, copied):
        """
        The sends since the last call have one notification, and its bytes. Its record is just after the first of
        them, as its time is in that one.
        """
        said, of_sends = self.said, self.number - self.first
        found = notices(self.socket, self.number - 1)
        is_equal([n[:3] for n in found], [(self.first, self.number - 1, copied)])
        said.add(self.socket, 'ZEROCOPY', requested, 0, way='KERNEL', fd=-1, flags2='COPIED' if copied else '')
        row = said.rows.pop()
        row.update(zerocopy_first=self.first, zerocopy_last=self.number - 1)
        said.rows.insert(len(said.rows) - of_sends + 1, row)
        self.first = self.number


@SUITE.test('MSG_ZEROCOPY: each number, range and copy that the queue of errors has, of TCP and UDP')
def zerocopies():
    def stream(said, family, host):
        one, two = tcp(family, host)
        sender = Sender(said, one)
        for _ in range(3):
            sender.send(DATA)
            sender.is_notified(20000, True)
        # one notification for several sends, which are in one packet
        for size in 100, 200, 300:
            sender.send(DATA[:size], more=socket.MSG_MORE)
        sender.send(DATA[:400])
        sender.is_notified(1000, True)
        is_equal(len(two.recv(61000, socket.MSG_WAITALL)), 61000)

    def datagrams(said, family, host):
        one, two = udp(family, host)
        sender = Sender(said, one)
        for _ in range(3):
            sender.send(DATA, remote=two.getsockname())
            sender.is_notified(20000 + UDP_HEADER, True)
            is_equal(len(two.recv(30000)), 20000)

    for calls in stream, datagrams:
        for family, host in (socket.AF_INET, HOST4), (socket.AF_INET6, HOST6):
            are_recorded(lambda said, calls=calls, family=family, host=host: calls(said, family, host),
                         'op=SEND,ZEROCOPY')


@SUITE.test('MSG_ZEROCOPY: pages that a device has sent are not copied')
def zerocopy_by_device():
    def calls(said):
        new_namespace()
        execute('ip', 'link', 'add', 'sink', 'type', 'dummy')
        execute('ip', 'addr', 'add', '10.77.1.1/24', 'dev', 'sink')
        execute('ip', 'link', 'set', 'sink', 'up')
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(('10.77.1.2', 9))
            sender = Sender(said, s)
            for _ in range(3):
                sender.send(DATA[:1400])
                sender.is_notified(1400 + UDP_HEADER, False)

    execute('modprobe', 'dummy', 'numdummies=0')
    are_recorded(calls, 'op=SEND,ZEROCOPY')
    execute('modprobe', '-r', 'dummy')


@SUITE.test('MSG_ZEROCOPY: a send that fails has no number, nor one of a socket without SO_ZEROCOPY')
def zerocopy_without_number():
    def calls(said):
        one, two = tcp()
        said.add(one, 'SEND', 700, one.send(DATA[:700], MSG_ZEROCOPY), flags='MSG_ZEROCOPY')
        sender = Sender(said, one)
        sender.send(DATA)
        sender.is_notified(20000, True)
        one.setblocking(False)
        got = 20700
        while True:
            try:
                size = one.send(bytes(1 << 20))
            except BlockingIOError:
                break
            said.add(one, 'SEND', 1 << 20, size, flags='MSG_DONTWAIT')
            got += size
        said.add(one, 'SEND', 1 << 20, -11, flags='MSG_DONTWAIT')
        said.add(one, 'SEND', 20000, fails(11, one.send, DATA, MSG_ZEROCOPY), flags='MSG_DONTWAIT|MSG_ZEROCOPY')
        while got:
            got -= len(two.recv(min(got, 1 << 20)))
        one.setblocking(True)
        sender.send(DATA) # the number that the failed one has given back
        sender.is_notified(20000, True)

    are_recorded(calls, 'op=SEND,ZEROCOPY')


def ns(record):
    return round(record['time'] * 1e9)


@SUITE.test('MSG_ZEROCOPY: a notification that comes later, in an interrupt, is the sender\'s, with its latency')
def zerocopy_later():
    reading, writing = os.pipe()

    def act():
        new_namespace()
        execute('tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', '50ms')
        one, _ = tcp()
        zerocopy(one)
        begin()
        for number in range(3):
            one.send(DATA, MSG_ZEROCOPY)
            found = notices(one, number)
        os.write(writing, repr((os.getpid(), cookie(one), found[-1].time)).encode())

    execute('modprobe', 'sch_netem')
    join(spawn(act))
    # pylint: disable=eval-used
    pid, number, read = eval(os.read(reading, 1000).decode())
    records = [e for e in end() if e['cookie'] == str(number)]
    sends = [e for e in records if e['op'] == 'SEND']
    found = sorted((e for e in records if e['op'] == 'ZEROCOPY'), key=lambda e: e['time'])
    is_equal((len(sends), len(found)), (3, 3))
    for send, notice in zip(sends, found):
        is_equal((notice['pid'], notice['tid'], notice['comm']), (pid, pid, send['comm']))
        is_equal([notice.get(f) for f in ('ppid', 'uid', 'cgroup')], [send.get(f) for f in ('ppid', 'uid', 'cgroup')])
        is_true(ns(send) <= ns(notice) <= ns(send) + int(send['latency']), (send, notice))
        is_true(int(notice['latency']) >= 50_000_000, notice)
        is_true(ns(notice) + int(notice['latency']) <= read, (notice, read))
    execute('modprobe', '-r', 'sch_netem')
    os.close(reading)
    os.close(writing)


MAP = struct.Struct('=QIIIiQiIQQII') # struct tcp_zerocopy_receive


@SUITE.test('TCP_ZEROCOPY_RECEIVE: the bytes that are mapped and those that are copied are a receive')
def mapped():
    def calls(said):
        one, two = tcp()
        area = native.mmap(0, 16 * PAGE, mmap.PROT_READ, mmap.MAP_SHARED, two.fileno(), 0)
        is_true(area > 0, area)
        room = ctypes.create_string_buffer(PAGE)
        pages = mmap.mmap(-1, 4 * PAGE)
        zerocopy(one).send(pages, MSG_ZEROCOPY) # what comes is in whole pages
        one.send(b'r' * 100)
        until(lambda: waiting_in(two) == 4 * PAGE + 100)
        for in_pages, copied in (4 * PAGE, 100), (0, 0):
            asked = ctypes.create_string_buffer(MAP.pack(area, 16 * PAGE, 0, 0, 0, ctypes.addressof(room), PAGE, 0, 0, 0,
                                                         0, 0), MAP.size)
            is_equal(native.getsockopt(two.fileno(), socket.IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, asked,
                                       ctypes.byref(ctypes.c_int(MAP.size))), 0)
            got = MAP.unpack(asked)
            is_equal((got[1], got[6]), (in_pages, copied))
            said.add(two, 'RECV', 17 * PAGE, in_pages + copied, way='MAPPED')
        asked = MAP.pack(area + 1, 16 * PAGE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) # no page begins there
        said.add(two, 'RECV', 16 * PAGE, native.getsockopt(two.fileno(), socket.IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, asked,
                                                           ctypes.byref(ctypes.c_int(MAP.size))), way='MAPPED')
        is_equal(said.rows[-1]['result'], -errno.EINVAL)

    are_recorded(calls, 'op=RECV')


def waiting_in(s):
    """Bytes that have come and were not received."""
    return struct.unpack('i', fcntl.ioctl(s, termios.FIONREAD, bytes(4)))[0]


# --- NVMe over TCP -----------------------------------------------------------------------------

TARGET = '/sys/kernel/config/nvmet'
SUBSYSTEM, PORT = TARGET + '/subsystems/iot', TARGET + '/ports/1'
NVME_PORT = 4420
IMAGE = '/mnt/files/nvme'
SIZE = 1 << 20


def put(path, text):
    with open(path, 'w', encoding='ascii') as f:
        f.write(str(text))


def make_target():
    """Serve a file by NVMe over TCP. Returns its bytes."""
    execute('modprobe', '-a', 'configfs', 'nvmet-tcp', 'nvme-tcp')
    execute('mount', '-t', 'configfs', 'configfs', '/sys/kernel/config')
    data = os.urandom(SIZE)
    with open(IMAGE, 'wb') as f:
        f.write(data)
    os.makedirs(SUBSYSTEM + '/namespaces/1')
    put(SUBSYSTEM + '/attr_allow_any_host', 1)
    put(SUBSYSTEM + '/namespaces/1/device_path', IMAGE)
    put(SUBSYSTEM + '/namespaces/1/buffered_io', 1)
    put(SUBSYSTEM + '/namespaces/1/enable', 1)
    os.makedirs(PORT)
    for name, value in ('trtype', 'tcp'), ('adrfam', 'ipv4'), ('traddr', HOST4), ('trsvcid', NVME_PORT):
        put(f'{PORT}/addr_{name}', value)
    os.symlink(SUBSYSTEM, PORT + '/subsystems/iot')
    return data


def connect_host():
    """Connect to it. Returns the name of the controller."""
    fd = os.open('/dev/nvme-fabrics', os.O_RDWR)
    os.write(fd, f'transport=tcp,traddr={HOST4},trsvcid={NVME_PORT},nqn=iot,nr_io_queues=1,keep_alive_tmo=600'.encode())
    number = re.match(rb'instance=(\d+),', os.read(fd, 100))[1].decode()
    os.close(fd)
    until(lambda: os.path.exists(f'/dev/nvme{number}n1'))
    return 'nvme' + number


def remove_target(controller):
    put(f'/sys/class/nvme/{controller}/delete_controller', 1)
    os.unlink(PORT + '/subsystems/iot')
    os.rmdir(PORT)
    put(SUBSYSTEM + '/namespaces/1/enable', 0)
    os.rmdir(SUBSYSTEM + '/namespaces/1')
    os.rmdir(SUBSYSTEM)
    execute('modprobe', '-r', 'nvme-tcp', 'nvmet-tcp')
    execute('umount', '/sys/kernel/config')
    os.unlink(IMAGE)


def received_by_ss():
    """Bytes that each connected socket of the initiator has received, by its number."""
    text = execute('ss', '-tinHeO', f'dport = :{NVME_PORT}')
    return {int(number, 16): int(count) for number, count in re.findall(r'\bsk:(\w+).*\bbytes_received:(\d+)', text)}


def read_directly(path, size):
    buffer = mmap.mmap(-1, size)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    is_equal(os.readv(fd, [buffer]), size)
    os.close(fd)
    return bytes(buffer)


@SUITE.test('NVMe over TCP: what the initiator takes from its sockets is what they have received')
def read_sock():
    data = make_target()
    command('stop', 'size 65536', 'mode overwrite', 'sample 1', 'filter none', 'reset', f'filter port={NVME_PORT}',
            'start')
    controller = connect_host()
    is_equal(read_directly(f'/dev/{controller}n1', SIZE), data)
    received = received_by_ss()
    records = end()
    is_equal(len(received), 2) # one of the controller, one for data
    taken = [e for e in records if e['op'] == 'RECV' and e['remote_port'] == str(NVME_PORT)]
    sums = {number: sum(int(e.get('moved', 0)) for e in taken if e['cookie'] == str(number)) for number in received}
    is_equal(sums, received)
    # the handshake is received by the process that connects, the data by threads of the kernel
    is_true(sum(int(e['moved']) for e in taken if e['way'] == 'KERNEL') > SIZE, sums)
    is_equal({e['way'] for e in taken}, {'KERNEL', 'OTHER'})
    remove_target(controller)


# --- strace -----------------------------------------------------------------------------------

STRACED = r'''
import ctypes, os, signal, socket, struct
libc = ctypes.CDLL(None)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
DONTWAIT, OOB, ERRQUEUE, ZEROCOPY = 0x40, 1, 0x2000, 0x4000000
KEPT = []
BAD = ctypes.c_void_p(8)


def header(data, size, to, flags=0):
    address = ctypes.create_string_buffer(to, len(to)) if to else None
    vector = ctypes.create_string_buffer(struct.pack('QQ', data if isinstance(data, int) else ctypes.addressof(data), size))
    KEPT.append((address, vector))
    return struct.pack('QIxxxxQQQQIxxxx', ctypes.addressof(address) if to else 0, len(to or b''),
                       ctypes.addressof(vector), 1, 0, 0, flags)


def sends(s, size=100, flags=0, to=None, bad=False, times=1):
    """Each call that sends."""
    s = s if isinstance(s, int) else s.fileno()
    data = 8 if bad else ctypes.create_string_buffer(b'd' * size, size)
    KEPT.append(data)
    pointer = BAD if bad else data
    for _ in range(times):
        if not to:
            libc.send(s, pointer, size, flags)
        libc.sendto(s, pointer, size, flags, to, len(to or b''))
        libc.sendmsg(s, header(data, size, to), flags)
        libc.sendmmsg(s, ctypes.create_string_buffer((header(data, size, to) + bytes(8)) * 3), 3, flags)


def receives(s, size=100, flags=0, bad=False):
    """Each call that receives."""
    s = s if isinstance(s, int) else s.fileno()
    data = 8 if bad else ctypes.create_string_buffer(size)
    KEPT.append(data)
    pointer = BAD if bad else data
    libc.recv(s, pointer, size, flags)
    libc.recvfrom(s, pointer, size, flags, ctypes.create_string_buffer(200), ctypes.byref(ctypes.c_int(200)))
    libc.recvmsg(s, ctypes.create_string_buffer(header(data, size, None)), flags)
    libc.recvmmsg(s, ctypes.create_string_buffer((header(data, size, None) + bytes(8)) * 3), 3, flags, None)


def inet(port, host='127.0.0.1', family=socket.AF_INET):
    return struct.pack('=H', family) + struct.pack('>H', port) + socket.inet_aton(host) + bytes(8)


def unix(path):
    return struct.pack('=H', socket.AF_UNIX) + path


def tcp():
    with socket.socket() as server:
        server.bind(('127.0.0.1', 0))
        server.listen()
        one = socket.create_connection(server.getsockname())
        two = server.accept()[0]
    KEPT.extend((one, two))
    return one, two


def reset():
    """A socket whose other end has sent a reset."""
    one, two = tcp()
    two.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    two.close()
    return one


def new(family=socket.AF_INET, kind=socket.SOCK_DGRAM):
    s = socket.socket(family, kind)
    KEPT.append(s)
    return s


def refused(s):
    """A datagram has been refused."""
    s.connect(('127.0.0.1', 9))
    libc.send(s.fileno(), b'd', 1, 0)
    return s


for make in tcp, socket.socketpair:
    one, two = make()
    KEPT.extend((one, two))
    sends(one)
    receives(two)
    receives(two, flags=DONTWAIT)                       # EAGAIN
    while libc.send(one.fileno(), bytes(1 << 18), 1 << 18, DONTWAIT) >= 0:
        pass
    sends(one, flags=DONTWAIT)                          # EAGAIN
    receives(two, bad=True)                             # EFAULT
    one.shutdown(socket.SHUT_WR)
    sends(one)                                          # EPIPE
one, two = socket.socketpair()
sends(one, bad=True)                                    # EFAULT
sends(one, to=unix(b'/tmp/none'))                       # EISCONN
sends(new(socket.AF_UNIX, socket.SOCK_STREAM), to=unix(b'/tmp/none')) # EOPNOTSUPP
sends(new(socket.AF_UNIX), to=unix(b'/tmp/none'))       # ENOENT
sends(new(socket.AF_UNIX))                              # ENOTCONN
one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
sends(one, size=1 << 20)                                # EMSGSIZE
two.close()
sends(one)                                              # ECONNREFUSED
receives(new(socket.AF_UNIX, socket.SOCK_SEQPACKET))    # ENOTCONN
receives(new(kind=socket.SOCK_STREAM))                  # ENOTCONN
sends(new(kind=socket.SOCK_STREAM))                     # EPIPE
receives(tcp()[0], flags=OOB)                           # EINVAL
for _ in range(2):
    sends(reset())                                      # ECONNRESET
    receives(reset())
s = new()
sends(s)                                                # EDESTADDRREQ
sends(s, to=inet(9)[:8])                                # EINVAL
sends(s, to=inet(0))
sends(s, to=inet(9, family=99))                         # EAFNOSUPPORT
sends(s, to=inet(9, '198.51.100.1'))                    # ENETUNREACH
sends(s, to=inet(9, '127.255.255.255'))                 # EACCES
sends(s, to=inet(9), size=100000)                       # EMSGSIZE
sends(s, to=inet(9), flags=OOB)                         # EOPNOTSUPP
receives(s, flags=ERRQUEUE)                             # EAGAIN
sends(refused(new()))                                   # ECONNREFUSED
receives(refused(new()), flags=DONTWAIT)
s.setsockopt(socket.SOL_SOCKET, 60, 1)                  # SO_ZEROCOPY
most = '/proc/sys/net/core/optmem_max'
with open(most) as f:
    old = f.read()
with open(most, 'w') as f:
    f.write('1')
sends(s, to=inet(9), flags=ZEROCOPY)                    # ENOBUFS
with open(most, 'w') as f:
    f.write(old)
signal.signal(signal.SIGALRM, lambda *_: None)
data = ctypes.create_string_buffer(100)
s = new()
s.bind(('127.0.0.1', 0))
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)        # EINTR
receives(s)
signal.setitimer(signal.ITIMER_REAL, 0)

# What fails before it reaches the socket. The number of the socket is 900.
os.dup2(s.fileno(), 900)
null = os.open('/dev/null', os.O_RDWR)
for fd in 777, null:                                    # EBADF, ENOTSOCK
    sends(fd)
    receives(fd)
libc.sendto(900, data, 10, 0, BAD, 16)                  # EFAULT
libc.sendmsg(900, BAD, 0)
libc.recvmsg(900, BAD, 0)
libc.send(900, ctypes.c_void_p(2 ** 64 - 4096), 10, 0)
libc.sendto(900, data, 10, 0, bytes(200), 200)          # EINVAL
libc.sendmmsg(900, BAD, 1, 0)
'''
STRACE = re.compile(r'^(\d+) +(send|recv)(to|from|msg|mmsg)\((\d+), (.*)\) += (-?\d+|\?)(?: (E\w+))?', re.M)
BEFORE = 900
ERRORS = ('EAGAIN EPIPE ECONNRESET EMSGSIZE ENOTCONN EDESTADDRREQ EINVAL EAFNOSUPPORT ENETUNREACH EACCES EOPNOTSUPP '
          'ECONNREFUSED ENOBUFS EINTR EFAULT EISCONN ENOENT')


class Straced(NamedTuple):
    """A call as strace shows it."""
    pid: int
    op: str
    many: bool
    fd: int
    flags: frozenset
    result: int

    def is_before(self):
        """Does it fail before it reaches the socket?"""
        return self.fd == BEFORE or self.result in (-errno.EBADF, -errno.ENOTSOCK)

    def described(self, record):
        """The result, bytes and flags of a record of this call, if they are those of the call."""
        flags = set(record.get('flags', '').split('|')) - {'', 'MSG_BATCH'}
        return (record['op'], record['pid'], int(record.get('fd', -1)), flags)


def straced():
    """The calls in the order in which they were made."""
    found = []
    for pid, way, form, fd, args, result, error in STRACE.findall(slurp('/tmp/strace')):
        flags = re.match(r'(?:"[^"]*"(?:\.\.\.)?|0x\w+), \d+, ([A-Z_|]+|0)', args) if form in ('to', 'from') else \
            re.search(r', ([A-Z_|]+|0)(?:, NULL)?$', args)
        is_true(flags, args)
        error = 'EINTR' if error.startswith('ERESTART') else error
        found.append(Straced(int(pid), 'SEND' if way == 'send' else 'RECV', form == 'mmsg', int(fd),
                             frozenset(set(flags[1].split('|')) - {'0'}),
                             -getattr(errno, error) if error else int(result)))
    return found


def take(records, call):
    """Take the records of a call from a list, and compare them."""
    def first():
        is_true(records, call)
        record = records.pop(0)
        is_equal(call.described(record), (call.op, call.pid, call.fd, call.flags))
        moved = int(record.get('moved', 0))
        is_equal(moved, max(int(record['result']), 0))
        is_equal(record['way'], 'CALL')
        return int(record['result'])

    if not call.many or call.result < 0:
        is_equal((call, first()), (call, call.result))
        return
    # each message is a record, and so is one that fails after others
    for _ in range(call.result):
        is_true(first() >= 0, call)
    if call.result < 3:
        is_true(first() < 0, call)


@SUITE.test('calls that send and receive: the same as strace has, with every error')
def like_strace():
    begin()
    join(spawn(execute, 'strace', '-f', '-o', '/tmp/strace', '-e', 'trace=%network', '-e', 'signal=none',
               sys.executable, '-I', '-c', STRACED))
    records = sorted(end(), key=lambda e: e['time'])
    calls = straced()
    for call in calls:
        if not call.is_before():
            take(records, call)
    is_equal(records, [])
    errors = {-call.result for call in calls if call.result < 0 and not call.is_before()}
    is_equal([name for name in ERRORS.split() if getattr(errno, name) not in errors], [])
    before = {-call.result for call in calls if call.is_before()}
    is_equal(before, {errno.EBADF, errno.ENOTSOCK, errno.EFAULT, errno.EINVAL})
