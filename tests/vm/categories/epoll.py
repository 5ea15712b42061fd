# SPDX-License-Identifier: GPL-2.0
"""
Category epoll: calls of epoll, poll and select, as strace shows them and as their callers know them.

A child makes calls. What strace prints of each, or what the child passed and got, has to be in the
records, in the same order, and nothing else.
"""
import ctypes
import errno
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import tempfile
import threading

from lib import category, syscalls
from lib.category import stops
from lib.iot import IOT, PARAMETERS, drain, is_equal, is_true, join, reload, slurp, write
from lib.kernel import VERSION
from lib.machine import files_and_disk, umount_files_and_disk
from lib.never import Later
from lib.process import POLL, spawn, waits_in
from lib.suite import reloads, Suite
from lib.syscalls import MACHINE, native


SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk, after=stops('epoll'))

EPOLL = 'epoll'
MISSED = [] # calls missed when tracing started
ADD, DEL, MOD = 1, 2, 3
CLOEXEC = 0x80000
NO_DESCRIPTOR = 12345
KERNEL_ADDRESS = 2**64 - 4096
EVENT = struct.Struct('<IQ' if MACHINE == 'x86_64' else '<IxxxxQ')
POLLFD = struct.Struct('<ihh')
TIMES = struct.Struct('<qq')
WAITS = 'ep_poll', 'do_epoll', 'do_select', *POLL
URING_CTL, URING_WAIT = 29, 59
EVENTS = {'EPOLLIN': 1, 'EPOLLPRI': 2, 'EPOLLOUT': 4, 'EPOLLERR': 8, 'EPOLLHUP': 16,
          'EPOLLNVAL': 32, 'EPOLLRDNORM': 64, 'EPOLLRDBAND': 128, 'EPOLLWRNORM': 256,
          'EPOLLWRBAND': 512, 'EPOLLMSG': 1024, 'EPOLLRDHUP': 0x2000, 'EPOLLEXCLUSIVE': 1 << 28,
          'EPOLLWAKEUP': 1 << 29, 'EPOLLONESHOT': 1 << 30, 'EPOLLET': 1 << 31}
# "?": a call that a machine may lack
CALLS = ('?epoll_create,epoll_create1,epoll_ctl,?epoll_wait,epoll_pwait,epoll_pwait2,'
         '?poll,ppoll,?select,pselect6,restart_syscall')


def command(*lines):
    category.command(*lines, category=EPOLL)


def start(*conditions):
    """Start to trace. stop() wants no call to be missed since then."""
    MISSED.append(category.stats(EPOLL)['missed'])
    command('stop', 'size 65536', 'reset', ' '.join(('filter',) + conditions), 'start')


def stop():
    command('stop')
    s = category.is_conserved(EPOLL)
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, MISSED.pop()))
    return category.events(category=EPOLL)


def traced(work, *conditions):
    """Trace a child that calls the function. Returns the function's result, and the records."""
    reading, writing = os.pipe()

    def call():
        os.write(writing, repr(work()).encode())

    start(f'tree={os.getpid()}', *conditions)
    pid = spawn(call)
    os.close(writing)
    result = drain(reading).decode()
    os.close(reading)
    join(pid)
    # pylint: disable=eval-used
    return eval(result), [r for r in stop() if r['pid'] != os.getpid()]


def number(r, field):
    return int(r.get(field, '0'), 0)


def descriptor(r, field):
    """A negative one is not in the text of the log."""
    return int(r.get(field, '-1'))


def events_of(text):
    """The number that names of events stand for, those of poll(2) as well."""
    total = 0
    for word in text.split('|') if text else []:
        total |= EVENTS.get(word.replace('POLL', 'EPOLL').replace('EEPOLL', 'EPOLL')) or int(word, 0)
    return total


def shown(r):
    """A record as operation, fd, target, events, maximum, timeout, result."""
    return (r['op'], descriptor(r, 'fd'), descriptor(r, 'target'), events_of(r.get('events')),
            number(r, 'maximum'), number(r, 'timeout'), number(r, 'result'))


def flags(r):
    return set(r['flags'].split('|')) if 'flags' in r else set()


def event(mask, data=0):
    return EVENT.pack(mask, data)


def pollfds(*pairs):
    return b''.join(POLLFD.pack(fd, mask, 0) for fd, mask in pairs)


# What strace prints.

def errno_of(text):
    return -getattr(errno, text.split()[1]) if text.startswith('-1 ') else None


