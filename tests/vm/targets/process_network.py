# SPDX-License-Identifier: GPL-2.0
"""
Logs of processes that were added with the network (add -n): what their sockets do is in the log, as one
row for each call. A child writes down its calls, and what getsockname(2) and its like say of the sockets;
the rows have to say the same. Beside it categories net and conn record the same calls.
"""
import contextlib
import os
import socket
import threading

from lib import category
from lib.category import stops
from lib.iot import (CONTROL, in_json, IOT, is_equal, is_true, join, LOAD_DIVISOR, matches, must, refused, reload,
                     slurp, unload)
from lib.machine import files_and_disk, umount_files_and_disk, with_tool
from lib.net import link_up
from lib.process import spawn, waits_in, with_number
from lib.suite import reloads, Suite
from lib.syscalls import Uring
from net import RECEIVES, RECV, SEND, tcp, udp
from processes import Processes

HOST4, HOST6 = '127.0.0.1', '::1'
ONE, TWO = b'a' * 700, b'b' * 300
PATH = '/tmp/a.socket'


def setup():
    files_and_disk()
    with_tool()
    link_up('lo')


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=stops('net', 'conn', 'fs'))


class Log(Processes):
    """The target that control lists under the text of processes."""

    def rows(self, pid=None):
        """(operation, letter, bytes, label, result) of each row of the network, of a process or of all"""
        found = []
        for line in self.log().split('\n')[:-1]:
            f = line.split(';')
            is_equal(len(f), 11)
            if f[4] == 'NET' and pid in (None, int(f[6])):
                found.append((f[7], f[1], int(f[3]), f[8], int(f[10])))
        return found


def trace(text, options='-n ', events=''):
    must(f'add {options}{text}{events}')
    return Log(text)


def end_of(address):
    host = address[0].removeprefix('::ffff:')
    return f'[{host}]:{address[1]}' if ':' in host else f'{host}:{address[1]}'


def name_of(s):
    name = s.getsockname()
    if isinstance(name, bytes):
        name = name.decode().replace('\0', '@')
    return name


def label(s, remote=None):
    """What names a socket in the log. @remote: the other end, if the socket is not connected to it"""
    if s.family == socket.AF_UNIX:
        return 'unix:' + (name_of(s) or f'[{os.fstat(s.fileno()).st_ino}]')
    if not remote:
        with contextlib.suppress(OSError):
            remote = s.getpeername()
    kind = {6: 'tcp', 17: 'udp', 1: 'icmp', 262: 'mptcp'}[s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL)]
    return f'{kind}:{end_of(s.getsockname())}' + (f'->{end_of(remote)}' if remote else '')


class Said:
    """What a child says of its calls, as rows have it."""

    def __init__(self):
        self.rows = []

    def sent(self, s, result, remote=None):
        self.rows.append(('SEND', 'W', max(result, 0), label(s, remote), result))

    def received(self, s, result, remote=None, moved=None):
        self.rows.append(('RECV', 'R', max(result, 0) if moved is None else moved, label(s, remote), result))

    def step(self, op, what, result=0):
        self.rows.append((op, '-', 0, what, result))


class Child:
    """A process that calls @function(said) when it is told to, and then says what it did."""

    def __init__(self, function):
        self.go, self.say = os.pipe(), os.pipe()
        self.pid = spawn(self.work, function)
        os.close(self.go[0])
        os.close(self.say[1])

    def work(self, function):
        os.close(self.go[1])
        os.close(self.say[0])
        os.read(self.go[0], 1)
        said = Said()
        function(said)
        os.write(self.say[1], repr(said.rows).encode())

    def acts(self):
        """Let it work, and wait until it has ended. Return: what it said"""
        os.close(self.go[1])
        with os.fdopen(self.say[0]) as f:
            rows = eval(f.read()) # pylint: disable=eval-used
        join(self.pid)
        return rows


