# SPDX-License-Identifier: GPL-2.0
"""
Category drop: the packets that the kernel drops, and TCP's resets and repeated segments.

Two network namespaces are joined by a veth, on which nothing is sent that a test does not send. The
sums have to be those that the kernel counts itself in /proc/net, or tc(8), or those of the programs'
own calls.
"""
import collections
import errno
import ipaddress
import os
import random
import re
import socket
import struct

from lib import category, net
from lib.category import stops
from lib.iot import (IOT, is_equal, is_true, join, load, memory_group, must, reload, slurp, unload,
                     write)
from lib.kernel import VERSION
from lib.machine import new_tmpfs, umount
from lib.net import ADDRESSES, cookie, LEFT, RIGHT, tc
from lib.suite import reloads, Suite

DROP = 'drop'
NO_USER = str(2 ** 32 - 1)
HAS_RECEIVER = VERSION >= (6, 11)       # the kernel says which socket was to receive a packet
HAS_RESET_REASON = VERSION >= (6, 10)
FAMILIES = socket.AF_INET, socket.AF_INET6
NOBODY = 65534


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files')
    is_true(load(), 'insmod failed')
    net.make()


def teardown():
    unload()
    net.remove()
    umount('/mnt/files')


def clean_up():
    stops(DROP)()
    if os.path.exists(IOT):
        command('filter none', 'sample 1')
    for where in LEFT, RIGHT:
        net.execute('sh', '-c', f'tc -n {where} qdisc del dev eth root 2>&1 || true')


SUITE = Suite(setup=setup, teardown=teardown, after=clean_up, tags=('plain',))


def command(*lines):
    category.command(*lines, category=DROP)


def trace(*conditions):
    command('stop', 'size 65536', 'reset', 'filter ' + (' '.join(conditions) or 'none'), 'start')


def traced():
    """Stop. Returns the events, none of which was lost."""
    command('stop')
    s = category.is_conserved(DROP)
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    return category.events(category=DROP)


def of(found, op, **fields):
    """The events of an operation with these fields; a field that is not shown is None."""
    return [r for r in found if r['op'] == op and all(r.get(k) == v for k, v in fields.items())]


def address(where, family):
    return ADDRESSES[where][family == socket.AF_INET6]


def header(family):
    return 40 if family == socket.AF_INET6 else 20


def version(family):
    return '6' if family == socket.AF_INET6 else '4'


def listener(family, host, backlog=100):
    sock = socket.socket(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, 0))
    sock.listen(backlog)
    return sock


def inside(where, function, *args):
    return net.enter(where, function, *args)


# --- dropped packets -------------------------------------------------------------------------

def send_datagrams(family, host, port, sizes):
    """Send one datagram of each size. Returns the port that they are from."""
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        for size in sizes:
            sock.sendto(b'x' * size, (host, port))
        return sock.getsockname()[1]


@SUITE.test('drops: datagrams to a closed port are those that the kernel counts, with their headers')
def closed_port():
    for family, counter in zip(FAMILIES, ('UdpNoPorts', 'Udp6NoPorts')):
        counts, sizes = net.Counts(), (1, 100, 1400, 4000)
        trace()
        port = inside(LEFT, send_datagrams, family, address(RIGHT, family), 9, sizes)
        found = traced()
        drops = of(found, 'PACKET_DROP', reason='NO_SOCKET')
        is_equal(len(drops), counts.added(RIGHT, counter))
        is_equal(sorted(int(r['size']) for r in drops), [n + 8 + header(family) for n in sizes])
        for r in drops:
            is_equal({k: r.get(k) for k in ('source', 'destination', 'source_port', 'destination_port', 'protocol',
                                            'ip_version', 'netns', 'uid', 'segments', 'pid', 'tid', 'comm')},
                     {'source': address(LEFT, family), 'destination': address(RIGHT, family),
                      'source_port': str(port), 'destination_port': '9', 'protocol': 'UDP',
                      'ip_version': version(family), 'netns': str(net.inode(RIGHT)), 'uid': NO_USER,
                      'segments': '1', 'pid': 0, 'tid': 0, 'comm': ''})
            is_equal(r['interface'], inside(RIGHT, lambda: str(socket.if_nametoindex('eth'))))
            is_true(re.fullmatch(r'(__udp[46]_lib_rcv|udp_rcv|udpv6_rcv)\+0x[0-9a-f]+', r['function']), r)