def result_of(text):
    """The result at the end of a line; one that the kernel makes again counts as EINTR."""
    if text.startswith('?'):
        return -errno.EINTR
    error = errno_of(text)
    return int(text.split()[0]) if error is None else error


def ns_of(text):
    """A timeout, as {tv_sec=1, tv_nsec=2}, NULL or an address."""
    if text == 'NULL':
        return -1
    # it prints some negative numbers without a sign
    parts = [int(n) if int(n) < 2**63 else int(n) - 2**64
             for n in re.findall(r'tv_\w+=(-?\d+)', text)]
    if not parts:
        return -2
    seconds, rest = parts
    if 'usec' in text:
        rest *= 1000
        seconds, rest = (seconds + rest // 10**9, rest % 10**9) if rest >= 0 else (seconds, rest)
    return -2 if seconds < 0 or not 0 <= rest < 10**9 else min(seconds * 10**9 + rest, 2**63 - 1)


def ms_of(text):
    return -1 if int(text) < 0 else int(text) * 10**6


def split(text):
    """The arguments of a call: separated by commas outside of brackets."""
    parts, depth, part = [], 0, ''
    for c in text:
        depth += (c in '[{(') - (c in ']})')
        if c == ',' and not depth:
            parts.append(part.strip())
            part = ''
        else:
            part += c
    return parts + [part.strip()] if part.strip() else parts


def has_mask(line):
    """Whether the call has a signal mask, be it one that the kernel refuses."""
    name, a = re.match(r'(\w+)\((.*)\) += ', line).groups()
    at = {'epoll_pwait': 4, 'epoll_pwait2': 4, 'ppoll': 3, 'pselect6': 5}.get(name)
    return at is not None and re.match(r'NULL|{sigmask=NULL|0x8$', split(a)[at]) is None


def of_ctl(a, result):
    op = {'EPOLL_CTL_ADD': 'EPOLL_CTL_ADD', 'EPOLL_CTL_MOD': 'EPOLL_CTL_MOD',
          'EPOLL_CTL_DEL': 'EPOLL_CTL_DEL'}.get(a[1].split()[0], 'EPOLL_CTL')
    found = re.search(r'events=([^,]*),', a[3]) if op != 'EPOLL_CTL_DEL' else None
    return op, max(int(a[0]), -1), int(a[2]), events_of(found[1]) if found else 0, 0, 0, result


def of_wait(a, result, ns):
    returned = re.findall(r'events=([^,]*),', a[1])[:8]
    mask = 0
    for text in returned if result > 0 else ():
        mask |= events_of(text)
    return 'EPOLL_WAIT', int(a[0]), -1, mask, int(a[2]), ns, result


def of_poll(a, result, ns):
    asked = re.findall(r'fd=(-?\d+)(?:, events=([^},]*))?', a[0])
    n = int(a[1])
    mask = 0
    for fd, text in asked if n <= 8 else ():
        mask |= events_of(text if text != '0' else '') if int(fd) >= 0 else 0
    target = int(asked[0][0]) if n == 1 and asked else -1
    return 'POLL', -1, target, mask, n, ns, result


def of_select(a, result):
    mask = sum(bit for text, bit in zip(a[1:4], (1, 4, 2)) if text != 'NULL')
    return 'SELECT', -1, -1, mask, int(a[0]), ns_of(a[4]), result


def of_line(line):
    """What a line of strace says, as shown() has it."""
    m = re.fullmatch(r'(\w+)\((.*)\) += (.*)', line)
    is_true(m, line)
    name, a, result = m[1], split(m[2]), result_of(m[3])
    if name.startswith('epoll_create'):
        return ('EPOLL_CREATE', max(result, -1), -1, 0,
                int(a[0]) if name == 'epoll_create' else 0, 0, result)
    return {'epoll_ctl': lambda: of_ctl(a, result),
            'epoll_wait': lambda: of_wait(a, result, ms_of(a[3])),
            'epoll_pwait': lambda: of_wait(a, result, ms_of(a[3])),
            'epoll_pwait2': lambda: of_wait(a, result, ns_of(a[3])),
            'poll': lambda: of_poll(a, result, ms_of(a[2])),
            'ppoll': lambda: of_poll(a, result, ns_of(a[2])),
            'select': lambda: of_select(a, result),
            'pselect6': lambda: of_select(a, result)}[name]()


def under_strace(work):
    """Trace a child that strace follows. Returns what strace printed, and the records."""
    reading, writing = os.pipe()

    def call():
        os.read(reading, 1)
        work()

    pid = spawn(call)
    with tempfile.NamedTemporaryFile(mode='r', dir='/tmp') as printed, \
            subprocess.Popen(['strace', '-o', printed.name, '-v', '-s', '99', '-e', 'trace=' + CALLS, '-e', 'signal=none',
                              '-p', str(pid)], stderr=subprocess.PIPE, text=True) as strace:
        is_true('attached' in strace.stderr.readline(), 'strace')
        start(f'pid={pid}')
        os.write(writing, b'x')
        join(pid)
        strace.wait()
        lines = printed.read().splitlines()
    os.close(reading)
    os.close(writing)
    return [line for line in lines if not line.startswith(('---', '+++'))], stop()


def compare(work):
    lines, found = under_strace(work)
    of_strace = [of_line(line) for line in lines]
    for line, expected, r in zip(lines, of_strace, found):
        is_true(shown(r) == expected, f'{line}\nis       {shown(r)} {r}\nexpected {expected}')
    is_equal(len(found), len(of_strace))
    return lines, found


def call(name, *args):
    """A call that this machine has (arm64 lacks the older ones), or None."""
    return getattr(native, name)(*args) if name in native.numbers else None


def calls_of_epoll():
    reader, writer = os.pipe()
    other, far = socket.socketpair()
    with open('/mnt/files/plain', 'w') as plain:
        epfd = native.epoll_create1(CLOEXEC)
        nested = native.epoll_create1(0)
        call('epoll_create', 7)
        for size in 0, -5:
            call('epoll_create', size)
        native.epoll_create1(0x123)
        ctl = native.epoll_ctl
        ctl(epfd, ADD, reader, event(1 | EVENTS['EPOLLET'], 0x1234567890))
        ctl(epfd, ADD, reader, event(1, 1))                      # EEXIST
        ctl(epfd, MOD, reader, event(1 | EVENTS['EPOLLONESHOT'] | EVENTS['EPOLLRDHUP'], 0x77))
        ctl(epfd, MOD, other.fileno(), event(4, 2))              # ENOENT
        ctl(epfd, DEL, other.fileno(), 0)                        # ENOENT
        ctl(epfd, ADD, plain.fileno(), event(1, 3))              # EPERM
        ctl(epfd, ADD, NO_DESCRIPTOR, event(1, 3))               # EBADF
        ctl(NO_DESCRIPTOR, ADD, reader, event(1, 3))             # EBADF
        ctl(reader, ADD, writer, event(1, 3))                    # EINVAL: no epoll instance
        ctl(epfd, ADD, epfd, event(1, 3))                        # EINVAL: itself
        ctl(epfd, 9, reader, event(1, 3))                        # EINVAL: no such operation
        ctl(epfd, ADD, writer, 0)                                # EFAULT
        ctl(epfd, ADD, writer, KERNEL_ADDRESS)                   # EFAULT
        ctl(epfd, ADD, nested, event(1, 4))
        ctl(nested, ADD, epfd, event(1, 4))                      # ELOOP
        ctl(epfd, ADD, other.fileno(), event(5 | EVENTS['EPOLLEXCLUSIVE'], 5))
        ctl(epfd, MOD, other.fileno(), event(5 | EVENTS['EPOLLEXCLUSIVE'], 5)) # EINVAL
        ctl(epfd, DEL, nested, KERNEL_ADDRESS)                   # is not looked at
        os.write(writer, b'x')
        far.send(b'x')
        room = ctypes.create_string_buffer(EVENT.size * 20)
        mask = struct.pack('<Q', 1 << signal.SIGUSR1 - 1)
        call('epoll_wait', epfd, room, 20, -1)
        call('epoll_wait', epfd, room, 20, 0)
        call('epoll_wait', nested, room, 3, 2)
        call('epoll_wait', epfd, room, 0, 0)                     # EINVAL
        call('epoll_wait', epfd, room, -3, 5)                    # EINVAL
        call('epoll_wait', NO_DESCRIPTOR, room, 1, 0)            # EBADF
        call('epoll_wait', reader, room, 1, 0)                   # EINVAL
        call('epoll_wait', epfd, 8, 1, 0)                        # EFAULT
        call('epoll_wait', epfd, KERNEL_ADDRESS, 1, 0)           # EFAULT
        native.epoll_pwait(epfd, room, 20, 0, mask, 8)
        native.epoll_pwait(nested, room, 20, 1, 0, 8)
        native.epoll_pwait(epfd, room, 20, 0, mask, 3)           # EINVAL
        native.epoll_pwait2(nested, room, 2, TIMES.pack(0, 1500), mask, 8)
        native.epoll_pwait2(epfd, room, 2, 0, 0, 8)
        native.epoll_pwait2(nested, room, 2, TIMES.pack(0, 10**9), 0, 8) # EINVAL
        native.epoll_pwait2(nested, room, 2, TIMES.pack(-1, 0), 0, 8)    # EINVAL
        native.epoll_pwait2(nested, room, 2, 8, 0, 8)            # EFAULT


@SUITE.test('epoll: every call and every error of epoll_create, epoll_ctl and epoll_wait as strace shows it')
def epoll_calls():
    lines, found = compare(calls_of_epoll)
    errors = {number(r, 'result') for r in found}
    expected = {-getattr(errno, name) for name in 'EEXIST ENOENT EPERM EBADF EINVAL EFAULT ELOOP'.split()}
    is_true(expected <= errors, errors)
    data = {re.search(r'u64=(\w+)', line)[1] for line in lines if 'EPOLL_CTL_' in line and 'u64=' in line}
    is_equal({number(r, 'data') for r in found if r['op'].startswith('EPOLL_CTL')} - {0},
             {int(text, 0) for text in data} - {0})
    is_equal([i for i, r in enumerate(found) if 'SIGMASK' in flags(r)],
             [i for i, line in enumerate(lines) if has_mask(line)])
    is_equal([r['flags'] for r in found if r['op'] == 'EPOLL_CREATE' and 'flags' in r],
             ['EPOLL_CLOEXEC', '0x123'])
    is_equal({r['op'] for r in found if 'UNREAD' in flags(r)}, {'EPOLL_CTL_ADD', 'EPOLL_WAIT'})


def calls_of_poll():
    reader, writer = os.pipe()
    far = os.dup(writer)
    times = TIMES.pack
    mask = struct.pack('<Q', 1 << signal.SIGUSR1 - 1)
    pack = struct.pack
    call('poll', pollfds((reader, 1)), 1, 3)
    call('poll', pollfds((reader, 1), (writer, 4), (-1, 2), (far, 0)), 4, -1)
    call('poll', pollfds((NO_DESCRIPTOR, 1)), 1, 0)              # POLLNVAL
    call('poll', 0, 0, 1)
    call('poll', 0, 2, 1)                                        # EFAULT
    call('poll', KERNEL_ADDRESS, 1, 1)                           # EFAULT
    call('poll', pollfds(*[(reader, 1)] * 9), 9, 0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    call('poll', pollfds((reader, 1)), 65, 0)                    # EINVAL
    native.ppoll(pollfds((reader, 0x2003)), 1, times(0, 2000), mask, 8)
    native.ppoll(pollfds((writer, 4)), 1, 0, 0, 8)
    native.ppoll(pollfds((writer, 4)), 1, times(0, -1), 0, 8)    # EINVAL
    native.ppoll(pollfds((writer, 4)), 1, times(-1, 0), 0, 8)    # EINVAL
    native.ppoll(pollfds((writer, 4)), 1, 8, 0, 8)               # EFAULT
    native.ppoll(pollfds((writer, 4)), 1, times(2**62, 5), mask, 4) # EINVAL
    sets = [(1 << fd).to_bytes(128, 'little') for fd in (reader, writer)]
    call('select', writer + 1, sets[0], 0, 0, times(0, 1000))
    call('select', writer + 1, sets[0], sets[1], sets[0], 0)
    call('select', 0, 0, 0, 0, times(0, 5))
    call('select', -1, 0, 0, 0, times(0, 5))                     # EINVAL
    call('select', 64, (1 << 63).to_bytes(128, 'little'), 0, 0, times(0, 1500000)) # EBADF
    call('select', writer + 1, 8, 0, 0, times(0, 0))             # EFAULT
    call('select', writer + 1, sets[0], 0, 0, times(-1, 0))      # EINVAL
    call('select', writer + 1, sets[0], 0, 0, times(0, -1))      # EINVAL
    call('select', writer + 1, sets[0], 0, 0, 8)                 # EFAULT
    keep = ctypes.create_string_buffer(mask)
    given = pack('<QQ', ctypes.addressof(keep), 8)
    native.pselect6(writer + 1, sets[0], 0, 0, times(0, 3000), given)
    native.pselect6(writer + 1, 0, sets[1], 0, 0, pack('<QQ', 0, 8))
    native.pselect6(writer + 1, 0, sets[1], 0, 0, 0)
    native.pselect6(writer + 1, 0, sets[1], 0, times(5, 10**9), 0) # EINVAL
    native.pselect6(writer + 1, 0, sets[1], 0, 0, 8)             # EFAULT


@SUITE.test('epoll: every call and every error of poll and select as strace shows it')
def poll_calls():
    lines, found = compare(calls_of_poll)
    errors = {number(r, 'result') for r in found}
    is_true({-errno.EINVAL, -errno.EFAULT, -errno.EBADF} <= errors or 'select' not in native.numbers, errors)
    masked = [i for i, line in enumerate(lines) if has_mask(line)]
    is_equal([i for i, r in enumerate(found) if 'SIGMASK' in flags(r)], masked)
    is_true(len(masked) >= 3, lines)


@SUITE.test("epoll: results of Python's own calls")
def of_python():
    """The library's calls of each kind, with their results."""
    def work():
        results = []
        pairs = [socket.socketpair() for _ in range(5)]
        with select.epoll() as epoll:
            for a, _ in pairs:
                epoll.register(a, select.EPOLLIN | select.EPOLLET)
            for n, (_, b) in enumerate(pairs):
                b.send(b'x')
                results.append(len(epoll.poll(0)))
                epoll.modify(pairs[n][0], select.EPOLLOUT)
                results.append(len(epoll.poll(maxevents=3)))
            for a, _ in pairs:
                epoll.unregister(a)
        poll = select.poll()
        for a, _ in pairs:
            poll.register(a, select.POLLIN)
        results.append(len(poll.poll(1000)))
        r, w, x = select.select([a for a, _ in pairs], pairs[0], [], 2.5)
        results.append(len(r + w + x))
        return results

    results, found = traced(work)
    is_equal([number(r, 'result') for r in found if r['op'] in ('EPOLL_WAIT', 'POLL', 'SELECT')], results)
    counts = {op: sum(r['op'] == op for r in found) for op in
              ('EPOLL_CREATE', 'EPOLL_CTL_ADD', 'EPOLL_CTL_MOD', 'EPOLL_CTL_DEL')}
    is_equal(counts, {'EPOLL_CREATE': 1, 'EPOLL_CTL_ADD': 5, 'EPOLL_CTL_MOD': 5, 'EPOLL_CTL_DEL': 5})
    is_equal([number(r, 'timeout') for r in found if r['op'] in ('POLL', 'SELECT')],
             [10**9, 2_500_000_000])


@SUITE.test('epoll: calls of 32-bit programs, with timeouts of 32 and of 64 bits')
def of_32_bits():
    if MACHINE != 'x86_64':
        return
    calls = syscalls.Calls32()
    reader, writer = os.pipe()
    sets = [(1 << fd).to_bytes(128, 'little') for fd in (reader, writer)]
    n = writer + 1

    def work():
        short, long_ = (lambda *words: struct.pack('<ii', *words)), (lambda *words: struct.pack('<qq', *words))
        mask = bytes(8)
        epfd = calls.epoll_create1(CLOEXEC)
        room = calls.place(bytes(100))
        old = struct.pack('<iIIII', n, calls.place(sets[0]), 0, 0, calls.place(short(0, 900)))
        pack = struct.pack('<II', calls.place(mask), 8)
        made = [
            (('EPOLL_CREATE', epfd, -1, 0, 0, 0), epfd),
            (('EPOLL_CREATE', -1, -1, 0, -1, 0), calls.epoll_create(-1)),
            (('EPOLL_CTL_ADD', epfd, writer, 4, 0, 0), calls.epoll_ctl(epfd, ADD, writer, event(4, 7))),
            (('EPOLL_CTL_ADD', epfd, writer, 4, 0, 0), calls.epoll_ctl(epfd, ADD, writer, event(4, 7))),
            (('EPOLL_CTL_DEL', -1, writer, 0, 0, 0), calls.epoll_ctl(-7, DEL, writer, 0)),
            (('EPOLL_WAIT', epfd, -1, 4, 5, -1), calls.epoll_wait(epfd, room, 5, -1)),
            (('EPOLL_WAIT', epfd, -1, 4, 5, 7 * 10**6), calls.epoll_pwait(epfd, room, 5, 7, mask, 8)),
            (('EPOLL_WAIT', epfd, -1, 4, 5, 3 * 10**9 + 4),
             calls.epoll_pwait2(epfd, room, 5, struct.pack('<qII', 3, 4, 99), 0, 8)),
            (('POLL', -1, reader, 1, 1, 10**6), calls.poll(pollfds((reader, 1)), 1, 1)),
            (('POLL', -1, reader, 1, 1, 1100), calls.ppoll(pollfds((reader, 1)), 1, short(0, 1100), mask, 8)),
            (('POLL', -1, writer, 4, 1, -2), calls.ppoll(pollfds((writer, 4)), 1, short(-1, 0), 0, 8)),
            (('POLL', -1, reader, 1, 1, 1200),
             calls.ppoll_time64(pollfds((reader, 1)), 1, long_(0, 1200), 0, 8)),
            (('SELECT', -1, -1, 1, n, 900 * 1000), calls.select(old)),
            (('SELECT', -1, -1, 0, 0, -2), calls.select(8)),
            (('SELECT', -1, -1, 6, n, -1), calls._newselect(n, 0, sets[1], sets[0], 0)),
            (('SELECT', -1, -1, 1, n, 800 * 1000), calls._newselect(n, sets[0], 0, 0, short(0, 800))),
            (('SELECT', -1, -1, 1, n, 700), calls.pselect6(n, sets[0], 0, 0, short(0, 700), pack)),
            (('SELECT', -1, -1, 1, n, 600), calls.pselect6_time64(n, sets[0], 0, 0, long_(0, 600), 0)),
        ]
        return [expected + (result,) for expected, result in made]

    made, found = traced(work)
    is_equal([shown(r) for r in found], made)
    is_equal([i for i, r in enumerate(found) if 'SIGMASK' in flags(r)], [6, 9, 16])
    is_equal([i for i, r in enumerate(found) if 'UNREAD' in flags(r)], [13])
    is_equal([number(r, 'data') for r in found if number(r, 'data')], [7] * 5)
    calls.end()


@SUITE.test('epoll: requests of io_uring are events once, with their results')
def of_io_uring():
    ring = syscalls.Uring()
    reader, writer = os.pipe()

    def work():
        epfd = native.epoll_create1(0)
        results = [('EPOLL_CREATE', epfd, -1, 0, 0, 0, epfd)]
        for op, fd, mask in ((ADD, reader, 1), (ADD, reader, 1), (MOD, reader, 5), (MOD, writer, 4),
                             (ADD, NO_DESCRIPTOR, 1), (DEL, reader, 0), (ADD, writer, 4)):
            result = ring.submit(URING_CTL, fd=epfd, len=op, off=fd, addr=event(mask, 0x99))
            name = {ADD: 'ADD', MOD: 'MOD', DEL: 'DEL'}[op]
            results.append((f'EPOLL_CTL_{name}', epfd, fd, mask, 0, 0, result))
        if VERSION >= (6, 15):
            room = ctypes.create_string_buffer(EVENT.size * 4)
            results.append(('EPOLL_WAIT', -1, -1, 4, 4, -1,
                            ring.submit(URING_WAIT, fd=epfd, addr=ctypes.addressof(room), len=4)))
            native.epoll_ctl(epfd, DEL, writer, 0)
            native.epoll_ctl(epfd, ADD, reader, event(1, 5))
            results += [('EPOLL_CTL_DEL', epfd, writer, 0, 0, 0, 0),
                        ('EPOLL_CTL_ADD', epfd, reader, 1, 0, 0, 0)]
            ring.put(URING_WAIT, fd=epfd, addr=ctypes.addressof(room), len=4)
            ring.enter(1, 0)
            os.write(writer, b'x')
            ring.enter(0, 1)
            results.append(('EPOLL_WAIT', -1, -1, 1, 4, -1, ring.take()[1]))
        return results

    results, found = traced(work)
    is_equal([shown(r) for r in found], results)
    is_true({0, -errno.EEXIST, -errno.ENOENT, -errno.EBADF} <= {number(r, 'result') for r in found}, found)
    by_ring = [r for r in found if 'URING' in flags(r)]
    is_equal(len(by_ring), 9 if VERSION >= (6, 15) else 7)
    os.close(ring.fd)


def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    is_true(os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]), 'not stopped')
    os.kill(pid, signal.SIGCONT)