def are_rows(function, steps=()):
    """The log of a child that calls the function has the rows that it says, in that order, and no other.
    Of operations for which it says nothing, only those in @steps are compared."""
    child = Child(function)
    log = trace(f'pid={child.pid}')
    said = child.acts()
    is_true(said, 'the child has said nothing')
    is_equal([r for r in log.rows() if r[0] in ('SEND', 'RECV') + tuple(steps)], said)
    log.is_conserved()
    is_equal(log.stats()[4], 0)
    must(f'remove pid={child.pid}')


def there_and_back(said, one, two):
    said.sent(one, one.send(ONE))
    said.received(two, len(two.recv(4096)))
    said.sent(two, two.send(TWO))
    said.received(one, len(one.recv(100)))


def of_kind(make):
    return lambda: are_rows(lambda said: there_and_back(said, *make()))


SUITE.add('TCP: IPv4, IPv6, and IPv4 in a socket of IPv6',
          of_kind(tcp), of_kind(lambda: tcp(socket.AF_INET6, HOST6)),
          of_kind(lambda: tcp(socket.AF_INET6, '::', '::ffff:127.0.0.1')))


@SUITE.test('UNIX: streams, datagrams and sequences of packets; with a name, an abstract one and none')
def unix():
    def calls(said):
        for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
            there_and_back(said, *socket.socketpair(socket.AF_UNIX, kind))
        for name in PATH, '\0abs\0tract':
            with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as one:
                server.bind(name)
                server.listen()
                one.connect(name)
                there_and_back(said, one, server.accept()[0])
    are_rows(calls)


@SUITE.test('UDP: the other end as the message names it')
def datagrams():
    def calls(said):
        for family, host in (socket.AF_INET, HOST4), (socket.AF_INET6, HOST6):
            one, two = udp(family, host)
            said.sent(one, one.sendto(ONE, two.getsockname()), remote=two.getsockname())
            data, came_from = two.recvfrom(4096)
            said.received(two, len(data), remote=came_from)
            one.sendto(TWO, two.getsockname())
            said.sent(one, 300, remote=two.getsockname())
            said.received(two, len(two.recv(10, socket.MSG_TRUNC)) and 300, moved=10)
            one.connect(two.getsockname())
            two.connect(one.getsockname())
            said.sent(one, one.send(ONE))
            said.received(two, len(two.recv(4096)))
    are_rows(calls)


@SUITE.test('bytes are those that were moved, a failed call has its error')
def flagged():
    def calls(said):
        one, two = tcp()
        said.sent(one, one.send(ONE))
        said.received(two, len(two.recv(4096, socket.MSG_PEEK)), moved=0)
        said.received(two, len(two.recv(4096)))
        two.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            two.recv(10)
        said.received(two, -11)
        two.close()
        is_equal(one.recv(10), b'')
        said.received(one, 0)
    are_rows(calls)


@SUITE.test('the life of a socket: made, bound, listening, connected, accepted, shut down, closed')
def life():
    def calls(said):
        server, one = socket.socket(), socket.socket()
        for s in server, one:
            said.step('SOCKET', 'tcp:0.0.0.0:0', s.fileno())
        server.bind((HOST4, 0))
        said.step('BIND', label(server))
        server.listen()
        said.step('LISTEN', label(server))
        one.connect(server.getsockname())
        said.step('CONNECT', label(one))
        two, _ = server.accept()
        said.step('ACCEPT', label(two), two.fileno())
        ended = label(two)
        one.shutdown(socket.SHUT_WR)
        said.step('SHUTDOWN', label(one))
        two.close()
        said.step('CLOSE', ended)
        unix_server, unix_one = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        numbers = [f'unix:[{os.fstat(s.fileno()).st_ino}]' for s in (unix_server, unix_one)]
        said.step('SOCKET', numbers[0], unix_server.fileno())
        said.step('SOCKET', numbers[1], unix_one.fileno())
        with contextlib.suppress(OSError):
            unix_one.connect(PATH + '.none')
        said.step('CONNECT', f'{numbers[1]}->{PATH}.none', -2)
        unix_server.bind(PATH + '.life')
        said.step('BIND', f'unix:{PATH}.life')
        unix_server.close()
        said.step('CLOSE', f'unix:{PATH}.life')
        unix_one.close()
        said.step('CLOSE', numbers[1])
    steps = 'SOCKET', 'BIND', 'LISTEN', 'CONNECT', 'ACCEPT', 'SHUTDOWN'
    child = Child(calls)
    log = trace(f'pid={child.pid}')
    said = child.acts()
    rows = [r for r in log.rows() if r[0] in steps + ('CLOSE',)]
    is_equal(rows[:len(said)], said)
    # what is open at the end is closed by the exit
    is_equal({r[0] for r in rows[len(said):]}, {'CLOSE'})
    must(f'remove pid={child.pid}')