def overflow(family, host, n):
    """Send datagrams to a socket that nobody reads, of another user and in this cgroup."""
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        os.fchown(sock.fileno(), NOBODY, NOBODY)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.bind((host, 0))
        identity = cookie(sock)
        for size in range(n):
            send_datagrams(family, host, sock.getsockname()[1], (500 + size,))
        got = []
        sock.setblocking(False)
        try:
            while True:
                got.append(len(sock.recv(65536)))
        except BlockingIOError:
            pass
        return identity, sock.getsockname()[1], got


@SUITE.test('drops: datagrams for which a socket has no room, and the socket')
def no_room():
    for family, counter in zip(FAMILIES, ('UdpRcvbufErrors', 'Udp6RcvbufErrors')):
        counts = net.Counts()
        trace()
        with memory_group() as group:
            def act(family=family, group=group):
                must(str(os.getpid()), group + '/cgroup.procs')
                return overflow(family, address(RIGHT, family), 50)

            identity, port, got = inside(RIGHT, act)
            number = os.stat(group).st_ino
        drops = of(traced(), 'PACKET_DROP', destination_port=str(port))
        is_equal(len(drops), counts.added(RIGHT, counter))
        # what was not dropped was received
        is_equal(sorted([int(r['size']) - 8 - header(family) for r in drops] + got), list(range(500, 550)))
        is_true(len(drops) > 10 and got, drops)
        is_equal({r['reason'] for r in drops}, {'SOCKET_RCVBUFF'})
        owners = {(r.get('cookie'), r['uid'], r.get('cgroup')) for r in drops}
        is_equal(owners, {(str(identity), str(NOBODY), str(number))} if HAS_RECEIVER else {(None, NO_USER, None)})


def serve(where, function):
    """Call the function in a process in a namespace. It tells its port with its argument. Returns port and pid."""
    reading, writing = os.pipe()
    pid = net.start(where, function, lambda sock: os.write(writing, b'%d\n' % sock.getsockname()[1]))
    os.close(writing)
    with os.fdopen(reading) as f:
        return int(f.readline()), pid


def echo(where, family):
    """A process that sends each datagram back, until it gets an empty one. Returns its port and pid."""
    def answer(tell):
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((address(where, family), 0))
            tell(sock)
            while True:
                data, came_from = sock.recvfrom(65536)
                sock.sendto(data, came_from)
                if not data:
                    return

    return serve(where, answer)


def call(family, to, sizes):
    """Send datagrams, each when the one before it has come back. Returns the sizes of what came."""
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.connect(to)
        got = []
        for size in sizes:
            sock.send(b'x' * size)
            got.append(len(sock.recv(65536)))
        return got


def send_all(family, to, n, **options):
    with socket.socket(family) as sock:
        for name, value in options.items():
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        sock.connect(to)
        sock.sendall(b'x' * n)


def receive_all(sock):
    n = 0
    while data := sock.recv(1 << 20):
        n += len(data)
    return n


@SUITE.test('drops: packets that were used are none, nor are those of other protocols')
def none():
    sizes = [*range(1, 100), 1472, 5000, 0]
    trace()
    for family in FAMILIES:
        port, pid = echo(RIGHT, family)
        is_equal(inside(LEFT, call, family, (address(RIGHT, family), port), sizes), sizes)
        join(pid)
    is_equal(traced(), [])

    def other_protocols():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(('eth', 0))
            for kind in 0x88b5, 0x0806, 0x8100:
                sock.send(b'\xff' * 12 + struct.pack('!H', kind) + b'\x45' + bytes(60))

    trace()
    inside(LEFT, other_protocols)
    is_equal(traced(), [])