@SUITE.test('epoll: a poll that is stopped and continued')
def continued():
    """The call has a record when the signal ends it, and when it ends. It is the same call."""
    reader, writer = os.pipe()

    def work(timeout):
        native.poll(pollfds((reader, 1)), 1, timeout)

    if 'poll' not in native.numbers:
        return
    for timeout in -1, 1000 * 1000:
        start(f'tree={os.getpid()}')
        pid = spawn(work, timeout)
        waits_in(pid, *POLL)
        stopped(pid)
        waits_in(pid, *POLL)
        os.write(writer, b'x')
        join(pid)
        os.read(reader, 1)
        first, second = [r for r in stop() if r['pid'] == pid]
        is_equal(shown(first), ('POLL', -1, reader, 1, 1, max(timeout * 10**6, -1), -errno.EINTR))
        is_equal(flags(first), {'RESTARTED'})
        left = number(second, 'timeout')
        is_true(left == -1 if timeout < 0 else 0 < left < timeout * 10**6, left)
        is_equal((number(second, 'maximum'), number(second, 'result'), flags(second)), (1, 1, {'AGAIN'}))


def interrupted(name, *args):
    signal.signal(signal.SIGUSR1, lambda *_: None)
    is_equal(getattr(native, name)(*args), -errno.EINTR)


