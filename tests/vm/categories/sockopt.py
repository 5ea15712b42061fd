# SPDX-License-Identifier: GPL-2.0
"""
Category sockopt: the options that programs set and get, as strace(1), the headers of programs and the
calls' own results have them.
"""
import collections
import ctypes
import errno
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading

from lib import category, syscalls
from lib.category import stops
from lib.iot import IOT, as_user, is_equal, is_true, join, reload, slurp, write
from lib.kernel import VERSION
from lib.machine import files_and_disk, umount_files_and_disk
from lib.never import Later
from lib.places import UAPI
from lib.process import spawn, waits_in
from lib.suite import reloads, Suite
from lib.syscalls import MACHINE, native

SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk, after=stops('sockopt'))

SOCKOPT = 'sockopt'
IP, SOCKET, TCP, UDP, IPV6, MPTCP, TLS = 0, 1, 6, 17, 41, 284, 282
LEVELS = {IP: 'SOL_IP', SOCKET: 'SOL_SOCKET', TCP: 'SOL_TCP', UDP: 'SOL_UDP', IPV6: 'SOL_IPV6',
          MPTCP: 'SOL_MPTCP', TLS: 'SOL_TLS'}
RCVTIMEO, RCVTIMEO_NEW, COOKIE, LINGER, REUSEADDR, RCVBUF = 20, 66, 57, 13, 2, 8
PAGE = mmap.PAGESIZE
USER = 1234

Call = collections.namedtuple('Call', 'op fd level option asked length result value flags',
                              defaults=('', ''))


def command(*lines):
    category.command(*lines, category=SOCKOPT)


def traced(work, *conditions):
    """Trace @work and its children. Returns its result, and the events."""
    command('stop', 'size 65536', 'reset',
            ' '.join((f'filter tree={os.getpid()}',) + conditions), 'start')
    result = work()
    command('stop')
    s = category.is_conserved(SOCKOPT)
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    return result, category.events(category=SOCKOPT)


def call_of(row):
    """What a row says of the call itself."""
    return Call(row['op'], int(row.get('fd', -1)), row['level'], row['option'], int(row.get('asked', 0)),
                int(row.get('length', 0)), int(row['result']), row.get('value', ''), row.get('flags', ''))


def set_(fd, level, option, value, length=None, calls=native):
    return calls.setsockopt(fd, level, option, value, len(value) if length is None else length)


def get(fd, level, option, size=4, calls=native):
    """Returns the result, and the bytes that the call returned."""
    value, length = ctypes.create_string_buffer(max(size, 1)), ctypes.c_int(size)
    result = calls.getsockopt(fd, level, option, value, ctypes.byref(length))
    return result, value.raw[:length.value] if result == 0 else b''


def one(work):
    """The only event of some work, and the work's result."""
    result, found = traced(work)
    is_equal(len(found), 1)
    return call_of(found[0]), result


def ints(*numbers):
    return struct.pack(f'<{len(numbers)}i', *numbers)


# Names


def constants(path, pattern):
    """{number: names} of the constants of a header."""
    found = collections.defaultdict(set)
    for name, number in re.findall(rf'^\s*#\s*define\s+({pattern})\s+(\d+)\b', slurp(path), re.M):
        found[int(number)].add(name)
    return found


def of_headers():
    """{level: {number: names}} as the headers of programs have them."""
    top = '/usr/include/'
    options = constants(top + 'linux/in.h', r'IP_\w+|MCAST_\w+')
    options6 = constants(top + 'linux/in6.h', r'IPV6_\w+')
    for number, names in options.items():
        options6[number] |= {n for n in names if n.startswith('MCAST_')}
    return {SOCKET: constants(top + 'asm-generic/socket.h', r'(?:SO|SCM)_\w+'), IP: options, IPV6: options6,
            TCP: constants(top + 'linux/tcp.h', r'TCP_\w+'), UDP: constants(top + 'linux/udp.h', r'UDP_\w+'),
            MPTCP: constants(top + 'linux/mptcp.h', r'MPTCP_(?!RST_)\w+'),
            TLS: constants(top + 'linux/tls.h', r'TLS_\w+')}


