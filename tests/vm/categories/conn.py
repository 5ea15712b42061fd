# SPDX-License-Identifier: GPL-2.0
"""
Category conn: the life of sockets. A child makes calls in a network namespace of its own, and says what it
asked for, what it got, and what the kernel says of the socket (getsockname(2), SO_COOKIE, fstat(2)); its
records have to say the same. Calls are compared with those that strace shows, changes of states with
/proc/net/tcp and with the kernel's own counts.
"""
import array
import collections
import errno
import os
import pickle
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from lib import category, net
from lib.category import stops
from lib.iot import IOT, is_equal, is_true, join, refused, reload, slurp, unload
from lib.kernel import VERSION
from lib.machine import files_and_disk, umount_files_and_disk
from lib.net import cookie, counters, new_namespace
from lib.never import Later
from lib.process import spawn, waits_in
from lib.suite import reloads, Suite
from lib.syscalls import Calls32, MACHINE, native, Uring

CONN = 'conn'
HOST4, HOST6 = '127.0.0.1', '::1'
ACCEPT, CONNECT, SHUTDOWN, SOCKET, BIND, LISTEN = 13, 16, 34, 45, 56, 57 # IORING_OP_*
HAS_URING_BIND = VERSION >= (6, 11)
NO_USER = str(2 ** 32 - 1)
ACCEPTS = 'inet_csk_accept', 'inet_csk_wait_for_connect', '__skb_wait_for_more_packets'
ANY = {'0.0.0.0': '', '::': ''}


def setup():
    files_and_disk()
    net.link_up('lo')
    reload()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=stops(CONN, 'drop'))


def command(*lines):
    category.command(*lines, category=CONN)


def begin(*conditions):
    command('stop', 'size 65536', 'mode overwrite', 'sample 1', 'filter none', 'reset',
            'filter ' + (' '.join(conditions) or 'none'), 'start')


def ended(row):
    return round(row['time'] * 1e9) + int(row.get('latency', 0))


def end():
    """Stop. Returns all records, none of which was lost, in the order in which they ended."""
    command('stop')
    s = category.is_conserved(CONN)
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    return sorted(category.events(category=CONN), key=ended)


class Child:
    """A child in a network namespace of its own. It calls a function when it is told to."""

    def __init__(self, function, *args):
        go, self.go = os.pipe()
        self.said, say = os.pipe()

        def act():
            new_namespace()
            self.tell(say, os.stat('/proc/thread-self/ns/net').st_ino)
            os.read(go, 1)
            self.tell(say, function(*args))
            os.read(go, 1)

        self.pid = spawn(act)
        os.close(go)
        os.close(say)
        self.netns = str(self.hear())

    @staticmethod
    def tell(fd, what):
        data = pickle.dumps(what)
        os.write(fd, struct.pack('I', len(data)) + data)

    def hear(self):
        def read(n):
            data = b''
            while len(data) < n:
                part = os.read(self.said, n - len(data))
                is_true(part, 'the child has said nothing')
                data += part
            return data
        return pickle.loads(read(*struct.unpack('I', read(4))))

    def act(self, look=None):
        """Have it called. @look is called before the child exits."""
        os.write(self.go, b'x')
        result = self.hear()
        if look:
            look()
        os.write(self.go, b'x')
        join(self.pid)
        os.close(self.go)
        os.close(self.said)
        return result


def of_namespace(found, netns):
    """The records of a network namespace, but for the kernel's own sockets, which end when it does."""
    return [r for r in found if r.get('netns') == netns and 'KERNEL' not in r.get('flags', '')]


def traced(function, *args, conditions=(), look=None):
    """Trace a function in a child. Returns its result, and the records of its namespace."""
    child = Child(function, *args)
    begin(*conditions)
    result = child.act(look)
    return result, of_namespace(end(), child.netns)


def of(found, op, **fields):
    """The records of an operation with these fields; a field that is not shown is None."""
    return [r for r in found if r['op'] == op and all(r.get(k) == v for k, v in fields.items())]


def shown(host):
    host = host.removeprefix('::ffff:')
    return ANY.get(host, host)


def about(s):
    """What the kernel says of a socket, as the fields of a record."""
    row = dict(cookie=str(cookie(s)), inode=str(os.fstat(s.fileno()).st_ino), family=s.family.name,
               type=socket.SocketKind(s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)).name,
               netns=str(os.stat('/proc/thread-self/ns/net').st_ino),
               pid=os.getpid(), tid=threading.get_native_id(), uid=str(os.geteuid()))
    if s.family == socket.AF_UNIX:
        return row
    row['protocol'] = {6: 'TCP', 17: 'UDP'}[s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL)]
    for end_, name in ('local', s.getsockname), ('remote', s.getpeername):
        try:
            host, port = name()[:2]
        except OSError:
            continue # the socket may know an end that it has lost
        row[end_], row[end_ + '_port'] = shown(host), str(port)
    return row