@SUITE.test('epoll: calls that a signal ends, or that are killed')
def by_signals():
    reader, writer = os.pipe()
    epfd = native.epoll_create1(0)
    room = ctypes.create_string_buffer(EVENT.size)
    waiting = {
        'EPOLL_WAIT': ('epoll_pwait', epfd, room, 1, -1, 0, 8),
        'POLL': ('ppoll', pollfds((reader, 1)), 1, TIMES.pack(1000, 0), 0, 8),
        'SELECT': ('pselect6', 0, 0, 0, 0, 0, 0),
    }
    for op, args in waiting.items():
        for sent in signal.SIGUSR1, signal.SIGKILL:
            start(f'tree={os.getpid()}')
            pid = spawn(interrupted, *args)
            waits_in(pid, *WAITS)
            os.kill(pid, sent)
            status = os.waitpid(pid, 0)[1]
            is_equal(status, 0 if sent == signal.SIGUSR1 else signal.SIGKILL)
            r, = [r for r in stop() if r['pid'] == pid]
            is_equal((r['op'], number(r, 'result')), (op, -errno.EINTR))
            is_equal('RESTARTED' in flags(r), op != 'EPOLL_WAIT')
    os.close(reader)
    os.close(writer)
    os.close(epfd)


@SUITE.test('epoll: a call that waits holds up neither stop nor rmmod, and is no event then')
@reloads
def waiting():
    for parameters in 'attach=auto', 'attach=kprobe':
        reload(parameters)
        reader, writer = os.pipe()
        epfd = native.epoll_create1(0)
        native.epoll_ctl(epfd, ADD, reader, event(1, 9))

        def work():
            room = ctypes.create_string_buffer(EVENT.size)
            for _ in range(2):
                is_equal(native.epoll_pwait(epfd, room, 1, -1, 0, 8), 1)

        start(f'tree={os.getpid()}')
        pid = spawn(work)
        waits_in(pid, *WAITS)
        command('stop', 'start', 'stop')
        reload(parameters)
        is_equal(os.waitpid(pid, os.WNOHANG), (0, 0))
        start(f'tree={os.getpid()}')
        os.write(writer, b'x')
        join(pid)
        is_equal([shown(r) for r in stop() if r['pid'] == pid], [('EPOLL_WAIT', epfd, -1, 1, 1, -1, 1)])
        for fd in reader, writer, epfd:
            os.close(fd)