def of_list():
    """{level: {number: name}} of sockopt.def."""
    found = {level: {} for level in LEVELS}
    numbers = {name: level for level, name in LEVELS.items()}
    for level, name, number in re.findall(r'^IOT_OPTION\((\w+), (\w+), (\d+),', slurp(f'{UAPI}/sockopt.def'),
                                          re.M):
        found[numbers[level]][int(number)] = name
    return found


@SUITE.test('socket options: every name of the list, and of the headers of programs, as it is got')
def names():
    """All options from 0 on of each level are got. The names of known numbers are those of the headers."""
    headers, listed = of_headers(), of_list()
    s = socket.socket(socket.AF_INET6)

    def work():
        return {(level, option): get(s.fileno(), level, option, 64) for level in LEVELS
                for option in range(110)}

    results, found = traced(work)
    is_equal(len(found), len(results))
    for row, (level, option) in zip(found, results):
        result, value = results[level, option]
        is_equal((row['op'], row['level'], int(row['result']), int(row.get('length', 0)), row['asked']),
                 ('GET', LEVELS[level], result, len(value), '64'))
        name = listed[level].get(option, str(option))
        is_equal((level, option, row['option']), (level, option, name))
        if not name.isdigit() and option in headers[level]:
            is_true(name in headers[level][option], (name, headers[level][option]))
    for level, names_of in (('SOL_SOCKET', 'SO_'), ('SOL_TCP', 'TCP_'), ('SOL_IP', 'IP_'),
                            ('SOL_IPV6', 'IPV6_'), ('SOL_UDP', 'UDP_')):
        shown = {r['option'] for r in found if r['level'] == level and r['option'].startswith(names_of)}
        is_true(len(shown) >= 6, (level, shown))
    s.close()


@SUITE.test("socket options: Python's constants have these names, and all other levels theirs", once=True)
def pythons_names():
    """Every constant of Python's socket module that is an option, and every level."""
    prefixes = {'SO_': SOCKET, 'TCP_': TCP, 'IP_': IP, 'IPV6_': IPV6}
    # they are no options, or other names of one
    other = re.compile(r'(IP_(DEFAULT|MAX|RECVRETOPTS)|IPV6_(RTHDR_TYPE)|SO_(VM_|J1939)|TCP_CC_)')
    same = {'SO_RCVTIMEO': 'SO_RCVTIMEO_OLD', 'SO_SNDTIMEO': 'SO_SNDTIMEO_OLD',
            'SO_TIMESTAMP': 'SO_TIMESTAMP_OLD', 'IPV6_JOIN_GROUP': 'IPV6_ADD_MEMBERSHIP',
            'IPV6_LEAVE_GROUP': 'IPV6_DROP_MEMBERSHIP'}
    wanted = [(level, getattr(socket, name), same.get(name, name)) for name in dir(socket)
              for prefix, level in prefixes.items() if name.startswith(prefix) and not other.match(name)]
    is_true(len(wanted) > 60, wanted)
    levels = re.findall(r'^#define\s+(SOL_\w+)\s+(\d+)', slurp('/usr/include/' + MACHINE +
                                                               '-linux-gnu/bits/socket.h'), re.M)
    is_true(len(levels) > 20, levels)
    s = socket.socket(socket.AF_INET6)

    def work():
        for level, option, _ in wanted:
            get(s.fileno(), level, option)
        for _, level in levels:
            set_(s.fileno(), int(level), 77, ints(1))

    _, found = traced(work)
    is_equal([r['option'] for r in found[:len(wanted)]], [name for _, _, name in wanted])
    is_equal([r['level'] for r in found[len(wanted):]], [name for name, _ in levels])
    s.close()


# Values


def hexed(data):
    return 'hex:' + (data.hex() if len(data) < 30 else data[:28].hex() + '...')