NUMBERS = {'local_port', 'remote_port', 'uid', 'latency', 'queued', 'backlog', 'inode', 'cookie', 'listener'}


def are_said(found, rows):
    """The records are these, in this order, as far as the rows say."""
    is_equal([r['op'] for r in found], [row['op'] for row in rows])
    for record, row in zip(found, rows):
        got = {k: record.get(k, '0' if k in NUMBERS else '-1' if k == 'fd' else '') for k in row}
        got |= {k: shown(got[k]) for k in ('local', 'remote') if k in got}
        is_equal(got, row)


def calls_only(found):
    return [r for r in found if r['op'] != 'STATE']


def said(op, s, **fields):
    return about(s) | dict(op=op, fd=str(s.fileno()), result='0') | {k: str(v) for k, v in fields.items()}


def life(family, host, to):
    """A connection from its begin to its end. Returns what the records are to be."""
    rows = []
    server = socket.socket(family, socket.SOCK_STREAM)
    rows.append(said('SOCKET_CREATE', server, result=server.fileno(), flags='SOCK_CLOEXEC'))
    server.bind((host, 0))
    rows.append(said('BIND', server))
    server.listen(7)
    rows.append(said('LISTEN', server, backlog=7, state='LISTEN'))
    client = socket.socket(family, socket.SOCK_STREAM)
    rows.append(said('SOCKET_CREATE', client, result=client.fileno()))
    client.connect((to, server.getsockname()[1]))
    rows.append(said('CONNECT', client, state='ESTABLISHED'))
    one, _ = server.accept()
    rows.append(said('ACCEPT', one, result=one.fileno(), fd=server.fileno(), listener=cookie(server),
                     flags='SOCK_CLOEXEC', state='ESTABLISHED'))
    client.shutdown(socket.SHUT_WR)
    rows.append(said('SHUTDOWN', client, how='SHUT_WR', state='FIN_WAIT2'))
    for s in one, client, server:
        rows.append(said('CLOSE', s, fd=-1))
        s.close()
    return rows


@SUITE.test('connections: each call with both ends, as the kernel and the calls have them')
def connections():
    for family, host, to in ((socket.AF_INET, HOST4, HOST4), (socket.AF_INET6, HOST6, HOST6),
                             (socket.AF_INET6, '::', '::ffff:' + HOST4)):
        rows, found = traced(life, family, host, to)
        for row in rows: # its state is seen later than by the call
            if row['op'] == 'SHUTDOWN':
                del row['state']
        are_said(calls_only(found), rows)
        accepted, = of(found, 'ACCEPT')
        is_true(int(accepted['queued']) > 0, accepted)


@SUITE.test('states of TCP: from what to what, in order, with the owner; unknown before accept(2)')
def states():
    rows, found = traced(life, socket.AF_INET, HOST4, HOST4)
    cookies = {r['op']: r['cookie'] for r in rows[:6]}
    server, client, one = rows[0]['cookie'], rows[3]['cookie'], cookies['ACCEPT']
    changes = collections.defaultdict(list)
    for r in of(found, 'STATE'):
        changes[r.get('cookie')].append((r.get('old_state'), r['state']))
    is_equal(changes[server], [('CLOSE', 'LISTEN'), ('LISTEN', 'CLOSE')])
    is_equal(changes[client], [('CLOSE', 'SYN_SENT'), ('SYN_SENT', 'ESTABLISHED'), ('ESTABLISHED', 'FIN_WAIT1'),
                               ('FIN_WAIT1', 'FIN_WAIT2'), ('FIN_WAIT2', 'CLOSE')])
    is_equal([c for c in changes[one] if c[0] != 'LISTEN'],
             [('SYN_RECV', 'ESTABLISHED'), ('ESTABLISHED', 'CLOSE_WAIT'), ('CLOSE_WAIT', 'LAST_ACK'),
              ('LAST_ACK', 'CLOSE')])
    cloned, = of(found, 'STATE', state='SYN_RECV', old_state='LISTEN')
    # on some kernels the new connection still is a copy of its listener then
    is_true((cloned.get('cookie'), cloned.get('listener')) in ((None, server), (one, None)), cloned)
    accepted, = of(found, 'ACCEPT')
    for r in of(found, 'STATE'):
        known = r.get('cookie') in (server, client) or (r.get('cookie') == one and ended(r) > ended(accepted))
        is_equal((r['pid'], r.get('uid')), (rows[0]['pid'], None) if known else (0, NO_USER))
        is_equal(r['comm'] == accepted['comm'], known)
        if known:
            is_equal(r['inode'], next(row['inode'] for row in rows if row['cookie'] == r['cookie']))
    connect, = of(found, 'CONNECT')
    done, = of(found, 'STATE', old_state='SYN_SENT')
    is_true(0 < int(done['latency']) <= int(connect['latency']), (done, connect))
    is_true(int(accepted['queued']) > 0, accepted)