@SUITE.test('drops: what netem drops is what tc counts, by which socket and from where')
def by_queue():
    tc(LEFT, 'qdisc', 'add', 'dev', 'eth', 'root', 'netem', 'loss', '100%')

    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            identity = cookie(sock)
            for _ in range(20):
                sock.sendto(b'x' * 300, (address(RIGHT, socket.AF_INET), 7000))
            return identity

    trace()
    identity = inside(LEFT, send)
    drops = of(traced(), 'PACKET_DROP', destination_port='7000')
    is_equal((len(drops), len(drops)), (20, net.dropped_by_queue(LEFT)))
    is_equal({(r['source'], r['size'], r['netns'], r['cookie'], r.get('interface')) for r in drops},
             {(address(LEFT, socket.AF_INET), '328', str(net.inode(LEFT)), str(identity), None)})
    # whoever is current when a queue drops a packet need not be its sender
    is_equal({(r['pid'], r['comm']) for r in drops}, {(0, '')})


# --- packets as an attacker makes them --------------------------------------------------------

def checksum(data):
    total = sum(struct.unpack(f'!{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(payload, protocol=17, offset=0, ihl=5, length=None, identity=1):
    source, destination = (socket.inet_aton(address(w, socket.AF_INET)) for w in (LEFT, RIGHT))
    options = bytes(4 * (ihl - 5))
    head = struct.pack('!BBHHHBBH4s4s', 0x40 | ihl, 0, 20 + len(options) + len(payload) if length is None else length,
                       identity, offset, 64, protocol, 0, source, destination) + options
    return head[:10] + struct.pack('!H', checksum(head)) + head[12:] + payload


def ipv6(payload, protocol):
    ends = [socket.inet_pton(socket.AF_INET6, address(w, socket.AF_INET6)) for w in (LEFT, RIGHT)]
    return struct.pack('!IHBB', 6 << 28, len(payload), protocol, 64) + b''.join(ends) + payload


def udp(source, destination, data=b''):
    """Without a checksum, which IPv6 does not allow: it drops them for that."""
    return struct.pack('!HHHH', source, destination, 8 + len(data), 0) + data


def send_frames(frames):
    """Send frames of IP to the other namespace."""
    mac = re.search(r'lladdr (\S+)', net.ip('neigh', 'show', 'dev', 'eth'))[1]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind(('eth', 0))
        for frame in frames:
            kind = 0x86dd if frame[0] >> 4 == 6 else 0x0800
            try:
                sock.send(bytes.fromhex(mac.replace(':', '')) + bytes(6) + struct.pack('!H', kind) + frame)
            except OSError as e:
                is_equal(e.errno, errno.ENOBUFS)


HOP, ROUTING, FRAGMENT, DEST, AUTH = 0, 43, 44, 60, 51


def option(following, length=0):
    """An extension header whose only option fills it."""
    return bytes([following, length, 1, 4 + 8 * length]) + bytes(4 + 8 * length)


@SUITE.test('drops: ports behind options, extension headers and fragments')
def chained_headers():
    chain = option(DEST) + option(17, 1)
    frames = {
        '4001': ipv4(udp(5001, 4001), ihl=8),
        '4002': ipv6(chain + udp(5002, 4002), DEST),
        # longer than is followed
        'long': ipv6(b''.join(option(DEST) for _ in range(40)) + option(17) + udp(5003, 4003), DEST),
        # its upper layer is not there
        'short': ipv6(option(17), DEST),
    }
    trace('op=PACKET_DROP')
    inside(LEFT, send_frames, list(frames.values()))
    found = traced()
    first, = of(found, 'PACKET_DROP', destination_port='4001')
    is_equal((first['source_port'], first['protocol'], first['size'], first['reason']),
             ('5001', 'UDP', str(32 + 8), 'NO_SOCKET'))
    second, = of(found, 'PACKET_DROP', destination_port='4002')
    is_equal((second['source_port'], second['protocol'], second['size']), ('5002', 'UDP', str(40 + 24 + 8)))
    is_equal(of(found, 'PACKET_DROP', destination_port='4003'), [])
    rest = [r for r in found if 'destination_port' not in r and r['ip_version'] == '6']
    is_equal(sorted(int(r['size']) for r in rest if r['source'] == address(LEFT, socket.AF_INET6)),
             sorted(len(frames[name]) for name in ('long', 'short')))


@SUITE.test('drops: any bytes in a packet: all events are kept, and each has addresses')
def any_bytes():
    chosen = random.Random(1)
    frames = []
    for _ in range(1500):
        payload = bytes(chosen.randrange(256) for _ in range(chosen.randrange(60)))
        frame = chosen.choice((
            lambda: ipv4(payload, chosen.randrange(256), chosen.randrange(1 << 16), chosen.randrange(5, 16)),
            lambda: ipv4(payload, 6, ihl=5, length=chosen.randrange(100)),
            lambda: ipv6(payload, chosen.choice((HOP, ROUTING, FRAGMENT, DEST, AUTH, 6, 17, 58, 59, 255))),
            lambda: bytes([0x40 | chosen.randrange(16)]) + payload,
            lambda: bytes([0x60]) + payload))()
        frames.append(frame)
    counts = net.Counts()
    trace('op=PACKET_DROP')
    inside(LEFT, send_frames, frames)
    found = traced()
    is_true(len(found) > 300, len(found))
    is_true(counts.added(RIGHT, 'IpInHdrErrors') <= len(found), len(found))
    for r in found:
        is_true(r['ip_version'] in ('4', '6') and 0 < int(r['size']) < 2000 and 'reason' in r and
                re.fullmatch(r'[\w.]+\+0x[0-9a-f]+', r['function']), r)
    is_true(len({r['reason'] for r in found}) > 2, {r['reason'] for r in found})


@SUITE.test('drops: fragments that time out, of a datagram that never is whole')
def fragments():
    parts = [ipv4(udp(6000, 6001, bytes(400)), offset=0x2000, identity=7),
             ipv4(bytes(80), offset=0x2000 | 60, identity=7)]
    trace('op=PACKET_DROP')
    before = net.Counts()

    def act():
        with open('/proc/sys/net/ipv4/ipfrag_time', 'w', encoding='ascii') as f:
            f.write('1')

    inside(RIGHT, act)
    inside(LEFT, send_frames, parts)
    net.until(lambda: before.added(RIGHT, 'IpReasmTimeout') == 1)
    found = traced()
    is_equal({(r['reason'], r['source'], r['protocol']) for r in found},
             {('FRAG_REASM_TIMEOUT' if VERSION > (6, 1) else 'NOT_SPECIFIED', address(LEFT, socket.AF_INET), 'UDP')})
    # only the first one has ports
    is_equal({r.get('destination_port') for r in found if int(r['size']) > 400}, {'6001'})


# --- resets -----------------------------------------------------------------------------------

def refused(family, host, n):
    """Connect to closed ports. Returns the ports of the clients and how many were refused."""
    errors = 0
    for port in range(20000, 20000 + n):
        with socket.socket(family) as sock:
            errors += sock.connect_ex((host, port)) == errno.ECONNREFUSED
    return errors


@SUITE.test('resets: those sent are what the kernel counts, those received what programs see')
def resets():
    for family in FAMILIES:
        counts = net.Counts()
        trace('op=RESET_SENT,RESET_RECEIVED')
        n = inside(LEFT, refused, family, address(RIGHT, family), 20)
        found = traced()
        is_equal(n, 20)
        sent, received = of(found, 'RESET_SENT'), of(found, 'RESET_RECEIVED')
        is_equal((len(sent), len(received)), (counts.added_everywhere('TcpOutRsts'), n))
        for rows, where in (sent, RIGHT), (received, LEFT):
            is_equal({(r['source'], r['destination'], r['netns'], r['protocol'], r['ip_version']) for r in rows},
                     {(address(RIGHT, family), address(LEFT, family), str(net.inode(where)), 'TCP', version(family))})
            is_equal({int(r['source_port']) for r in rows}, set(range(20000, 20020)))
        is_equal({r['destination_port'] for r in sent}, {r['destination_port'] for r in received})
        is_equal({(r.get('reason'), r['uid'], r['pid']) for r in sent},
                 {('NO_SOCKET' if HAS_RESET_REASON else None, NO_USER, 0)})
        is_equal({r['tcp_state'] for r in received}, {'SYN_SENT'})


def closed_unread(family, host, n):
    """Close connections that have unread data. Returns pid, and both ports of each connection."""
    ends = []
    with listener(family, host) as queue:
        for _ in range(n):
            client = socket.create_connection(queue.getsockname()[:2])
            server = queue.accept()[0]
            client.sendall(b'x')
            server.recv(1, socket.MSG_PEEK)
            ends.append((server.getsockname()[1], client.getsockname()[1]))
            server.close()
            try:
                client.recv(1)
                ends.append('no reset')
            except ConnectionResetError:
                pass
            client.close()
    return os.getpid(), ends


@SUITE.test('resets: by a close that leaves data unread, with the process that closed')
def closing():
    for family in FAMILIES:
        counts = net.Counts()
        trace('op=RESET_SENT,RESET_RECEIVED')
        pid, ends = inside(RIGHT, closed_unread, family, address(RIGHT, family), 10)
        found = traced()
        sent, received = of(found, 'RESET_SENT'), of(found, 'RESET_RECEIVED')
        is_equal((len(sent), len(received)), (counts.added(RIGHT, 'TcpOutRsts'), 10))
        is_equal(counts.added(RIGHT, 'TcpEstabResets'), 20)
        is_equal([(int(r['source_port']), int(r['destination_port'])) for r in sorted(sent, key=lambda r: r['time'])],
                 ends)
        is_equal({(r['pid'], r['tid'], r['comm']) for r in sent}, {(pid, pid, slurp('/proc/self/comm').strip())})
        if HAS_RESET_REASON:
            is_equal({r['reason'] for r in sent}, {'TCP_ABORT_ON_CLOSE'})


# --- repeated segments ------------------------------------------------------------------------

def segments(rows):
    return sum(int(r['segments']) for r in rows)


def is_as_counted(found, counts):
    """Check repeated segments, by their triggers, against what the kernel counts."""
    rows = of(found, 'TCP_RETRANSMIT')
    by = collections.defaultdict(list)
    for r in rows:
        by[r['trigger']].append(r)
    is_equal(segments(rows), counts.added_everywhere('TcpRetransSegs'))
    is_equal(segments(by['FAST']), counts.added_everywhere('TcpExtTCPFastRetrans'))
    is_equal(segments(by['LOSS']), counts.added_everywhere('TcpExtTCPSlowStartRetrans'))
    is_true(segments(by['TLP']) <= counts.added_everywhere('TcpExtTCPLossProbes'), by['TLP'])
    is_true(segments(by['RTO']) <= counts.added_everywhere('TcpExtTCPTimeouts'), by['RTO'])
    is_equal(by['OTHER'], [])
    return by


def states():
    """The states of all TCP sockets in the network namespace of this process, as /proc/net/tcp has them."""
    return {line.split()[3] for file in ('tcp', 'tcp6')
            for line in slurp(f'/proc/thread-self/net/{file}').splitlines()[1:]}


def nothing_is_repeated():
    """Sockets of both namespaces only listen (0A) or wait for late packets (06): none repeats anything."""
    return all(inside(where, states) <= {'06', '0A'} for where in (LEFT, RIGHT))


def lossy(family):
    """Send through a queue that loses packets. Returns the repeated segments by their triggers."""
    tc(LEFT, 'qdisc', 'replace', 'dev', 'eth', 'root', 'netem', 'loss', '4%', 'delay', '2ms')
    counts = net.Counts()
    trace()
    port, pid = reader_in(RIGHT, family)
    inside(LEFT, send_all, family, (address(RIGHT, family), port), 4_000_000)
    join(pid)
    net.until(nothing_is_repeated)
    found = traced()
    by = is_as_counted(found, counts)
    rows = of(found, 'TCP_RETRANSMIT')
    is_equal({(r['source'], r['destination'], r['destination_port'], r['netns'], r.get('uid')) for r in rows} -
             {(address(LEFT, family), address(RIGHT, family), str(port), str(net.inode(LEFT)), None)}, set())
    drops = of(found, 'PACKET_DROP', reason='QDISC_DROP', netns=str(net.inode(LEFT)))
    is_equal(len(drops), net.dropped_by_queue(LEFT))
    tc(LEFT, 'qdisc', 'del', 'dev', 'eth', 'root')
    return by


def until_all(wanted, act, *args):
    """Repeat what chance decides, until each of these triggers was seen. Whatever was, is checked."""
    seen = set()
    for _ in range(10):
        seen |= {trigger for trigger, rows in act(*args).items() if rows}
        if wanted <= seen:
            return
    raise AssertionError(f'{seen} were seen, and not all of {wanted}')


@SUITE.test('retransmissions: segments are those that the kernel counts, by what triggered them')
def retransmissions():
    for family in FAMILIES:
        until_all({'FAST'}, lossy, family)


def reader_in(where, family):
    """A process that accepts one connection and reads it to its end. Returns its port and pid."""
    def accept(tell):
        with listener(family, address(where, family)) as queue:
            tell(queue)
            with queue.accept()[0] as sock:
                receive_all(sock)

    return serve(where, accept)


def unanswered(family, host, port):
    """Connect to a host of which nothing arrives, with 2 repetitions of the SYN."""
    with socket.socket(family) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 2)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 3500)
        return sock.connect_ex((host, port))