@SUITE.test('epoll: by kretprobes the records are the same')
@reloads
def by_kretprobe():
    reload('attach=kprobe')
    epoll_calls()
    poll_calls()


@SUITE.test('epoll: ten thousand descriptors')
def ten_thousand():
    many = 10000
    resource.setrlimit(resource.RLIMIT_NOFILE, (many + 100, many + 100))
    reader, writer = os.pipe()

    def work():
        epfd = native.epoll_create1(0)
        fds = [os.dup(writer) for _ in range(many)]
        for fd in fds:
            is_equal(native.epoll_ctl(epfd, ADD, fd, event(4, fd)), 0)
        room = ctypes.create_string_buffer(EVENT.size * many)
        is_equal(native.epoll_pwait(epfd, room, many, 0, 0, 8), many)
        first = EVENT.unpack_from(room)
        is_equal(native.ppoll(pollfds(*((fd, 4) for fd in fds)), many, 0, 0, 8), many)
        for fd in fds:
            os.close(fd)
        is_equal(native.epoll_ctl(epfd, DEL, fds[5], 0), -errno.EBADF)
        return epfd, fds, first

    (epfd, fds, first), found = traced(work)
    is_equal([(r['op'], number(r, 'target'), number(r, 'data')) for r in found[1:many + 1]],
             [('EPOLL_CTL_ADD', fd, fd) for fd in fds])
    is_equal([shown(r) for r in found[many + 1:many + 3]],
             [('EPOLL_WAIT', epfd, -1, 4, many, 0, many), ('POLL', -1, -1, 0, many, -1, many)])
    is_equal(number(found[many + 1], 'data'), first[1])
    os.close(reader)
    os.close(writer)


