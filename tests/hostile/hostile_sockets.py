# SPDX-License-Identifier: GPL-2.0
"""
Sockets of processes that want to harm or to hide: very many of them, in namespaces that end, shared, passed
on, with messages that change while they are sent, and killed in each call that waits. What is recorded is
what the programs and /proc/net have counted, memory stays inside its limit, and nothing holds up stop or rmmod.
"""
import collections
import ctypes
import errno
import mmap
import os
import resource
import select
import signal
import socket
import struct
import threading

from lib import category, net
from lib.category import stops
from lib.iot import (as_user, error_name, IOT, is_equal, is_true, join, LOAD_DIVISOR, reload, slurp)
from lib.machine import files_and_disk, umount_files_and_disk
from lib.net import cookie, link_up, new_namespace
from lib.process import become, POLL, spawn, waits_in
from lib.suite import reloads, Suite
from lib.syscalls import native

NAMES = 'net', 'epoll', 'sockopt', 'drop'
HOST = '127.0.0.1'
NOBODY = 65534
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
EPOLL_CTL_ADD = 1
MANY = 100000       # and far fewer where loads are divided: each is six calls
OWNERS = (1 << 17) + 7  # slots of the module's table of owners (probe/socket_owner.c)
HUGE = 32 << 20     # bytes, more than there is ever room for
CLOSED = 9          # a port at which nobody listens

# Where calls on sockets sleep: kernels differ in what they inline.
WAITS = ('wait_woken', 'sk_wait_data', 'sk_stream_wait_memory', 'unix_stream_data_wait', 'unix_stream_read',
         '__skb_wait_for_more_packets', 'sock_alloc_send_pskb', 'sock_wait_for_wmem', 'unix_wait_for_peer',
         'unix_dgram_sendmsg', 'tcp_splice_read', 'ep_poll', 'do_epoll_wait', *POLL)


def setup():
    files_and_disk()
    link_up('lo')
    reload()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=stops(*NAMES))


def start(*names, size=65536, conditions=None):
    """Start categories. Returns what each of them has missed before."""
    missed = {}
    for name in names:
        category.command('stop', f'size {size}', 'mode overwrite', 'sample 1', 'filter none', 'reset',
                         'filter ' + (conditions or f'tree={os.getpid()}'), 'start', category=name)
        missed[name] = category.stats(name)['missed']
    return missed


def stop(name, missed=None):
    """Stop, and return all records, in the order of their time. None is missing."""
    category.command('stop', category=name)
    s = category.is_conserved(name)
    is_equal((s['lost'], s['overwritten'], s['missed'] - (missed or {}).get(name, 0)), (0, 0, 0))
    return sorted(category.events(category=name), key=lambda r: r['time'])


def told(function, *args):
    """What a function returns in a child."""
    reading, writing = os.pipe()
    pid = spawn(lambda: os.write(writing, repr(function(*args)).encode()))
    os.close(writing)
    with os.fdopen(reading) as f:
        said = f.read()
    join(pid)
    return eval(said) # pylint: disable=eval-used


def used():
    return dict(line.split() for line in slurp(IOT + '/memory').splitlines())


def no_ports():
    """Datagrams for which this network namespace had no socket."""
    return net.counters()['UdpNoPorts']


# Many