@SUITE.test('retransmissions: of a SYN that is lost')
def lost_syn():
    for family in FAMILIES:
        tc(LEFT, 'qdisc', 'replace', 'dev', 'eth', 'root', 'netem', 'loss', '100%')
        counts = net.Counts()
        trace('op=TCP_RETRANSMIT')
        is_equal(inside(LEFT, unanswered, family, address(RIGHT, family), 7777), errno.ETIMEDOUT)
        found = traced()
        rows = is_as_counted(found, counts)['RTO']
        is_equal(rows, found)
        is_equal(len(rows), counts.added(LEFT, 'TcpExtTCPSynRetrans'))
        is_true(rows, found)
        is_equal({(r['tcp_state'], r['destination_port'], r.get('size')) for r in rows}, {('SYN_SENT', '7777', None)})


def connect_and_leave(family, to):
    """Send a SYN, and forget the socket."""
    with socket.socket(family) as sock:
        sock.setblocking(False)
        before = net.counters()
        sock.connect_ex(to)
        net.until(lambda: net.counters()['TcpExtTCPSynRetrans'] > before['TcpExtTCPSynRetrans'])


@SUITE.test('retransmissions: of a SYN-ACK that is lost, with the socket that listens')
def lost_synack():
    for family in FAMILIES:
        tc(RIGHT, 'qdisc', 'replace', 'dev', 'eth', 'root', 'netem', 'loss', '100%')
        counts = net.Counts()

        def act(family=family, counts=counts):
            with listener(family, address(RIGHT, family)) as queue:
                identity = cookie(queue)
                join(net.start(LEFT, connect_and_leave, family, queue.getsockname()[:2]))
                net.until(lambda: net.counters()['TcpExtTCPSynRetrans'] > counts.before[RIGHT]['TcpExtTCPSynRetrans'])
                return identity, queue.getsockname()[1]

        trace('op=TCP_RETRANSMIT')
        identity, port = inside(RIGHT, act)
        found = traced()
        rows = is_as_counted(found, counts)['SYNACK']
        is_equal(segments(rows), counts.added(RIGHT, 'TcpExtTCPSynRetrans'))
        is_equal({(r['source'], r['destination'], r['source_port'], r['cookie'], r['tcp_state']) for r in rows},
                 {(address(RIGHT, family), address(LEFT, family), str(port), str(identity), 'NEW_SYN_RECV')})