VALUES = (
    (SOCKET, REUSEADDR, ints(1), '1'),
    (SOCKET, 36, ints(-2), '-2'), # SO_MARK
    (SOCKET, RCVBUF, ints(100000) + b'more', '100000'),
    (SOCKET, LINGER, ints(1, 30), '1/30'),
    (SOCKET, LINGER, b'\1', 'hex:01'),
    (SOCKET, RCVTIMEO, struct.pack('<qq', 5, 250000), '5.250000'),
    (SOCKET, RCVTIMEO, struct.pack('<qq', 5, 1000000), None),
    (SOCKET, RCVTIMEO, struct.pack('<qq', -5, 7), '-5.000007'),
    (SOCKET, RCVTIMEO_NEW, struct.pack('<qq', 1 << 40, 1), '1099511627776.000001'),
    (SOCKET, RCVTIMEO, ints(5, 6), None),
    (SOCKET, 37, ints(3), '3'), # SO_TIMESTAMPING_OLD
    (SOCKET, 37, ints(3, -4), '3/-4'),
    (SOCKET, 47, struct.pack('<Q', 2 ** 64 - 1), '18446744073709551615'), # SO_MAX_PACING_RATE
    (SOCKET, 47, struct.pack('<I', 2 ** 32 - 1), '4294967295'),
    (SOCKET, 25, b'lo\0', 'lo'), # SO_BINDTODEVICE
    (SOCKET, 25, b'a b;\xff\n\0', 'a\\040b\\073\\377\\012'),
    (SOCKET, 26, struct.pack('<QQ', 1, 0x1234567890), ''), # SO_ATTACH_FILTER: an address
    (SOCKET, 99, ints(1), 'hex:01000000'),
    (TCP, 13, b'reno', 'reno'), # TCP_CONGESTION
    (TCP, 13, b'x' * 32, 'x' * 32),
    (TCP, 13, b'x' * 33, 'x' * 32 + '...'),
    (TCP, 13, b'ok\0' + b'x' * 33, 'ok'),
    (TCP, 29, ints(1, 2, 3, 4, -5), '1/2/3/4/-5'), # TCP_REPAIR_WINDOW
    (TCP, 29, ints(*[-1234567890] * 20), '/'.join(['-1234567890'] * 5) + '...'),
    (TCP, 11, bytes(range(28)), None), # TCP_INFO
    (TCP, 11, bytes(range(29)), None),
    (TCP, 11, bytes(range(200)), None),
    (TCP, 33, b'secret of 16 bytes'[:16], ''), # TCP_FASTOPEN_KEY
    (TCP, 99, b'secret', ''),
    (IP, 1, b'\x10', '16'), # IP_TOS
    (IP, 1, b'\x10\xff\xff', '16'),
    (IP, 1, ints(16), '16'),
    (IP, 35, b'\xe0\0\0\1\x7f\0\0\1', None), # IP_ADD_MEMBERSHIP
    (IPV6, 67, b'\x10', 'hex:10'), # IPV6_TCLASS
    (IPV6, 26, ints(1), '1'),
    (TLS, 1, b'secret', ''),
    (270, 11, ints(1), 'hex:01000000'), # SOL_NETLINK
    (279, 1, b'secret', ''), # SOL_ALG
    (9999, 1, b'secret', ''),
    (-3, -4, b'secret', ''),
)


@SUITE.test('socket options: each kind of value that is set, as the program gave it')
def values():
    s = socket.socket()
    fd = s.fileno()
    results, found = traced(lambda: [set_(fd, *row[:3]) for row in VALUES])
    is_equal(len(found), len(VALUES))
    for row, result, (level, option, value, text) in zip(found, results, VALUES):
        call = call_of(row)
        is_equal((level, option, call.value), (level, option, hexed(value) if text is None else text))
        is_equal((call.op, call.fd, call.asked, call.length, call.result, call.flags),
                 ('SET', fd, len(value), 0, result, 'HIDDEN' if text == '' else ''))
    for row, shown in zip(found[-2:], (('9999', '1'), ('-3', '-4'))):
        is_equal((row['level'], row['option']), shown)
    is_true(0 in results and -errno.EDOM in results and -errno.ENOPROTOOPT in results, results)
    s.close()