def open_many(number):
    """Open so many sockets, and keep them: each is watched, set, sent by and received from. Returns the calls."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (number + 100, number + 100))
    new_namespace()
    os.sched_setaffinity(0, {0})
    epfd = native.epoll_create1(0)
    watch = struct.pack('<IQ', select.EPOLLIN, 7)
    one, room = struct.pack('<i', 1), ctypes.create_string_buffer(16)
    closed = ctypes.create_string_buffer(struct.pack('!4s12x', b'') , 16)
    struct.pack_into('<H', closed, 0, socket.AF_INET)
    struct.pack_into('!H4s', closed, 2, CLOSED, socket.inet_aton(HOST))
    done = collections.Counter()
    for _ in range(number):
        fd = native.socket(socket.AF_INET, socket.SOCK_DGRAM, 0)
        is_true(fd >= 0, fd)
        done['sockopt'] += native.setsockopt(fd, socket.SOL_SOCKET, socket.SO_REUSEADDR, one, 4) == 0
        done['epoll'] += native.epoll_ctl(epfd, EPOLL_CTL_ADD, fd, watch) == 0
        done['net'] += native.sendto(fd, b'x', 1, 0, closed, 16) == 1
        done['net'] += native.recvfrom(fd, room, 16, socket.MSG_DONTWAIT, 0, 0) == -errno.EAGAIN
    done['drop'] = no_ports()
    return dict(done)


@SUITE.test('sockets: 100,000 that stay open, in all categories: each call is counted, and memory keeps its limit')
@reloads
def many():
    number, limit = MANY // LOAD_DIVISOR ** 2, 32 << 20
    reload(f'ring_memory_limit={limit}')
    before = start(*NAMES, size=16384)
    category.command('stop', 'filter op=PACKET_DROP', 'start', category='drop')
    at_first = int(used()['used'])
    done = told(open_many, number)
    is_equal(done, {'sockopt': number, 'epoll': number, 'net': 2 * number, 'drop': number})
    is_equal(int(used()['used']), at_first) # no socket takes any
    is_true(at_first <= limit, (at_first, limit))
    for name in NAMES:
        category.command('stop', category=name)
        s = category.is_conserved(name)
        more = 1 if name == 'epoll' else 0 # epoll_create1
        is_equal((name, s['seen'] + s['missed'] - before[name]), (name, done[name] + more))
        is_equal((name, s['missed'], s['lost']), (name, before[name], 0))
        is_true(s['stored'] == min(s['seen'], 16384), s)
        is_equal({r['comm'] for r in category.events(category=name)} - {'python3', ''}, set())


def keep_open(number, uid):
    """Have so many sockets at a time, as this user, and end."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (number + 100, number + 100))
    os.setuid(uid)
    for _ in range(number):
        fd = native.socket(socket.AF_UNIX, socket.SOCK_DGRAM, 0)
        is_true(fd >= 0, fd)


@SUITE.test('sockets: a user with more than there are owners kept: those displaced are its own, and counted')
@reloads
def many_owners():
    number = (OWNERS + 30000) // LOAD_DIVISOR ** 2
    reload()
    start('conn', conditions='op=STATE')
    pairs = [tcp() for _ in range(30)]
    join(spawn(lambda: keep_open(number, NOBODY)))
    is_true(int(category.stats('conn')['owners_lost']) >= number - OWNERS, category.stats('conn'))
    for pair in pairs:
        for s in pair:
            s.close()
    owners = [(r.get('pid'), int(r.get('uid', 0))) for r in stop('conn') if r['state'] == 'LAST_ACK']
    is_equal(owners, [(os.getpid(), 0)] * len(pairs))


# Who


@SUITE.test('sockets: passed by SCM_RIGHTS: each call is of the process that makes it, the socket is the same')
def passed():
    before = start('net', 'sockopt')
    one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a, b = socket.socketpair()
    identity, inode = cookie(one), os.fstat(one.fileno()).st_ino

    def stranger():
        """It has got the socket as another descriptor."""
        one.close()
        os.dup2(b.fileno(), 90)
        _, (fd,), _, _ = socket.recv_fds(socket.socket(fileno=90), 10, 1)
        fd = os.dup2(fd, 77)
        is_equal(native.sendto(fd, b'x' * 5, 5, 0, 0, 0), 5)
        is_equal(native.setsockopt(fd, socket.SOL_SOCKET, socket.SO_PRIORITY, struct.pack('i', 3), 4), 0)
        become(NOBODY)
        is_equal(native.sendto(fd, b'x' * 6, 6, 0, 0, 0), 6)

    pid = spawn(stranger)
    is_equal(one.send(b'x' * 4), 4)
    socket.send_fds(a, [b'fd'], [one.fileno()])
    one.close() # the stranger alone has it
    join(pid)
    is_equal([len(two.recv(100)) for _ in range(3)], [4, 5, 6])
    calls = [r for r in stop('net', before) if r['op'] == 'SEND' and r['cookie'] == str(identity)]
    is_equal([(r['pid'], int(r['fd']), r.get('uid', '0'), r['moved'], int(r['inode'])) for r in calls],
             [(os.getpid(), calls and int(calls[0]['fd']), '0', '4', inode), (pid, 77, '0', '5', inode),
              (pid, 77, str(NOBODY), '6', inode)])
    options = [r for r in stop('sockopt', before) if r['option'] == 'SO_PRIORITY']
    is_equal([(r['pid'], r['fd'], r['cookie']) for r in options], [(pid, '77', str(identity))])