# Fields that a row of a log has from the record of a category, and what conn calls SOCKET
SAME = 'time_ns', 'latency_ns', 'pid', 'tid', 'ppid', 'uid', 'cgroup', 'comm', 'inode', 'result', 'fd'
OPS = {'SOCKET_CREATE': 'SOCKET'}


def label_of(r):
    """The label of a record of net or conn of IPv4 or IPv6, None of any other."""
    if r['family'] not in ('AF_INET', 'AF_INET6'):
        return None
    none = '0.0.0.0' if r['family'] == 'AF_INET' else '::'
    one, two = (end_of((r[end] or none, r[end + '_port'])) for end in ('local', 'remote'))
    return f"{r['protocol'].lower()}:{one}" + (f'->{two}' if r['remote'] or r['remote_port'] else '')


def expected(r):
    """The row of a record of net or conn."""
    op = OPS.get(r['op'], r['op'])
    flags = r['how'] if op == 'SHUTDOWN' else '' if op == 'CLOSE' else r['flags']
    return dict({field: r[field] for field in SAME}, op=op, flags2=flags, requested_bytes=r.get('requested_bytes', 0),
                path=label_of(r))


def in_order(rows):
    return sorted(rows, key=lambda r: (r['time_ns'], r['op']))


@SUITE.test('beside it, categories net and conn have the same calls, also with conditions that came first or later')
def side_by_side():
    def calls(said):
        there_and_back(said, *tcp())
        there_and_back(said, *udp_pair())
        there_and_back(said, *socket.socketpair())
        ring_calls()
        one, _ = tcp()
        os.sendfile(one.fileno(), os.open('/etc/passwd', os.O_RDONLY), 0, 100)

    def udp_pair():
        one, two = udp()
        one.connect(two.getsockname())
        two.connect(one.getsockname())
        return one, two

    def ring_calls():
        one, two = socket.socketpair()
        ring = Uring()
        ring.put(RECV, fd=two.fileno(), addr=ring_room(), len=1000)
        ring.enter(1, 0)
        ring.put(SEND, fd=one.fileno(), addr=ring_room(), len=700)
        ring.enter(1, 2)

    child, other = Child(calls), Child(calls)
    for name in 'net', 'conn':
        category.command('stop', 'filter none', 'reset', f'filter pid={child.pid}', category=name)
    category.command('start', category='net')
    log = trace(f'pid={child.pid}')
    category.command('start', category='conn')
    other.acts()
    child.acts()
    records = []
    for name in 'net', 'conn':
        category.command('stop', category=name)
        records += [r for r in in_json(name) if r['op'] not in ('STATE', 'EXISTING')]
    is_equal({r['pid'] for r in records}, {child.pid})
    rows = in_order(r for r in in_json(f'pid={child.pid}') if r['kind'] == 'socket')
    wanted = in_order(expected(r) for r in records)
    is_equal(len(rows), len(wanted))
    for row, want in zip(rows, wanted):
        is_true(want['path'] or row['path'].startswith('unix:'), row)
        want['path'] = want['path'] or row['path']
        is_equal({field: row[field] for field in want}, want)
    log.is_conserved()