@SUITE.test('socket options: what is got, as the call returned it')
def got():
    a, b = socket.socketpair()
    t = socket.socket()
    t.setsockopt(SOCKET, LINGER, ints(1, 12))
    t.setsockopt(SOCKET, RCVTIMEO, struct.pack('<qq', 3, 500000))
    t.setsockopt(TCP, 13, b'reno')
    t.setsockopt(SOCKET, 25, b'lo')
    ids = f'{os.getpid()}/{os.geteuid()}/{os.getegid()}'
    rows = ((t, SOCKET, LINGER, 8, '1/12'), (t, SOCKET, RCVTIMEO, 16, '3.500000'), (t, TCP, 13, 16, 'reno'),
            (t, SOCKET, 25, 16, 'lo'), (t, SOCKET, 3, 4, '1'), (t, SOCKET, 3, 2, None), (t, IP, 2, 4, '64'),
            (t, IP, 2, 1, '64'), (t, SOCKET, 3, 0, ''), (a, SOCKET, 17, 12, ids), (a, SOCKET, 39, 100, '1'),
            (t, TCP, 11, 200, None), (t, TCP, 33, 16, ''), (t, IP, 49, 4, '1'))
    results, found = traced(lambda: [get(row[0].fileno(), *row[1:4]) for row in rows])
    is_equal(len(found), len(rows))
    for row, (result, value), (s, level, option, size, text) in zip(found, results, rows):
        call = call_of(row)
        is_equal(result, 0)
        is_equal((level, option, call.value), (level, option, hexed(value) if text is None else text))
        hidden = 'HIDDEN' if (level, option) == (TCP, 33) and value else ''
        is_equal((call.op, call.fd, call.asked, call.length, call.result, call.flags),
                 ('GET', s.fileno(), size, len(value), 0, hidden))
    for s in a, b, t:
        s.close()


# Errors


@SUITE.test('socket options: calls that fail')
def failures():
    s, u = socket.socket(), socket.socket(socket.AF_UNIX)
    file = os.open('/proc/self/status', os.O_RDONLY)
    path = os.open('/', os.O_PATH)
    fd = s.fileno()
    length = struct.pack('<i', -1)
    bad = 1 << 20
    rows = (
        (lambda: set_(-1, SOCKET, REUSEADDR, ints(1)), errno.EBADF, '1', ''),
        (lambda: set_(99999, SOCKET, REUSEADDR, ints(1)), errno.EBADF, '1', ''),
        (lambda: set_(path, SOCKET, REUSEADDR, ints(1)), errno.EBADF, '1', ''),
        (lambda: set_(file, SOCKET, REUSEADDR, ints(1)), errno.ENOTSOCK, '1', ''),
        (lambda: set_(fd, SOCKET, REUSEADDR, ints(1), -1), errno.EINVAL, '', ''),
        (lambda: set_(fd, SOCKET, REUSEADDR, ints(1), 1), errno.EINVAL, 'hex:01', ''),
        (lambda: set_(fd, SOCKET, REUSEADDR, ints(1), 0), errno.EINVAL, '', ''),
        (lambda: set_(fd, SOCKET, REUSEADDR, bad, 4), errno.EFAULT, '', 'NO_VALUE'),
        (lambda: set_(fd, SOCKET, REUSEADDR, -1, 4), errno.EFAULT, '', 'NO_VALUE'),
        (lambda: set_(fd, SOCKET, REUSEADDR, 0, 4), errno.EFAULT, '', 'NO_VALUE'),
        (lambda: set_(fd, SOCKET, 99, ints(1)), errno.ENOPROTOOPT, 'hex:01000000', ''),
        (lambda: set_(u.fileno(), TCP, 1, ints(1)), errno.EOPNOTSUPP, '1', ''),
        (lambda: get(-1, SOCKET, 3)[0], errno.EBADF, '', ''),
        (lambda: get(file, SOCKET, 3)[0], errno.ENOTSOCK, '', ''),
        (lambda: get(fd, SOCKET, 99)[0], errno.ENOPROTOOPT, '', ''),
        (lambda: native.getsockopt(fd, SOCKET, 3, bytes(4), length), errno.EINVAL, '', ''),
        (lambda: native.getsockopt(fd, SOCKET, 3, bad, ints(4)), errno.EFAULT, '', ''),
        (lambda: native.getsockopt(fd, SOCKET, 3, bytes(4), bad), errno.EFAULT, '', 'NO_LENGTH'),
    )
    results, found = traced(lambda: [row[0]() for row in rows])
    is_equal(results, [-row[1] for row in rows])
    is_equal([(int(r['result']), r.get('value', ''), r.get('flags', '')) for r in found],
             [(-error, value, flags) for _, error, value, flags in rows])
    is_equal([int(r.get('inode', 0)) for r in found[:4]], [0] * 4)
    call, _ = one(lambda: as_user(USER, lambda: is_equal(set_(fd, SOCKET, 33, ints(1)), -errno.EPERM)))
    is_equal((call.option, call.result), ('SO_RCVBUFFORCE', -errno.EPERM))
    s.close()
    u.close()
    os.close(file)
    os.close(path)