STRACED = r'''
import errno, os, signal, socket
def attempt(function, *args):
    try:
        return function(*args)
    except OSError as e:
        return e
def new(family=socket.AF_INET, kind=socket.SOCK_STREAM):
    return socket.socket(family, kind)
server = new()
server.bind(('127.0.0.1', 0))
attempt(new().bind, server.getsockname())           # EADDRINUSE
attempt(server.bind, server.getsockname())          # EINVAL
attempt(new().bind, ('192.0.2.1', 0))               # EADDRNOTAVAIL
server.listen(3)
server.setblocking(False)
attempt(server.accept)                              # EAGAIN
client = new()
client.setblocking(False)
attempt(client.connect, server.getsockname())       # EINPROGRESS
client.setblocking(True)
attempt(client.connect, server.getsockname())
attempt(client.connect, server.getsockname())       # EISCONN
attempt(new().connect, ('127.0.0.1', 9))            # ECONNREFUSED
attempt(new().connect, ('198.51.100.1', 9))         # ENETUNREACH
attempt(new(socket.AF_UNIX).connect, '/tmp/none')   # ENOENT
attempt(new().accept)                               # EINVAL
attempt(new(kind=socket.SOCK_DGRAM).listen)         # EOPNOTSUPP
attempt(new(kind=socket.SOCK_DGRAM).accept)
attempt(new().shutdown, socket.SHUT_RD)             # ENOTCONN
attempt(socket.socketpair, socket.AF_INET)          # EOPNOTSUPP
attempt(socket.socketpair)
attempt(socket.socket, 45, socket.SOCK_STREAM)      # EAFNOSUPPORT
attempt(socket.socket, socket.AF_INET, socket.SOCK_SEQPACKET)
attempt(socket.socket, socket.AF_INET, socket.SOCK_STREAM, 17)
one = server.accept()[0]
attempt(one.shutdown, 7)                            # EINVAL
one.shutdown(socket.SHUT_RDWR)
null = os.open('/dev/null', os.O_RDONLY)
for fd in null, 777, -1:                            # ENOTSOCK, EBADF
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, fileno=os.dup(server.fileno()))
    old = s.detach()
    os.close(old)
    import ctypes
    libc = ctypes.CDLL(None)
    libc.accept(fd, None, None)
    libc.accept4(fd, None, None, 0x800)
    libc.bind(fd, bytes(16), 16)
    libc.listen(fd, 5)
    libc.connect(fd, bytes(16), 16)
    libc.shutdown(fd, 1)
libc.connect(client.fileno(), ctypes.c_void_p(8), 16)   # EFAULT
libc.bind(client.fileno(), bytes(200), 200)             # EINVAL
libc.accept4(server.fileno(), None, None, 4)
'''
NAMES = dict(socket='SOCKET_CREATE', socketpair='SOCKET_CREATE', bind='BIND', listen='LISTEN', accept='ACCEPT',
             accept4='ACCEPT', connect='CONNECT', shutdown='SHUTDOWN')
STRACE = re.compile(r'(\d+) +(socket|socketpair|bind|listen|accept4?|connect|shutdown)\((.*)\) += (-?\d+)(?: (E\w+))?', re.M)


@SUITE.test('calls: the same as strace has, with every error')
def like_strace():
    def act():
        subprocess.run(['strace', '-f', '-o', '/tmp/strace', '-e', 'trace=%network', sys.executable, '-I', '-c',
                        STRACED], check=True)

    _, found = traced(act, conditions=[f'tree={os.getpid()}'])
    expected = []
    for pid, name, args, result, error in STRACE.findall(slurp('/tmp/strace')):
        fd = int(args.split(',')[0]) if not name.startswith('socket') else int(result)
        value = -getattr(errno, error) if error else int(result)
        row = (NAMES[name], int(pid), fd, value)
        if name == 'socketpair' and not error:
            pair = re.search(r'\[(\d+), (\d+)\]', args)
            expected += [row[:2] + (int(n), 0) for n in pair.groups()]
        else:
            expected.append(row)
    got = [(r['op'], r['pid'], int(r.get('fd', -1)), int(r['result'])) for r in found
           if r['op'] in NAMES.values()]
    # calls on a descriptor that is no socket have no namespace
    others = [r for r in category.events(category=CONN) if r['op'] in NAMES.values() and 'netns' not in r]
    got = sorted([(r['op'], r['pid'], int(r.get('fd', -1)), int(r['result'])) for r in others] + got)
    is_equal(got, sorted(expected))
    errors = {-e[3] for e in expected if e[3] < 0}
    for name in ('EADDRINUSE EINVAL EADDRNOTAVAIL EAGAIN EINPROGRESS EISCONN ECONNREFUSED ENETUNREACH ENOENT '
                 'EOPNOTSUPP ENOTCONN EAFNOSUPPORT ESOCKTNOSUPPORT EPROTONOSUPPORT ENOTSOCK EBADF EFAULT').split():
        is_true(getattr(errno, name) in errors, name)