def send_and_lose(family, to):
    """Connect, lose all that is sent from then on, and wait for the timer to have run out twice."""
    with socket.create_connection(to) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        net.execute('tc', 'qdisc', 'replace', 'dev', 'eth', 'root', 'netem', 'loss', '100%')
        before = net.counters()
        sock.send(b'x' * 6000) # less than the first window: the probe has nothing new to send
        net.until(lambda: net.counters()['TcpExtTCPTimeouts'] > before['TcpExtTCPTimeouts'] + 1)
        net.execute('tc', 'qdisc', 'del', 'dev', 'eth', 'root')
        # the end of the connection would be something new to send
        net.until(lambda: net.unacknowledged(sock) == 0)


def timed_out(family):
    counts = net.Counts()
    trace('op=TCP_RETRANSMIT')
    port, pid = reader_in(RIGHT, family)
    join(net.start(LEFT, send_and_lose, family, (address(RIGHT, family), port)))
    join(pid)
    by = is_as_counted(traced(), counts)
    is_equal({r['tcp_state'] for r in by['RTO']} - {'ESTABLISHED', 'FIN_WAIT1'}, set())
    return by


@SUITE.test('retransmissions: by a probe, by the timer, and of what is lost then')
def by_timer():
    for family in FAMILIES:
        until_all({'TLP', 'RTO', 'LOSS'}, timed_out, family)