@SUITE.test('epoll: memory that arrives later is not waited for, but noted as not read')
def later():
    page = Later()
    reader, writer = os.pipe()
    epfd = native.epoll_create1(0)
    results = []
    thread = threading.Thread(target=lambda: results.append(native.epoll_ctl(epfd, ADD, writer, page.address)))
    start(f'pid={os.getpid()}')
    thread.start()
    waits_in(thread.native_id, 'handle_userfault')
    command('filter op=EPOLL_CTL_ADD')
    is_equal([r for r in category.events(category=EPOLL) if r['pid'] == os.getpid()], [])
    page.arrive(event(4, 77))
    thread.join()
    is_equal(results, [0])
    r, = [r for r in stop() if r['pid'] == os.getpid()]
    is_equal((shown(r), flags(r)), (('EPOLL_CTL_ADD', epfd, writer, 0, 0, 0, 0), {'UNREAD'}))
    for fd in reader, writer, epfd:
        os.close(fd)


@SUITE.test('epoll: more calls that wait than are followed count as missed')
def many_waiting():
    limit, many = int(slurp(PARAMETERS + 'maxactive')), 300
    reader, writer = os.pipe()

    def work():
        is_equal(native.ppoll(pollfds((reader, 1)), 1, 0, 0, 8), 1)

    start(f'tree={os.getpid()}', 'op=POLL')
    pids = [spawn(work) for _ in range(many)]
    for pid in pids:
        waits_in(pid, *POLL)
    os.write(writer, b'x')
    join(*pids)
    command('stop')
    missed = category.is_conserved(EPOLL)['missed'] - MISSED.pop()
    found = [r for r in category.events(category=EPOLL) if r['pid'] in pids]
    is_equal(len(found) + missed, many)
    is_true(many - missed <= limit, (missed, limit))
    os.close(reader)
    os.close(writer)