KEPT = []


@SUITE.test('states of TCP: as many as the kernel counts connections; the state that /proc/net/tcp has')
def counted():
    def act():
        before = counters()
        server = socket.create_server((HOST4, 0), backlog=16)
        pairs = []
        for _ in range(5):
            client = socket.create_connection(server.getsockname())
            pairs.append((client, server.accept()[0]))
        for _ in range(3):
            s = socket.socket()
            is_equal(s.connect_ex((HOST4, 9)), errno.ECONNREFUSED)
        pairs[0][0].shutdown(socket.SHUT_WR)
        pairs[1][0].close()
        sockets = [s for pair in pairs for s in pair if s.fileno() >= 0] + [server]
        KEPT.extend(sockets)
        cookies = {os.fstat(s.fileno()).st_ino: str(cookie(s)) for s in sockets}

        def now():
            lines = [line.split() for line in slurp('/proc/thread-self/net/tcp').splitlines()[1:]]
            return {cookies[int(w[9])]: int(w[3], 16) for w in lines if w[9] != '0'}
        net.until(lambda: sorted(now().values()) == [1] * 6 + [5] + [8] * 2 + [10])
        after = counters()
        return now(), {k: after[k] - before[k] for k in after}

    seen = []
    (now, counts), found = traced(act, look=lambda: seen.extend(category.events(category=CONN)))
    changes = collections.Counter((r.get('old_state'), r['state']) for r in of(found, 'STATE'))
    is_equal(changes['CLOSE', 'SYN_SENT'], counts['TcpActiveOpens'])
    is_equal(changes['LISTEN', 'SYN_RECV'], counts['TcpPassiveOpens'])
    is_equal(changes['SYN_SENT', 'CLOSE'] + changes['SYN_RECV', 'CLOSE'], counts['TcpAttemptFails'])
    is_equal((counts['TcpActiveOpens'], counts['TcpPassiveOpens'], counts['TcpAttemptFails']), (8, 5, 3))
    names = {1: 'ESTABLISHED', 5: 'FIN_WAIT2', 8: 'CLOSE_WAIT', 10: 'LISTEN'}
    last = {r['cookie']: r['state'] for r in sorted(seen, key=ended) if r['op'] == 'STATE' and 'cookie' in r}
    is_equal({c: last[c] for c in now}, {c: names[n] for c, n in now.items()})


@SUITE.test('a connect(2) that does not wait: the end of the handshake has its duration since then')
def not_waiting():
    def act():
        server = socket.create_server((HOST4, 0))
        one, refused_ = socket.socket(), socket.socket()
        for s in one, refused_:
            s.setblocking(False)
        results = one.connect_ex(server.getsockname()), refused_.connect_ex((HOST4, 9))
        net.until(lambda: one.connect_ex(server.getsockname()) in (0, errno.EISCONN))
        return results, cookie(one), cookie(refused_)

    (results, one, refused_), found = traced(act)
    is_equal(results, (errno.EINPROGRESS, errno.EINPROGRESS))
    asked = of(found, 'CONNECT', cookie=str(one))[0]
    done, = of(found, 'STATE', cookie=str(one), state='ESTABLISHED')
    is_equal((asked['result'], done['time']), (str(-errno.EINPROGRESS), asked['time']))
    is_true(int(done['latency']) > 0, done)
    is_equal([r['state'] for r in of(found, 'STATE', cookie=str(refused_))], ['SYN_SENT', 'CLOSE'])
    is_equal(of(found, 'STATE', cookie=str(refused_), state='ESTABLISHED'), [])


@SUITE.test('a queue that is full: connections that were established, and how long they waited')
def queue():
    wait = 0.2

    def act():
        server = socket.create_server((HOST4, 0), backlog=0)
        before = counters()
        clients = [socket.socket() for _ in range(4)]
        for s in clients:
            s.setblocking(False)
            s.connect_ex(server.getsockname())
        net.until(lambda: counters()['TcpExtListenOverflows'] > before['TcpExtListenOverflows'])
        time.sleep(wait)
        one = server.accept()[0]
        after = counters()
        return cookie(one), after['TcpPassiveOpens'] - before['TcpPassiveOpens']

    (one, opened), found = traced(act)
    accepted, = of(found, 'ACCEPT')
    done, = of(found, 'STATE', cookie=str(one), state='ESTABLISHED')
    is_equal(accepted['cookie'], str(one))
    is_true(int(accepted['queued']) >= wait * 1e9, accepted)
    is_true(abs(ended(accepted) - int(accepted['queued']) - ended(done)) < int(accepted['latency']) + 1000, accepted)
    opened_by = of(found, 'STATE', old_state='LISTEN', state='SYN_RECV')
    is_true(len(opened_by) >= opened > 0, (opened, opened_by))