ROOM = None


def ring_room():
    global ROOM # pylint: disable=global-statement
    import ctypes
    ROOM = ROOM or ctypes.create_string_buffer(1000)
    return ctypes.addressof(ROOM)


@SUITE.test('who: threads are of the process, its children are not; of tree= they are; of comm= the name counts')
def scope():
    def exchange():
        one, two = socket.socketpair()
        one.send(ONE)
        two.recv(700)

    def calls(said):
        exchange()
        t = threading.Thread(target=exchange)
        t.start()
        t.join()
        join(spawn(exchange))
        said.rows.append(())

    child, other = Child(calls), Child(calls)
    logs = {text: trace(text) for text in (f'pid={child.pid}', f'tree={child.pid}')}
    other.acts()
    child.acts()
    for text, exchanges in (f'pid={child.pid}', 2), (f'tree={child.pid}', 3):
        is_equal([r[0] for r in logs[text].rows() if r[0] in ('SEND', 'RECV')], ['SEND', 'RECV'] * exchanges)

    def named(said):
        must('mine', '/proc/self/comm')
        exchange()
        said.rows.append(())

    log = trace('comm=mine')
    Child(calls).acts()
    Child(named).acts()
    is_equal([r[0] for r in log.rows() if r[0] in ('SEND', 'RECV')], ['SEND', 'RECV'])


@SUITE.test('a control group: --unit of the tool')
def group():
    top = '/mnt/cgroup'
    os.makedirs(top, exist_ok=True)
    os.system(f'mount -t cgroup2 none {top}')
    try:
        os.makedirs(top + '/a.service', exist_ok=True)

        def calls(said):
            must(str(os.getpid()), top + '/a.service/cgroup.procs')
            there_and_back(said, *tcp())

        log = trace('cgroup=/a.service')
        said = Child(calls).acts()
        Child(lambda said: there_and_back(said, *tcp())).acts()
        is_equal([r for r in log.rows() if r[0] in ('SEND', 'RECV')], said)
        must('remove cgroup=/a.service')
        os.rmdir(top + '/a.service')
    finally:
        os.system(f'umount {top}')


@SUITE.test('without -n there is no row; -n adds them to a log that is there, and the list says so')
def extended():
    def twice(said):
        there_and_back(said, *socket.socketpair())
        os.write(first[1], b'x')
        os.read(second[0], 1)
        there_and_back(said, *socket.socketpair())

    first, second = os.pipe(), os.pipe()
    child = Child(twice)
    text = f'pid={child.pid}'
    log = trace(text, '')
    is_true(f' {text}\n' in slurp(CONTROL), slurp(CONTROL))
    is_true('inet_sendmsg' not in slurp(f'{IOT}/hooks'), 'hooked, and nobody needs it')
    os.close(child.go[1])
    os.read(first[0], 1)
    is_equal(log.rows(), [])
    must(f'add -n {text}')
    is_true(f' {text} (network)\n' in slurp(CONTROL), slurp(CONTROL))
    must(f'add {text}')
    must(f'add -n {text}')
    is_true(f' {text} (network)\n' in slurp(CONTROL), slurp(CONTROL))
    os.write(second[1], b'x')
    with os.fdopen(child.say[0]) as f:
        said = eval(f.read()) # pylint: disable=eval-used
    join(child.pid)
    is_equal([r for r in log.rows() if r[0] in ('SEND', 'RECV')], said[4:])
    is_true(f' {text} (network) (ended)\n' in slurp(CONTROL), slurp(CONTROL))
    must(f'remove {text}')
    is_true('inet_sendmsg' not in slurp(f'{IOT}/hooks'), 'hooked, and nobody needs it')
    for fd in first + second:
        os.close(fd)
    refused('EINVAL', 'add -n /etc/passwd')
    matches(slurp(f'{IOT}/error'), 'add -n /etc/passwd.*-n is for processes')