# Ways in


def strace_lines(text):
    """(op, fd, level, option, result) of each call, as strace shows it."""
    return [(m[1], int(m[2]), m[3], m[4], int(m[5])) for m in re.finditer(
        r'(set|get)sockopt\((-?\d+), (\w+), (\w+),.*\) = (-?\d+)', text)]


PROGRAM = r'''
import socket
for family in socket.AF_INET, socket.AF_INET6:
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        s = socket.socket(family, kind)
        for level, option, value in ((1, 2, 1), (1, 8, 4096), (1, 9, 1), (6, 1, 1), (6, 4, 7), (0, 1, 16),
                                     (41, 26, 1), (17, 103, 100), (1, 13, b'\1\0\0\0\5\0\0\0')):
            try:
                s.setsockopt(level, option, value)
            except OSError:
                pass
            try:
                s.getsockopt(level, option, 16)
            except OSError:
                pass
'''


@SUITE.test('socket options: the same calls as strace has, with the same results')
def like_strace():
    def work():
        return subprocess.run(['strace', '-f', '-o', '/tmp/strace', '-e', 'trace=setsockopt,getsockopt',
                               sys.executable, '-I', '-c', PROGRAM], check=True)

    _, found = traced(work)
    expected = strace_lines(slurp('/tmp/strace'))
    is_equal(len(expected), 4 * 9 * 2)
    failed = sum(e[4] < 0 for e in expected)
    is_true(0 < failed < len(expected), failed)
    is_equal([(r['op'].lower(), int(r['fd']), r['level'], r['option'], -1 if int(r['result']) < 0 else 0)
              for r in found], expected)


@SUITE.test('socket options: calls of 32-bit programs, and socketcall(2)')
def by_32_bits():
    if MACHINE != 'x86_64':
        return
    calls = syscalls.Calls32()
    s = socket.socket()
    fd = s.fileno()
    short, wide = ints(7, 250000), struct.pack('<qq', 8, 1)

    def work():
        place = calls.place
        return [calls.setsockopt(fd, SOCKET, RCVTIMEO, short, 8),
                calls.setsockopt(fd, SOCKET, RCVTIMEO_NEW, wide, 16),
                calls.socketcall(14, struct.pack('<5I', fd, SOCKET, REUSEADDR, place(ints(1)), 4)),
                calls.socketcall(15, struct.pack('<5I', fd, SOCKET, LINGER, place(bytes(8)), place(ints(8)))),
                calls.getsockopt(fd, SOCKET, RCVTIMEO, place(bytes(8)), place(ints(8))),
                calls.setsockopt(fd, SOCKET, RCVTIMEO, 4, 8),
                calls.socketcall(14, 4)]

    results, found = traced(work)
    is_equal([ctypes.c_int(r).value for r in results], [0, 0, 0, 0, 0, -errno.EFAULT, -errno.EFAULT])
    is_equal([call_of(r) for r in found],
             [Call('SET', fd, 'SOL_SOCKET', 'SO_RCVTIMEO_OLD', 8, 0, 0, '7.250000', 'COMPAT'),
              Call('SET', fd, 'SOL_SOCKET', 'SO_RCVTIMEO_NEW', 16, 0, 0, '8.000001', 'COMPAT'),
              Call('SET', fd, 'SOL_SOCKET', 'SO_REUSEADDR', 4, 0, 0, '1', 'COMPAT'),
              Call('GET', fd, 'SOL_SOCKET', 'SO_LINGER', 8, 8, 0, '0/0', 'COMPAT'),
              # since 6.x in jiffies: 8.000001 is rounded up
              Call('GET', fd, 'SOL_SOCKET', 'SO_RCVTIMEO_OLD', 8, 8, 0, found[4]['value'], 'COMPAT'),
              Call('SET', fd, 'SOL_SOCKET', 'SO_RCVTIMEO_OLD', 8, 0, -errno.EFAULT, '', 'COMPAT|NO_VALUE')])
    is_equal(found[4]['value'].split('.')[0], '8')
    s.close()


URING_CMD, URING_GET, URING_SET, ASYNC, FIXED_FILE, REGISTER_FILES = 46, 2, 3, 16, 1, 2