@SUITE.test('UNIX sockets: paths, abstract names, sockets without a name')
def unix():
    names = ['/tmp/conn-socket', '\0abstract', '\0with\0zero', '/tmp/' + 'x' * 102, '\0' + 'y' * 107]

    def act():
        rows = []
        for name in names:
            if name[0] == '/' and os.path.exists(name):
                os.unlink(name)
            server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
            text = name.replace('\0', '@')
            flags = 'ABSTRACT' if name[0] == '\0' else ''
            server.bind(name)
            server.listen(1)
            client.connect(name)
            one, _ = server.accept()
            rows += [said('BIND', server, name=text, flags=flags), said('LISTEN', server, name=text, flags=flags),
                     said('CONNECT', client, name=text, flags=flags),
                     said('ACCEPT', one, name=text, fd=server.fileno(), result=one.fileno())]
        client = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        is_equal(client.connect_ex('\0nobody'), errno.ECONNREFUSED)
        rows.append(said('CONNECT', client, name='@nobody', flags='ABSTRACT', result=-errno.ECONNREFUSED))
        client.bind('') # the kernel chooses a name
        rows.append(said('BIND', client, name=client.getsockname().decode().replace('\0', '@'), flags='ABSTRACT'))
        longest = '/tmp/' + 'z' * 103 # without a byte of 0 behind it
        if os.path.exists(longest):
            os.unlink(longest)
        server = socket.socket(socket.AF_UNIX)
        is_equal(native.bind(server.fileno(), struct.pack('<H', socket.AF_UNIX) + longest.encode(), 110), 0)
        rows.append(said('BIND', server, name=longest))
        return rows

    rows, found = traced(act)
    found = [r for r in found if r['op'] in ('BIND', 'LISTEN', 'CONNECT', 'ACCEPT')]
    are_said(found, rows)


@SUITE.test('socketpair(2): both; a socket in a message has one owner and one CLOSE, also if nobody takes it')
def passed():
    def act():
        one, two = socket.socketpair()
        rows = [said('SOCKET_CREATE', s, flags='SOCK_CLOEXEC|PAIR', state='ESTABLISHED') for s in (one, two)]
        left, right = socket.socketpair()
        s = socket.socket()
        taken, lost = cookie(s), cookie(one)
        left.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [s.fileno()]))])
        s.close()
        pid = spawn(lambda: take(right, taken))
        join(pid)
        left.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [one.fileno()]))])
        one.close()
        right.recv(1) # without room for the descriptor: it is closed
        for s in left, right, two:
            s.close()
        return rows, taken, lost, pid, os.getpid()

    def take(right, number):
        _, ancillary, _, _ = right.recvmsg(1, socket.CMSG_SPACE(4))
        fds = array.array('i', ancillary[0][2])
        s = socket.socket(fileno=fds[0])
        is_equal(cookie(s), number)
        s.bind((HOST4, 0))
        s.listen()
        s.close()

    (rows, taken, lost, taker, maker), found = traced(act)
    are_said(of(found, 'SOCKET_CREATE')[:2], rows)
    is_equal(len(of(found, 'CLOSE', cookie=str(taken))), 1)
    is_equal(len(of(found, 'CLOSE', cookie=str(lost))), 1)
    is_equal({r['pid'] for r in of(found, 'LISTEN', cookie=str(taken))}, {taker})
    states_ = of(found, 'STATE', cookie=str(taken))
    is_equal([(r['state'], r['pid']) for r in states_], [('LISTEN', maker), ('CLOSE', maker)])


@SUITE.test('each socket that was made is closed once: by close(2), dup2(2), exec(2), exit(2), a kill')
def closed_once():
    def act():
        made = []

        def make(n, then):
            reading, writing = os.pipe()

            def run():
                kept = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(n)]
                os.write(writing, struct.pack(f'{n}Q', *(cookie(s) for s in kept)))
                then(kept)
            pid = spawn(run)
            made.extend(struct.unpack(f'{n}Q', os.read(reading, 8 * n)))
            os.close(reading)
            os.close(writing)
            return pid

        def replaced(kept):
            null = os.open('/dev/null', os.O_RDONLY)
            for s in kept:
                os.dup2(null, s.fileno())

        pids = [make(5, lambda kept: [s.close() for s in kept]), make(5, replaced), make(5, lambda kept: os._exit(0)),
                make(3, lambda kept: os.execv('/bin/true', ['true']))]
        join(*pids)
        killed = make(4, lambda kept: signal.pause())
        os.kill(killed, signal.SIGKILL)
        os.waitpid(killed, 0)
        return made

    made, found = traced(act)
    closes = collections.Counter(r['cookie'] for r in of(found, 'CLOSE'))
    is_equal({str(c): closes[str(c)] for c in made}, {str(c): 1 for c in made})
    created = collections.Counter(r['cookie'] for r in of(found, 'SOCKET_CREATE'))
    is_equal(created, closes)