@SUITE.test('epoll: filters')
def filters():
    reader, writer = os.pipe()

    def work():
        epfd = native.epoll_create1(0)
        native.epoll_ctl(epfd, ADD, reader, event(1, 1))
        native.epoll_ctl(epfd, DEL, reader, 0)
        native.ppoll(pollfds((writer, 4)), 1, 0, 0, 8)

    def seen(*conditions):
        return [r['op'] for r in traced(work, *conditions)[1]]

    is_equal(seen(), ['EPOLL_CREATE', 'EPOLL_CTL_ADD', 'EPOLL_CTL_DEL', 'POLL'])
    is_equal(seen('op=POLL'), ['POLL'])
    is_equal(seen('op=EPOLL_CTL_DEL,epoll_create'), ['EPOLL_CREATE', 'EPOLL_CTL_DEL'])
    is_equal(seen('op=SELECT'), [])
    is_equal(seen('comm=nobody'), [])
    is_equal(seen('min_latency=60s'), [])
    is_equal(seen('min_latency=1'), seen())
    for condition in 'dev=8:0', 'inode=5', 'kind=pipe', 'min_size=1', 'path=/mnt', 'op=READ', 'port=80', \
                     'addr=::1', 'family=inet', 'proto=tcp', 'netns=1':
        is_equal(write(f'{IOT}/{EPOLL}/control', f'filter {condition}\n'), 'EINVAL')
    os.close(reader)
    os.close(writer)


@SUITE.test('epoll: a filter that changes while a call waits decides')
def changed_filter():
    reader, writer = os.pipe()
    for condition, count in ('op=SELECT', 0), ('uid=0', 1):
        start(f'tree={os.getpid()}')
        pid = spawn(lambda: native.ppoll(pollfds((reader, 1)), 1, 0, 0, 8))
        waits_in(pid, *POLL)
        command(f'filter {condition}')
        os.write(writer, b'x')
        join(pid)
        os.read(reader, 1)
        is_equal(len([r for r in stop() if r['pid'] == pid]), count)
    os.close(reader)
    os.close(writer)


@SUITE.test('epoll: hooked only while started, and no function is missing')
def hooked():
    def lines():
        return [line.split() for line in slurp(IOT + '/hooks').split('\n')
                if re.search('epoll|poll|select', line)]

    is_equal(lines(), [])
    command('start')
    found = lines()
    is_true(len(found) >= 12, found)
    for symbol, _, mechanism, users, _, match, error in found:
        is_equal((mechanism, users, error), ('kretprobe', '1', '0'))
        is_true(match in ('fits', 'unchecked'), symbol)
    command('stop')
    is_equal(lines(), [])