@SUITE.test('socket options: requests of io_uring')
def by_uring():
    ring = syscalls.Uring()
    s = socket.socket()
    fd = s.fileno()
    is_equal(ring.calls.io_uring_register(ring.fd, REGISTER_FILES, ints(-1, fd), 2), 0)

    def submit(op, level, option, value, length, **more):
        return ring.submit(URING_CMD, off=op, addr=level | option << 32, addr3=value, splice_fd=length,
                           **{'fd': fd, **more})

    def work():
        return [submit(URING_SET, SOCKET, LINGER, ints(1, 9), 8),
                submit(URING_GET, SOCKET, LINGER, bytes(8), 8),
                submit(URING_SET, TCP, 13, b'reno', 4, flags=ASYNC),
                submit(URING_SET, SOCKET, REUSEADDR, ints(1), 4, fd=1, flags=FIXED_FILE),
                submit(URING_GET, TCP, 13, bytes(16), 16),
                submit(URING_SET, SOCKET, REUSEADDR, 4, 4),
                submit(0, SOCKET, 0, 0, 0)] # SOCKET_URING_OP_SIOCINQ

    results, found = traced(work)
    if VERSION < (6, 7):
        is_equal((set(results[:6]), found), ({-errno.EOPNOTSUPP}, []))
        return
    is_equal(results, [0, 8, 0, 0, -errno.EOPNOTSUPP, -errno.EFAULT, 0])
    is_equal([call_of(r) for r in found],
             [Call('SET', fd, 'SOL_SOCKET', 'SO_LINGER', 8, 0, 0, '1/9', 'URING'),
              Call('GET', fd, 'SOL_SOCKET', 'SO_LINGER', 8, 8, 8, '1/9', 'URING'),
              Call('SET', fd, 'SOL_TCP', 'TCP_CONGESTION', 4, 0, 0, 'reno', 'URING'),
              Call('SET', 1, 'SOL_SOCKET', 'SO_REUSEADDR', 4, 0, 0, '1', 'URING|FIXED_FILE'),
              Call('GET', fd, 'SOL_TCP', 'TCP_CONGESTION', 16, 0, -errno.EOPNOTSUPP, '', 'URING'),
              Call('SET', fd, 'SOL_SOCKET', 'SO_REUSEADDR', 4, 0, -errno.EFAULT, '', 'URING|NO_VALUE')])
    is_equal({(int(r['pid']), r['inode']) for r in found}, {(os.getpid(), str(os.fstat(fd).st_ino))})
    is_equal([r['tid'] == os.getpid() for r in found], [True, True, False, True, True, True])
    os.close(ring.fd)
    s.close()


# Sockets


FAMILIES = ((socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, 'AF_UNIX', 'SOCK_SEQPACKET', 0),
            (socket.AF_INET, socket.SOCK_STREAM, 0, 'AF_INET', 'SOCK_STREAM', 6),
            (socket.AF_INET, socket.SOCK_STREAM, 262, 'AF_INET', 'SOCK_STREAM', 262),
            (socket.AF_INET6, socket.SOCK_DGRAM, 0, 'AF_INET6', 'SOCK_DGRAM', 17),
            (socket.AF_INET6, socket.SOCK_RAW, 58, 'AF_INET6', 'SOCK_RAW', 58),
            (socket.AF_NETLINK, socket.SOCK_RAW, 15, 'AF_NETLINK', 'SOCK_RAW', 15))


@SUITE.test('socket options: the socket: cookie, inode, namespace, family, type, protocol')
def sockets():
    for family, kind, protocol, *shown in FAMILIES:
        with socket.socket(family, kind, protocol) as s:
            (_, value), found = traced(lambda: get(s.fileno(), SOCKET, COOKIE, 8))
            cookie, = struct.unpack('<Q', value)
            r, = found
            is_equal((r['family'], r['type'], int(r.get('protocol', 0))), tuple(shown))
            is_equal((int(r['cookie']), r['value'], int(r['inode']), int(r['netns'])),
                     (cookie, str(cookie), os.fstat(s.fileno()).st_ino, os.stat('/proc/self/ns/net').st_ino))


class Elsewhere(socket.socket):
    """A socket of TCP of another network namespace, with the number of that."""
    netns = ''