@SUITE.test('SO_REUSEPORT: each listener accepts what it has queued')
def reuseport():
    def act():
        servers = []
        for _ in range(3):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            s.bind((HOST4, servers[0].getsockname()[1] if servers else 0))
            s.listen(64)
            s.setblocking(False)
            servers.append(s)
        clients = [socket.create_connection(servers[0].getsockname()) for _ in range(20)]
        taken = {}
        for s in servers:
            while True:
                try:
                    taken[cookie(s.accept()[0])] = cookie(s)
                except BlockingIOError:
                    break
        return len(clients), {str(k): str(v) for k, v in taken.items()}

    (n, taken), found = traced(act)
    is_equal(len(taken), n)
    is_equal({r['cookie']: r['listener'] for r in of(found, 'ACCEPT') if int(r['result']) >= 0}, taken)


def sockaddr(host, port):
    return struct.pack('<H', socket.AF_INET) + struct.pack('>H', port) + socket.inet_aton(host) + bytes(8)


@SUITE.test('io_uring: socket, bind, listen, accept, connect and shutdown, each once')
def uring():
    def act():
        ring = Uring()
        fd = ring.submit(SOCKET, fd=socket.AF_INET, off=socket.SOCK_STREAM)
        server = socket.socket(fileno=fd)
        rows = [said('SOCKET_CREATE', server, fd=-1, flags='URING')]
        if HAS_URING_BIND:
            is_equal(ring.submit(BIND, fd=fd, addr=sockaddr(HOST4, 0), off=16), 0)
            rows.append(said('BIND', server, fd=-1, flags='URING'))
            is_equal(ring.submit(LISTEN, fd=fd, len=5), 0)
            rows.append(said('LISTEN', server, fd=-1, flags='URING', backlog=5))
        else:
            server.bind((HOST4, 0))
            rows.append(said('BIND', server))
            server.listen(5)
            rows.append(said('LISTEN', server, backlog=5))
        client = socket.socket()
        rows.append(said('SOCKET_CREATE', client, result=client.fileno()))
        ring.put(ACCEPT, fd=fd, user_data=1) # waits: nobody connects yet
        ring.enter(1, 0)
        port = server.getsockname()[1]
        address = sockaddr(HOST4, port)
        ring.put(CONNECT, fd=client.fileno(), addr=address, off=16, user_data=2)
        ring.enter(1, 2)
        results = dict(ring.take() for _ in range(2))
        is_equal(results[2], 0)
        one = socket.socket(fileno=results[1])
        pair = [said('CONNECT', client, flags='URING'),
                said('ACCEPT', one, fd=-1, listener=cookie(server), flags='URING')]
        is_equal(ring.submit(SHUTDOWN, fd=client.fileno(), len=socket.SHUT_WR), 0)
        rows.append(said('SHUTDOWN', client, fd=-1, how='SHUT_WR', flags='URING'))
        is_equal(ring.submit(CONNECT, fd=client.fileno(), addr=address, off=16), -errno.EISCONN)
        rows.append(said('CONNECT', client, result=-errno.EISCONN, flags='URING', remote_port=port))
        return rows, pair

    (rows, pair), found = traced(act)
    found = [r for r in calls_only(found) if r['op'] != 'CLOSE']
    for r in rows + pair: # a worker of io_uring may make the call
        del r['tid']
    two = [r for r in found if (r['op'], r['result']) in (('ACCEPT', '0'), ('CONNECT', '0'))]
    are_said(sorted(two, key=lambda r: r['op'] == 'ACCEPT'), pair)
    are_said([r for r in found if r not in two], rows)
    established = [r['state'] for r in found if r['op'] == 'CONNECT']
    is_equal(established[0], 'ESTABLISHED')


@SUITE.test('32-bit programs, by calls of their own and by socketcall(2)')
def compat():
    if MACHINE != 'x86_64':
        return

    def act():
        calls = Calls32()
        place = calls.place
        s = socket.socket()
        rows = [said('SOCKET_CREATE', s, result=s.fileno())]
        is_equal(calls.bind(s.fileno(), sockaddr(HOST4, 0), 16), 0)
        rows.append(said('BIND', s))
        is_equal(calls.socketcall(4, struct.pack('<2I', s.fileno(), 9)), 0)
        rows.append(said('LISTEN', s, backlog=9))
        client = socket.socket(fileno=calls.socketcall(1, struct.pack('<3I', 2, 1, 0)))
        rows.append(said('SOCKET_CREATE', client, result=client.fileno()))
        address = place(sockaddr(HOST4, s.getsockname()[1]))
        is_equal(calls.socketcall(3, struct.pack('<3I', client.fileno(), address, 16)), 0)
        rows.append(said('CONNECT', client))
        one = socket.socket(fileno=calls.socketcall(5, struct.pack('<3I', s.fileno(), 0, 0)))
        rows.append(said('ACCEPT', one, result=one.fileno(), fd=s.fileno()))
        return rows

    rows, found = traced(act)
    are_said([r for r in calls_only(found) if r['op'] != 'CLOSE'], rows)