@SUITE.test('sockets: SO_REUSEPORT: each datagram and connection is of the socket that has got it')
def reuse_port():
    number, sockets = 200, 4

    def bound(kind):
        s = socket.socket(socket.AF_INET, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind((HOST, bound.port))
        bound.port = s.getsockname()[1]
        return s

    bound.port = 0
    receivers = [bound(socket.SOCK_DGRAM) for _ in range(sockets)]
    before = start('net')
    for _ in range(number):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.sendto(b'x', (HOST, bound.port))
    got = {}
    for s in receivers:
        s.setblocking(False)
        got[str(cookie(s))] = 0
        while True:
            try:
                got[str(cookie(s))] += len(s.recv(10))
            except BlockingIOError:
                break
    rows = stop('net', before)
    done = collections.Counter(r['cookie'] for r in rows if r['op'] == 'RECV' and int(r['result']) > 0)
    is_equal({k: n for k, n in got.items() if n}, dict(done))
    is_equal(sum(done.values()), number)
    is_true(len(done) > 1, done)
    is_equal({r['local_port'] for r in rows if r['op'] == 'RECV'}, {str(bound.port)})


# Namespaces that end


def leave_a_mess():
    """In a namespace of its own: datagrams and connections of all states, and nobody to end them."""
    new_namespace()
    kept = []
    with socket.socket() as server:
        server.bind((HOST, 0))
        server.listen()
        for n in range(5):
            client = socket.create_connection(server.getsockname())
            accepted = server.accept()[0]
            kept += [client, accepted]
            client.send(b'x' * (n + 1))
            if n % 2:
                accepted.recv(100)
                accepted.close()
        kept.append(socket.create_connection(server.getsockname()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(7):
            s.sendto(b'x', (HOST, CLOSED))
    return os.stat('/proc/self/ns/net').st_ino, no_ports(), net.counters()['TcpOutRsts']


@SUITE.test('sockets: network namespaces that end while they are traced: all is recorded, with their numbers')
def namespaces_end():
    before = start('net', 'sockopt', 'epoll')
    before |= start('drop', conditions='none')
    namespaces = [told(leave_a_mess) for _ in range(20)]
    rows, drops = stop('net', before), stop('drop', before)
    for number, ports, resets in set(namespaces): # a number may be used again
        times = [n[0] for n in namespaces].count(number)
        of = [r for r in rows if r.get('netns') == str(number)]
        sent = [r for r in of if r['op'] == 'SEND' and r['result'] == '1' and r['protocol'] == 'UDP']
        is_equal((len(sent), ports), (7 * times, 7))
        is_equal(sum(int(r['moved']) for r in of if r['op'] == 'SEND' and r['protocol'] == 'TCP'), 15 * times)
        here = [r for r in drops if r.get('netns') == str(number)]
        is_equal(len([r for r in here if r['op'] == 'PACKET_DROP' and r.get('reason') == 'NO_SOCKET' and
                      r['protocol'] == 'UDP']), 7 * times)
        # when the processes end, more resets are sent than the process itself has seen
        is_true(len([r for r in here if r['op'] == 'RESET_SENT']) >= resets * times, here)


def flood_drops(number):
    """As root of a user namespace and a network namespace of its own. Returns what it may and could."""
    is_equal(native.unshare(CLONE_NEWUSER | CLONE_NEWNET), 0)
    link_up('lo')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(number):
            s.sendto(b'x' * 40, (HOST, CLOSED))
    denied = []
    for path in 'log', 'stream', 'stats', 'control':
        for mode in os.O_RDONLY, os.O_WRONLY:
            try:
                os.close(os.open(f'{IOT}/drop/{path}', mode))
                denied.append('opened')
            except OSError as e:
                denied.append(error_name(e))
    return no_ports(), sorted(set(denied))


@SUITE.test('sockets: a user floods drops in its namespaces: all are counted, in a bounded ring that it cannot read')
@reloads
def flood_of_drops():
    number, size = 8000 // LOAD_DIVISOR, 1024
    reload(f'ring_memory_limit={4 << 20}')
    before = start('drop', size=size, conditions='op=PACKET_DROP')
    said = as_user(NOBODY, flood_drops, number)
    dropped, denied = eval(said) # pylint: disable=eval-used
    peak = int(used()['used'])
    category.command('stop', category='drop')
    s = category.is_conserved('drop')
    is_equal(dropped, number)
    is_true(set(denied) <= {'EACCES', 'EPERM'}, denied)
    is_true(s['seen'] + s['missed'] - before['drop'] >= number, s)
    is_equal(s['missed'], before['drop'])
    is_true(s['overwritten'] > 0 and s['stored'] <= 2 * size and peak <= 4 << 20, (s, peak))
    rows = [r for r in category.events(category='drop') if r.get('destination_port') == str(CLOSED)]
    is_true(len(rows) > size // 2, len(rows))
    is_equal({(r['size'], r['pid'], r['reason']) for r in rows}, {('68', 0, 'NO_SOCKET')})


# Messages that change


def header(name, vector, count=1, name_length=16):
    """struct msghdr"""
    return struct.pack('QIxxxxQQQQIxxxx', name, name_length, vector, count, 0, 0, 0)


def address_of(buffer):
    return ctypes.addressof(buffer)


def received_by(s):
    """The sizes of the datagrams that wait."""
    sizes = []
    s.setblocking(False)
    while True:
        try:
            sizes.append(len(s.recv(65536)))
        except BlockingIOError:
            return sizes


@SUITE.test('sockets: a message whose address and length change while it is sent: recorded is what was sent')
def changing_message():
    """The records name the socket that has got each datagram, and its size."""
    number = 4000 // LOAD_DIVISOR
    targets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for s in targets:
        s.setsockopt(socket.SOL_SOCKET, 33, 32 << 20) # SO_RCVBUFFORCE
        s.bind((HOST, 0))
    ports = [s.getsockname()[1] for s in targets]
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    at = ctypes.addressof(ctypes.c_char.from_buffer(shared))
    data = ctypes.create_string_buffer(2000)
    struct.pack_into('<H', shared, 0, socket.AF_INET)
    struct.pack_into('!H4s', shared, 2, ports[0], socket.inet_aton(HOST))
    struct.pack_into('QQ', shared, 64, address_of(data), 10)

    def change():
        while not shared[128]:
            for port, size in zip(ports, (10, 1500)):
                struct.pack_into('!H', shared, 2, port)
                struct.pack_into('Q', shared, 72, size)

    def send():
        message = header(at, at + 64)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            return [native.sendmsg(s.fileno(), message, 0) for _ in range(number)]

    before = start('net', conditions=f'tree={os.getpid()} op=SEND')
    changing = spawn(change)
    results = told(send)
    shared[128] = 1
    join(changing)
    rows = stop('net', before)
    got = [received_by(s) for s in targets]
    # what is written byte by byte may be seen half written: port 0 is refused
    is_equal(([int(r['result']) for r in rows], set(results) <= {0, 10, 1500, -errno.EINVAL}), (results, True))
    done = [r for r in rows if int(r['result']) >= 0]
    is_equal({r['remote'] for r in done}, {HOST})
    sent = [[int(r.get('moved', 0)) for r in done if r['remote_port'] == str(port)] for port in ports]
    is_equal(sent, got)
    is_equal({r.get('requested') == r.get('moved') for r in done}, {True})
    is_true(all(sent), [len(s) for s in sent])


@SUITE.test('sockets: messages at addresses that are none: calls fail as they do without a trace, and are recorded')
def bad_pointers():
    page = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    is_equal(native.munmap(at + mmap.PAGESIZE, mmap.PAGESIZE), 0)
    edge = at + mmap.PAGESIZE
    page[:16] = struct.pack('QQ', edge - 5, 10)     # a vector whose data ends where memory does
    page[16:32] = struct.pack('QQ', 1 << 60, 10)
    page[32:48] = struct.pack('QQ', edge - 5, 5)

    def calls():
        """Results of calls that fail before they arrive at the socket, and of those that arrive."""
        one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        fd = one.fileno()
        none = [native.sendmsg(fd, 8, 0), native.sendmsg(fd, edge - 8, 0), native.recvmsg(fd, 8, 0),
                native.sendmsg(fd, header(8, at + 32), 0), native.sendmsg(fd, header(0, 8, 1, 0), 0),
                native.sendmsg(fd, header(0, edge - 8, 1, 0), 0), native.sendmsg(fd, header(0, at, 5000, 0), 0),
                native.sendto(fd, edge - 5, 5, 0, edge - 1, 16), native.sendmsg(99, header(0, at, 1, 0), 0)]
        some = [native.sendmsg(fd, header(0, at, 1, 0), 0), native.sendmsg(fd, header(0, at + 16, 1, 0), 0),
                native.sendto(fd, edge - 5, 10, 0, 0, 0), native.sendmsg(fd, header(0, at + 32, 1, 0), 0)]
        two.send(b'0123456789')
        some += [10, native.recvfrom(fd, edge - 5, 10, 0, 0, 0)]
        return none, some

    expected = told(calls)
    before = start('net')
    is_equal(told(calls), expected)
    rows = stop('net', before)
    none, some = expected
    is_equal(set(none) <= {-errno.EFAULT, -errno.EMSGSIZE, -errno.EBADF}, True)
    is_true(-errno.EFAULT in some and 5 in some, some)
    # a vector that the kernel does not accept is no call of the socket: 1 << 60 is no address
    is_equal([int(r['result']) for r in rows], [n for i, n in enumerate(some) if i != 1])
    is_equal([int(r['moved']) for r in rows if int(r['result']) < 0 and 'moved' in r], [])


# Killed


def full(s):
    """Send until there is no room."""
    s.setblocking(False)
    try:
        while True:
            s.send(bytes(4096))
    except BlockingIOError:
        s.setblocking(True)


def tcp():
    with socket.socket() as server:
        server.bind((HOST, 0))
        server.listen()
        one = socket.create_connection(server.getsockname())
        return one, server.accept()[0]


def calls_that_wait():
    """(name, operation, the call, what is to be kept open)"""
    def udp():
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind((HOST, 0))
        return s, s

    def pair(kind):
        return lambda: socket.socketpair(socket.AF_UNIX, kind)

    makes = {'tcp': tcp, 'udp': udp, 'stream': pair(socket.SOCK_STREAM), 'datagram': pair(socket.SOCK_DGRAM),
             'packet': pair(socket.SOCK_SEQPACKET)}
    for name, make in makes.items():
        one, two = make()
        yield name + ' recv', 'RECV', lambda s=one: s.recv(10), (one, two)
        one, two = make()
        yield name + ' peek', 'RECV', lambda s=one: s.recv(10, socket.MSG_PEEK), (one, two)
    for name in 'datagram', 'packet':
        one, two = makes[name]()
        full(one)
        yield name + ' send', 'SEND', lambda s=one: s.send(bytes(4096)), (one, two)
    for name in 'tcp', 'stream':
        one, two = makes[name]()
        yield name + ' send', 'SEND', lambda s=one: s.send(bytes(HUGE)), (one, two)
        one, two = makes[name]()
        two.send(b'x' * 3)
        yield name + ' all', 'RECV', lambda s=one: s.recv(10, socket.MSG_WAITALL), (one, two)
        one, two = makes[name]()
        yield name + ' splice', 'RECV', lambda s=one: os.splice(s.fileno(), os.pipe()[1], 10), (one, two)


@SUITE.test('sockets: a process killed in each call that waits: one record, and no byte too many')
def killed():
    for name, op, call, kept in calls_that_wait():
        before = start('net', conditions=f'tree={os.getpid()} op={op}')
        pid = spawn(call)
        waits_in(pid, *WAITS)
        is_equal((name, [r for r in category.events(category='net') if r['pid'] == pid]), (name, []))
        os.kill(pid, signal.SIGKILL)
        is_equal((name, os.waitpid(pid, 0)[1]), (name, signal.SIGKILL))
        rows = [r for r in stop('net', before) if r['pid'] == pid]
        is_equal((name, [r['op'] for r in rows]), (name, [op]))
        result, moved = int(rows[0]['result']), int(rows[0].get('moved', 0))
        is_equal((name, moved), (name, max(result, 0)))
        if name in ('tcp send', 'stream send'):
            is_true(0 < result < HUGE, (name, result))
        else:
            is_equal((name, result), (name, 3 if name.endswith('all') else -errno.EINTR))
        for s in kept:
            s.close()


@SUITE.test('sockets: calls that wait for ever hold up neither stop nor rmmod nor the next start')
@reloads
def never_end():
    for parameters in 'attach=auto', 'attach=kprobe':
        reload(parameters)
        waiting = list(calls_that_wait())
        watcher = select.epoll()
        start('net', 'epoll')
        pids = [spawn(call) for _, _, call, _ in waiting]
        epoll = spawn(watcher.poll)
        for pid in (*pids, epoll):
            waits_in(pid, *WAITS)
        for name in 'net', 'epoll':
            category.command('stop', 'start', 'stop', category=name)
            is_equal([r for r in category.events(category=name) if r['pid'] in (*pids, epoll)], [])
        reload(parameters)
        start('net', 'epoll')
        for pid in (*pids, epoll):
            is_equal(os.waitpid(pid, os.WNOHANG), (0, 0))
            os.kill(pid, signal.SIGKILL)
            is_equal(os.waitpid(pid, 0)[1], signal.SIGKILL)
        # what began in a module that is gone is no event of this one
        for name in 'net', 'epoll':
            category.command('stop', category=name)
            is_equal([r for r in category.events(category=name) if r['pid'] in (*pids, epoll)], [])
        for _, _, _, kept in waiting:
            for s in kept:
                s.close()


@SUITE.test('sockets: closed by other threads while they are used: each call is an event')
def closed_meanwhile():
    calls, threads = 200, 3

    def use(results):
        pair = (ctypes.c_int * 2)()
        for _ in range(calls):
            is_equal(native.socketpair(socket.AF_UNIX, socket.SOCK_STREAM, 0, pair), 0)
            results.append(native.sendto(pair[0], b'x', 1, socket.MSG_DONTWAIT, 0, 0))
            native.close(pair[1])
            results.append(native.recvfrom(pair[0], ctypes.create_string_buffer(8), 8, socket.MSG_DONTWAIT, 0, 0))
            native.close(pair[0])

    def close_others():
        """Descriptors of the other threads, while they are used."""
        for _ in range(calls):
            for fd in range(40, 60):
                native.close(fd)

    def work():
        os.closerange(100, 1000)
        for fd in range(3, 40): # so all sockets have numbers that are closed by the others
            os.dup2(1, fd)
        results = []
        users = [threading.Thread(target=use, args=(results,)) for _ in range(threads)]
        users.append(threading.Thread(target=close_others))
        for t in users:
            t.start()
        for t in users:
            t.join()
        is_equal(len(results), 2 * calls * threads)
        return results

    before = start('net', conditions=f'tree={os.getpid()}')
    reading, writing = os.pipe()
    out = os.dup2(writing, 95)
    pid = spawn(lambda: os.write(out, repr(sorted(work())).encode()))
    os.close(writing)
    os.close(out)
    with os.fdopen(reading) as f:
        said = f.read()
    join(pid)
    results = collections.Counter(eval(said)) # pylint: disable=eval-used
    rows = [r for r in stop('net', before) if r['pid'] == pid]
    for number in -errno.EBADF, -errno.ENOTSOCK: # no call of a socket
        del results[number]
    is_equal(collections.Counter(int(r['result']) for r in rows), results)