def elsewhere():
    a, b = socket.socketpair()

    def other():
        is_equal(syscalls.libc.unshare(0x40000000), 0) # CLONE_NEWNET
        s = socket.socket()
        socket.send_fds(a, [str(os.stat('/proc/self/ns/net').st_ino).encode()], [s.fileno()])

    join(spawn(other))
    netns, (fd,), _, _ = socket.recv_fds(b, 100, 1)
    found = Elsewhere(fileno=fd)
    found.netns = netns.decode()
    for s in a, b:
        s.close()
    return found


@SUITE.test("socket options: a socket of another network namespace, passed to this one", once=True)
def namespaces():
    with elsewhere() as s:
        _, found = traced(lambda: set_(s.fileno(), SOCKET, REUSEADDR, ints(1)))
        is_equal([r['netns'] for r in found], [s.netns])
        is_true(int(s.netns) != os.stat('/proc/self/ns/net').st_ino, s.netns)


@SUITE.test('socket options: filters', once=True)
def filters():
    a, b = socket.socket(), socket.socket()

    def both():
        for s in a, b:
            set_(s.fileno(), SOCKET, REUSEADDR, ints(1))
            get(s.fileno(), SOCKET, 3)
        get(-1, SOCKET, 3)

    def found(*conditions):
        _, rows = traced(both, *conditions)
        return [(r['op'], int(r.get('fd', -1))) for r in rows]

    x, y = a.fileno(), b.fileno()
    is_equal(found(), [('SET', x), ('GET', x), ('SET', y), ('GET', y), ('GET', -1)])
    is_equal(found('op=SET'), [('SET', x), ('SET', y)])
    is_equal(found(f'inode={os.fstat(y).st_ino}'), [('SET', y), ('GET', y)])
    is_equal(found(f'inode={os.fstat(y).st_ino}', 'op=GET'), [('GET', y)])
    is_equal(found('min_latency=60000000000'), [])
    is_equal(found('comm=nobody'), [])
    for key in 'dev=8:0', 'kind=socket', 'min_size=1', 'op=READ', 'path=/', 'port=80', 'addr=::1':
        is_equal((key, write(f'{IOT}/{SOCKOPT}/control', f'filter {key}\n')), (key, 'EINVAL'))
    a.close()
    b.close()


@SUITE.test('socket options: filters by family, protocol and namespace', once=True)
def filters_on_sockets():
    kinds = ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET6, socket.SOCK_DGRAM),
             (socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_INET, socket.SOCK_DGRAM),
             (socket.AF_NETLINK, socket.SOCK_RAW, TCP))
    made = [socket.socket(*kind) for kind in kinds] + [elsewhere()]
    fds = [s.fileno() for s in made]
    here, there = (str(os.stat('/proc/self/ns/net').st_ino), made[-1].netns)

    def work():
        for fd in fds + [-1]:
            get(fd, SOCKET, REUSEADDR)

    tcp4, udp6, local, udp4, netlink, remote = fds
    for condition, expected in (
            ('family=inet', [tcp4, udp4, remote]), ('family=inet6', [udp6]), ('family=unix,netlink', [local, netlink]),
            ('proto=tcp', [tcp4, remote]), # not NETLINK_XFRM, which has that number
            ('proto=udp', [udp6, udp4]), ('proto=6,17 family=inet', [tcp4, udp4, remote]), ('proto=mptcp', []),
            (f'netns={here}', [tcp4, udp6, local, udp4, netlink]), (f'netns={there}', [remote]),
            (f'netns={here},{there} proto=tcp', [tcp4, remote]), ('netns=1', [])):
        rows = traced(work, condition)[1]
        is_equal((condition, [int(r['fd']) for r in rows]), (condition, expected))
    for s in made:
        s.close()


@SUITE.test('socket options: hooked only while started; by kretprobe the calls are the same')
@reloads
def hooked():
    def lines():
        return [line for line in slurp(IOT + '/hooks').split('\n')
                if re.match('__sys_[gs]etsockopt |io_uring_cmd_sock ', line)]

    is_equal(lines(), [])
    command('start')
    is_equal(len(lines()), 3 if VERSION >= (6, 7) else 2)
    is_true(all(' 1 0 ' in line for line in lines()), lines())
    command('stop')
    is_equal(lines(), [])
    reload('attach=kprobe')
    for test in values, failures, by_32_bits, by_uring:
        test()
    reload()