@SUITE.test('stop, start and reset of a log with the network')
def commands():
    child = Child(lambda said: there_and_back(said, *socket.socketpair()))
    log = trace(f'pid={child.pid}')
    log.command('stop')
    is_true('inet_sendmsg' not in slurp(f'{IOT}/hooks'), 'hooked, and nobody needs it')
    log.command('start')
    said = child.acts()
    is_equal([r for r in log.rows() if r[0] in ('SEND', 'RECV')], said)
    log.command('reset')
    is_equal(log.rows(), [])
    is_equal(log.stats(), (0, 0, 0, 0, 0))


@SUITE.test('the next process with the number of one that has ended has no row')
def reused():
    def exchange():
        one, two = socket.socketpair()
        one.send(ONE)
        two.recv(700)

    child = Child(lambda said: there_and_back(said, *socket.socketpair()))
    log = trace(f'pid={child.pid}')
    child.acts()
    seen = log.stats()[0]
    with_number(child.pid, exchange)
    is_equal(log.stats()[0], seen)


@SUITE.test('a receive that waits: remove and rmmod do not wait for it, and it ends as if nothing had been')
@reloads
def waiting():
    def receive(_):
        is_equal(two.recv(10), ONE[:7])

    for end in lambda text: must(f'remove {text}'), lambda text: unload():
        one, two = tcp()
        child = Child(receive)
        text = f'pid={child.pid}'
        trace(text)
        os.close(child.go[1])
        waits_in(child.pid, *RECEIVES)
        end(text)
        one.send(ONE[:7])
        join(child.pid)
        os.close(child.say[0])
        reload()


@SUITE.test('logs come and go while their processes send: each has counted all that it saw')
def comes_and_goes():
    def sends(_):
        one, two = socket.socketpair()
        for n in range(20_000 // LOAD_DIVISOR):
            one.send(ONE)
            two.recv(700)

    children = [Child(sends) for _ in range(2)]
    whole = trace(f'pid={children[0].pid}', '-n ')
    for child in children:
        os.close(child.go[1])
    running = True
    while running:
        other = trace(f'pid={children[1].pid}')
        category.command('start', category='net')
        rows = other.rows()
        category.command('stop', category='net')
        other.is_conserved()
        must(f'remove pid={children[1].pid}')
        is_true(all(r[0] in ('SEND', 'RECV', 'CLOSE', 'SOCKET') for r in rows), rows[:3])
        running = os.waitpid(children[1].pid, os.WNOHANG)[0] == 0
    join(children[0].pid)
    whole.is_conserved()
    seen, *_, lost, missed = whole.stats('vfs')
    is_equal((lost, missed), (0, 0))
    # SEND, RECV, two CLOSE, one SOCKET at least; reads of the pipe are no rows
    is_true(seen >= 2 * (20_000 // LOAD_DIVISOR), seen)
    is_equal(whole.stats('total')[0] - seen, whole.stats('blk')[0])
    for child in children:
        os.close(child.say[0])


@SUITE.test('ten thousand sockets: the labels have no more memory than they may have')
@reloads
def many():
    reload('paths_memory_limit=1048576')

    def calls(said):
        one, two = udp()
        for n in range(10_000):
            one.sendto(b'x', (f'127.{n >> 8}.{n & 255}.1', 9))
        there_and_back(said, *tcp())
        del two

    child = Child(calls)
    log = trace(f'pid={child.pid}', events=' 20000')
    said = child.acts()
    rows = [r for r in log.rows() if r[0] in ('SEND', 'RECV')]
    is_equal(len(rows), 10_004)
    is_equal(rows[10_000:], said)
    log.is_conserved()
    is_true(category.stats('net')['paths_bytes'] <= 1048576, category.stats('net'))
    must(f'remove pid={child.pid}')
    reload()