@SUITE.test('an address that arrives late is read after the call; one that never arrives is not known')
def late():
    def act():
        s = socket.socket()
        page = Later()
        results = []
        thread = threading.Thread(target=lambda: results.append(native.bind(s.fileno(), page.address, 16)))
        thread.start()
        time.sleep(0.1)
        page.arrive(sockaddr('192.0.2.1', 77))
        thread.join()
        results.append(native.connect(s.fileno(), 8, 16))
        return results

    results, found = traced(act)
    is_equal(results, [-errno.EADDRNOTAVAIL, -errno.EFAULT])
    bind, = of(found, 'BIND')
    is_equal((bind['local'], bind['local_port'], bind['flags']), ('192.0.2.1', '77', 'LATE'))
    connect, = of(found, 'CONNECT')
    is_equal((connect.get('remote'), connect.get('remote_port'), connect['flags']), (None, None, 'UNREAD'))


@SUITE.test('accept(2) that waits: recorded when it ends, also by a signal; stop and rmmod do not wait for it')
@reloads
def waiting():
    def accept(s):
        s.accept()

    def accept_until_signal(s):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        s.accept()

    server = socket.create_server((HOST4, 0))
    begin(f'tree={os.getpid()}')
    pid = spawn(accept, server)
    waits_in(pid, *ACCEPTS)
    is_equal([e for e in category.events(category=CONN) if e['pid'] == pid], [])
    time.sleep(0.05)
    client = socket.create_connection(server.getsockname())
    join(pid)
    interrupted = spawn(accept_until_signal, server)
    waits_in(interrupted, *ACCEPTS)
    os.kill(interrupted, signal.SIGALRM)
    join(interrupted)
    records = {e['pid']: e for e in end() if e['op'] == 'ACCEPT'}
    is_true(int(records[pid]['result']) >= 0, records[pid])
    is_true(int(records[pid]['latency']) >= 50_000_000 > int(records[pid]['queued']), records[pid])
    is_equal(records[interrupted]['result'], str(-errno.EINTR))

    begin()
    pid = spawn(accept, server)
    waits_in(pid, *ACCEPTS)
    command('stop')
    unload()
    client.close()
    client = socket.create_connection(server.getsockname())
    join(pid)
    reload()


def open_sockets(n):
    """Some sockets of each kind."""
    found = []
    server = socket.create_server((HOST4, 0), backlog=64)
    found.append(server)
    while len(found) < n:
        found += socket.socketpair()
        found.append(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
        if len(found) % 40 < 3:
            found.append(socket.create_connection(server.getsockname()))
            found.append(server.accept()[0])
    return found


@SUITE.test('sockets older than the trace: each is listed once, with its ends and a process that has it')
def existing():
    n = 2000

    def hold():
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * n, 2 * n))
        new_namespace()
        kept = open_sockets(n)
        rows = [about(s) | dict(op='EXISTING', fd=str(s.fileno())) for s in kept]
        for row in rows:
            del row['tid']
        os.write(writing, pickle.dumps(rows) + b'.END.')
        pids = [spawn(signal.pause) for _ in range(3)] # they have all of them, too
        signal.sigwait([signal.SIGUSR1])
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        os.write(writing, b'x')

    reading, writing = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    pid = spawn(hold)
    os.close(writing)
    data = b''
    while not data.endswith(b'.END.'):
        part = os.read(reading, 1 << 20)
        is_true(part, 'the child has said nothing')
        data += part
    rows = pickle.loads(data[:-5])
    begin()

    def listed():
        return [r for r in category.events(category=CONN) if r['op'] == 'EXISTING' and r['pid'] == pid]
    net.until(lambda: len(listed()) >= len(rows))
    os.kill(pid, signal.SIGUSR1)
    join(pid)
    found = of_namespace(end(), rows[0]['netns'])
    listed_ = of(found, 'EXISTING')
    are_said(sorted(listed_, key=lambda r: int(r['fd'])), sorted(rows, key=lambda r: int(r['fd'])))
    closes = collections.Counter(r['cookie'] for r in of(found, 'CLOSE'))
    is_equal(closes, collections.Counter(r['cookie'] for r in rows))
    owners = {r['cookie']: r['pid'] for r in listed_}
    for r in of(found, 'STATE'):
        is_equal(r['pid'], owners[r['cookie']])


@SUITE.test('a network namespace that is torn down, with its connections')
def torn_down():
    def act():
        server = socket.create_server((HOST4, 0))
        client = socket.create_connection(server.getsockname())
        one = server.accept()[0]
        return [cookie(s) for s in (server, client, one)]

    made, found = traced(act)
    is_equal({r['cookie'] for r in of(found, 'CLOSE')} >= {str(c) for c in made}, True)
    begin()
    for _ in range(20):
        child = Child(act)
        child.act()
    end()