# --- filters and hooks ------------------------------------------------------------------------

def some_of_each():
    """Drops of two sizes, resets of two sockets: one of root, one of another user."""
    send_datagrams(socket.AF_INET, address(RIGHT, socket.AF_INET), 9, (10, 900))
    refused(socket.AF_INET, address(RIGHT, socket.AF_INET), 1)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    refused(socket.AF_INET, address(RIGHT, socket.AF_INET), 1)
    return os.getpid()


@SUITE.test('drops: filters', once=True)
def filters():
    def found(*conditions):
        trace(*conditions)
        pid = inside(LEFT, some_of_each)
        rows = traced()
        return collections.Counter((r['op'], r.get('size'), r.get('uid')) for r in rows), pid

    everything, _ = found()
    # a SYN that a slow machine repeats is answered again
    is_equal({key for key in everything if key[0] != 'PACKET_DROP'},
             {('RESET_SENT', None, NO_USER), ('RESET_RECEIVED', None, None), ('RESET_RECEIVED', None, str(NOBODY))})
    is_equal(found('op=RESET_RECEIVED')[0], {('RESET_RECEIVED', None, None): 1,
                                             ('RESET_RECEIVED', None, str(NOBODY)): 1})
    is_equal(found('min_size=928')[0], {('PACKET_DROP', '928', NO_USER): 1})
    is_equal(found('min_size=929')[0], {})
    is_equal(found(f'uid={NOBODY}')[0], {('RESET_RECEIVED', None, str(NOBODY)): 1})
    is_equal(found('comm=nobody')[0], {})
    # the socket that connects is locked by the call, or by an interrupt
    trace(f'tree={os.getpid()}')
    pid = inside(LEFT, some_of_each)
    is_equal({(r['op'], r['pid']) for r in traced()} - {('RESET_RECEIVED', pid)}, set())
    for refused_ in 'kind=file', 'dev=8:0', 'inode=1', 'min_latency=1', 'path=/', 'op=FSYNC', 'rejected=1':
        is_equal(write(f'{IOT}/{DROP}/control', f'filter {refused_}\n'), 'EINVAL')