# Who waits, hides or floods


@SUITE.test('socket options: a value that arrives during the call is read after it')
def late():
    """What the kernel waits for is in the record, with a flag."""
    s = socket.socket()
    page = Later()
    thread = threading.Thread(target=set_, args=(s.fileno(), SOCKET, LINGER, page.address, 8))

    def work():
        thread.start()
        waits_in(thread.native_id, 'handle_userfault')
        page.arrive(ints(1, 77))
        thread.join()

    _, found = traced(work)
    is_equal([call_of(r) for r in found],
             [Call('SET', s.fileno(), 'SOL_SOCKET', 'SO_LINGER', 8, 0, 0, '1/77', 'LATE')])
    s.close()


@SUITE.test('socket options: a value that ends where memory ends')
def at_the_edge():
    """The kernel reads what the option needs, a name up to its end: the length may reach beyond."""
    s = socket.socket()
    memory = mmap.mmap(-1, 2 * PAGE)
    at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    is_equal(syscalls.native.munmap(at + PAGE, PAGE), 0)
    memory[PAGE - 10:PAGE] = ints(5) + b'cubic\0'
    rows = ((SOCKET, REUSEADDR, PAGE - 10, 1000, 0, '5'), (TCP, 13, PAGE - 6, 5, 0, 'cubic'),
            (TCP, 13, PAGE - 6, 7, 0, 'cubic'),
            (SOCKET, REUSEADDR, PAGE - 2, 4, -errno.EFAULT, 'hex:6300...'))
    results, found = traced(lambda: [set_(s.fileno(), level, option, at + offset, length)
                                     for level, option, offset, length, _, _ in rows])
    is_equal(results, [r[4] for r in rows])
    is_equal([(int(r['result']), r['value']) for r in found], [r[4:] for r in rows])
    s.close()


@SUITE.test('socket options: calls that wait for ever keep nothing, and are recorded when they end')
@reloads
def unbounded():
    """The module is unloaded while a call waits for its value. A killed call ends with an error."""
    def never():
        page = Later()
        set_(s.fileno(), SOCKET, REUSEADDR, page.address, 4)

    for parameters in ('attach=auto', 'attach=kprobe'):
        reload(parameters)
        s, page = socket.socket(), Later()
        command('reset', f'filter tree={os.getpid()}', 'start')
        pid = spawn(never)
        waits_in(pid, 'handle_userfault')
        os.kill(pid, signal.SIGKILL)
        is_equal(os.waitpid(pid, 0)[1], signal.SIGKILL)
        call, = [call_of(r) for r in category.events(category=SOCKOPT)]
        is_equal((call.result, call.flags), (-errno.EFAULT, 'NO_VALUE'))
        thread = threading.Thread(target=set_, args=(s.fileno(), SOCKET, REUSEADDR, page.address, 4))
        thread.start()
        waits_in(thread.native_id, 'handle_userfault')
        reload(parameters)
        is_true(thread.is_alive(), 'the call has ended')
        page.arrive(ints(1))
        thread.join()
        is_equal(s.getsockopt(SOCKET, REUSEADDR), 1)
        s.close()


@SUITE.test('socket options: thousands of sockets, closed and used by all threads')
def flood():
    """Each call is an event, whatever happens to its descriptor meanwhile."""
    threads, calls = 4, 500

    def worker():
        done = 0
        for i in range(calls):
            fd = syscalls.native.socket(2, 1, 0)
            native.setsockopt(fd, SOCKET, REUSEADDR, ints(1), 4)
            native.close(fd - 1 if i % 7 == 0 and fd > 50 else fd)
            native.getsockopt(fd, SOCKET, 3, bytes(4), ints(4))
            done += 2
        return done

    def work():
        def run():
            os.closerange(3, 40)
            many = [threading.Thread(target=worker) for _ in range(threads)]
            for t in many:
                t.start()
            for t in many:
                t.join()
        join(spawn(run))

    _, found = traced(work)
    of = collections.Counter(r['op'] for r in found)
    is_equal(dict(of), {'SET': threads * calls, 'GET': threads * calls})
    is_true({int(r['result']) for r in found} <= {0, -errno.EBADF, -errno.ENOTSOCK}, of)