@SUITE.test('the kernel\'s own sockets are named as such')
def kernels():
    begin()
    child = Child(lambda: None)
    child.act()
    found = [r for r in end() if r.get('netns') == child.netns]
    own = [r for r in found if 'KERNEL' in r.get('flags', '')]
    is_true(of(own, 'SOCKET_CREATE'), found)
    is_equal([r for r in found if r['op'] == 'SOCKET_CREATE' and r not in own and r['pid'] != child.pid], [])


@SUITE.test('filters: by socket, operation, process, duration; one event in N')
def filters():
    def act():
        kept = [socket.socket() for _ in range(8)]
        for s in kept:
            s.bind((HOST4, 0))
            s.listen()
        return [os.fstat(s.fileno()).st_ino for s in kept]

    for condition, ops in (('op=BIND', {'BIND'}), ('op=STATE', {'STATE'}), ('min_latency=3600s', set())):
        _, found = traced(act, conditions=[condition])
        is_equal((condition, {r['op'] for r in found if r['op'] != 'EXISTING'}), (condition, ops))
    begin(f'tree={os.getpid()}')
    kept = socket.socket()
    inode = os.fstat(kept.fileno()).st_ino
    kept.close()
    is_equal(len(of(end(), 'CLOSE', inode=str(inode))), 1)
    child = Child(act)
    begin(f'pid={child.pid}')
    child.act()
    found = end()
    is_equal({r['pid'] for r in found}, {child.pid})
    is_equal(len(of(found, 'STATE')), 16)
    begin('inode=1')
    is_equal(end(), [])
    child = Child(act)
    begin('op=LISTEN', f'pid={child.pid}')
    command('sample 4')
    child.act()
    is_equal([r['sample'] for r in end()], ['4', '4'])
    for key in 'dev=8:0', 'kind=file', 'min_size=1', 'path=/tmp', 'rejected=1':
        refused('EINVAL', 'filter ' + key, f'{IOT}/conn/control')


def some_connections():
    kept = list(socket.socketpair())
    for host, port in (HOST4, 5432), (HOST4, 80), (HOST6, 5432):
        family = socket.AF_INET6 if host == HOST6 else socket.AF_INET
        server = socket.create_server((host, port), family=family)
        kept += [server, socket.create_connection((host, port)), server.accept()[0]]
    for s in kept:
        s.close()


@SUITE.test('filters: by what a socket is, where, and between which ends')
def filters_of_sockets():
    def ports(r):
        return {r.get('local_port'), r.get('remote_port')}

    def ends(r):
        return {r.get('local'), r.get('remote')}

    def calls(found):
        return collections.Counter((r['op'], r.get('family')) for r in calls_only(found))

    _, found = traced(some_connections)
    for condition, meets in (('port=5432', lambda r: '5432' in ports(r)),
                             ('port=80,5432 family=inet', lambda r: r['family'] == 'AF_INET' and ports(r) & {'80', '5432'}),
                             ('addr=::1', lambda r: HOST6 in ends(r)),
                             ('addr=127.0.0.0/8', lambda r: HOST4 in ends(r)),
                             ('family=unix', lambda r: r['family'] == 'AF_UNIX'),
                             ('proto=tcp', lambda r: r.get('protocol') == 'TCP')):
        some = traced(some_connections, conditions=[condition])[1]
        is_equal((condition, [r for r in some if not meets(r)]), (condition, []))
        is_equal((condition, calls(some)), (condition, calls([r for r in found if meets(r)])))
    child, other = Child(some_connections), Child(some_connections)
    begin(f'netns={child.netns}')
    child.act()
    other.act()
    some = end()
    is_equal({r['netns'] for r in some}, {child.netns})
    is_equal(calls(of_namespace(some, child.netns)), calls(found))


@SUITE.test('hooked only while started')
def hooked():
    def attached():
        return [line.split()[0] for line in slurp(f'{IOT}/hooks').splitlines()
                if line.split()[0] in ('__sys_accept4', 'sock_close') and line.split()[3] != '0']
    command('stop')
    is_equal(attached(), [])
    begin()
    is_equal(sorted(attached()), ['__sys_accept4', 'sock_close'])
    end()
    is_equal(attached(), [])


@SUITE.test('category drop has the owner of a socket, while conn is started')
def owner_of_drops():
    def act():
        server = socket.create_server((HOST4, 0))
        client = socket.create_connection(server.getsockname())
        one = server.accept()[0]
        client.sendall(b'x')
        one.recv(1, socket.MSG_PEEK)
        number = cookie(client)
        one.close() # resets the connection, as it has not read all
        KEPT.append(client)
        return number

    for known in True, False:
        child = Child(act)
        if known:
            begin()
        category.command('stop', 'reset', 'filter none', 'start', category='drop')
        number = child.act()
        category.command('stop', category='drop')
        end()
        reset, = [r for r in category.events(category='drop') if r['op'] == 'RESET_RECEIVED'
                  and r.get('cookie') == str(number)]
        is_equal(reset['pid'], child.pid if known else 0)