OSPF = 89 # nothing here takes it


def drops_of_all_kinds():
    """Datagrams and connections that are refused, of IPv4 and IPv6, and of IPv4 in sockets of IPv6."""
    for family in FAMILIES:
        send_datagrams(family, address(RIGHT, family), 9, (10,))
        send_datagrams(family, address(RIGHT, family), 11, (20, 30))
        refused(family, address(RIGHT, family), 1)
    send_datagrams(socket.AF_INET6, '::ffff:' + address(RIGHT, socket.AF_INET), 11, (40,))
    send_frames([ipv4(b'x' * 40, protocol=OSPF), ipv6(b'x' * 8, OSPF)])


class Kept:
    """A record without what differs from run to run: the ports that the kernel chose, and who was interrupted."""

    def __init__(self, r):
        self.version, self.protocol, self.netns = r.get('ip_version'), r.get('protocol'), r.get('netns')
        self.ports = [p for p in (r.get('source_port'), r.get('destination_port')) if p]
        self.ends = [ipaddress.ip_address(a) for a in (r['source'], r['destination'])]
        self.text = (r['op'], self.version, self.protocol, self.netns, '9' in self.ports, '11' in self.ports,
                     r['source'], r['destination'], r.get('size'))

    def is_answer(self):
        return self.protocol in ('ICMP', 'ICMPV6')

    def is_in(self, network):
        return any(end in ipaddress.ip_network(network) for end in self.ends)


@SUITE.test('drops: filters on ports, addresses, family, protocol and namespace', once=True)
def filters_on_packets():
    def found(*conditions):
        trace(*conditions)
        inside(LEFT, drops_of_all_kinds)
        return [Kept(r) for r in traced()]

    right = str(net.inode(RIGHT))
    everything = found()
    kinds = {(r.version, r.protocol) for r in everything}
    is_equal({(v, p) for v in '46' for p in ('UDP', 'TCP', 'OSPF')} - kinds, set())
    conditions = [
        ('port=9', lambda r: '9' in r.ports), ('port=9,11', lambda r: {'9', '11'} & set(r.ports)),
        ('port=10', lambda r: False),
        ('port=11 family=inet6', lambda r: '11' in r.ports and r.version == '6'),
        ('family=inet', lambda r: r.version == '4'), ('family=AF_INET6', lambda r: r.version == '6'),
        ('family=unix', lambda r: False), ('proto=udp', lambda r: r.protocol == 'UDP'),
        ('proto=tcp', lambda r: r.protocol == 'TCP'), (f'proto={OSPF},udp', lambda r: r.protocol in ('OSPF', 'UDP')),
        (f'netns={right}', lambda r: r.netns == right), ('netns=1', lambda r: False)]
    for network in ('10.77.0.1', '10.77.0.2', '10.77.0.3', '10.77.0.0/24', '10.77.0.2/31', 'fd77::2', 'fd77::/16',
                    'fd78::/16', '0.0.0.0/0', '::/0'):
        conditions.append((f'addr={network}', lambda r, n=network: r.is_in(n)))
    for condition, meets in conditions:
        rows = found(condition)
        is_equal((condition, [r.text for r in rows if not meets(r)]), (condition, []))
        # a connection that a slow machine tries again is refused again; answers by ICMP are limited in number
        is_equal((condition, {r.text for r in rows if not r.is_answer()}),
                 (condition, {r.text for r in everything if meets(r) and not r.is_answer()}))


@SUITE.test('drops: by the cgroup of the socket', once=True)
def by_cgroup():
    with memory_group() as group:
        def act():
            n = refused(socket.AF_INET, address(RIGHT, socket.AF_INET), 3)
            must(str(os.getpid()), group + '/cgroup.procs')
            return n + refused(socket.AF_INET, address(RIGHT, socket.AF_INET), 2)

        number = os.stat(group).st_ino
        trace('op=RESET_RECEIVED', f'cgroup={number}')
        is_equal(inside(LEFT, act), 5)
        is_equal([r['cgroup'] for r in traced()], [str(number)] * 2)


@SUITE.test('drops: hooked only while started; by kretprobe the counts are the same')
@reloads
def hooked():
    def lines():
        return [line for line in slurp(IOT + '/hooks').split('\n') if re.match('kfree_skb |tcp_', line)]

    is_equal(lines(), [])
    command('start')
    is_equal(len(lines()), 5 if HAS_RESET_REASON else 7)
    command('stop')
    is_equal(lines(), [])
    reload('attach=kprobe')
    resets()
    closed_port()


# --- attackers --------------------------------------------------------------------------------

def churn(family, host):
    """Connections by the hundred, closed in every way while their segments are on the way."""
    chosen = random.Random(family)
    queue = listener(family, host, 5)
    queue.setblocking(False)
    for _ in range(300):
        client, server = socket.socket(family), None
        client.setblocking(False)
        client.connect_ex(queue.getsockname())
        try:
            server = queue.accept()[0]
        except BlockingIOError:
            pass
        for sock in filter(None, (client, server)):
            if chosen.random() < .5:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            try:
                sock.send(b'x' * chosen.randrange(1, 5000))
            except OSError:
                pass
            if chosen.random() < .5:
                sock.close()
    queue.close()


@SUITE.test('drops: sockets that are closed meanwhile, and a namespace that ends')
def gone_meanwhile():
    counts = net.Counts()
    trace()
    net.ip('netns', 'add', 'third')
    net.ip('-n', 'third', 'link', 'set', 'lo', 'up')
    pids = [net.start('third', churn, socket.AF_INET, '127.0.0.1'),
            net.start('third', churn, socket.AF_INET6, '::1'),
            net.start(RIGHT, churn, socket.AF_INET, '127.0.0.1'),
            net.start(RIGHT, churn, socket.AF_INET6, '::1')]
    number = str(net.inode('third'))
    net.ip('netns', 'del', 'third')
    join(*pids)
    found = traced()
    sent = of(found, 'RESET_SENT')
    is_equal(len([r for r in sent if r['netns'] == str(net.inode(RIGHT))]), counts.added(RIGHT, 'TcpOutRsts'))
    is_true([r for r in sent if r['netns'] == number], sent)
    is_equal({r['pid'] for r in found} - {0, *pids}, set())
    is_equal({r['source'] for r in sent} - {'127.0.0.1', '::1'}, set())
