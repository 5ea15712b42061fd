# SPDX-License-Identifier: GPL-2.0
"""
Category net: what sockets send and receive. A child makes calls, and writes down what it asked for, what
it got, and what the kernel says of the socket (getsockname(2), SO_COOKIE, fstat(2)); its records have to
say the same. Sums are compared with the kernel's own counts: TCP_INFO, /proc/net/snmp.
"""
import ast
import ctypes
import errno
import ipaddress
import os
import signal
import socket
import struct
import threading
import time

from lib import category
from lib.category import stops
from lib.iot import IOT, is_equal, is_true, join, refused, reload, slurp, unload, write
from lib.machine import files_and_disk, umount_files_and_disk
from lib.net import link_up, new_namespace
from lib.net_calls import (are_recorded, begin, command, end, fails, HOST4, HOST6, IPPROTO_MPTCP, NET, ONE, tcp, TWO,
                           udp)
from lib.process import spawn, waits_in
from lib.suite import reloads, Suite
from lib.syscalls import Calls32, MACHINE, native, Uring

SEND, RECV = 26, 27 # IORING_OP_*
SEND_BY_SOCKETCALL = 9

# Where a blocking receive sleeps: kernels differ in what they inline.
RECEIVES = 'wait_woken', 'sk_wait_data', 'unix_stream_data_wait', '__skb_wait_for_more_packets', 'unix_stream_read'


def setup():
    files_and_disk()
    link_up('lo')
    reload()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=stops(NET))


def there_and_back(said, one, two):
    said.add(one, 'SEND', 700, one.send(ONE))
    said.add(two, 'RECV', 4096, len(two.recv(4096)))
    said.add(two, 'SEND', 300, two.send(TWO))
    said.add(one, 'RECV', 100, len(one.recv(100)))


def of_kind(make):
    return lambda: are_recorded(lambda said: there_and_back(said, *make()))


SUITE.add('TCP: IPv4, IPv6, and IPv4 in a socket of IPv6',
          of_kind(tcp), of_kind(lambda: tcp(socket.AF_INET6, HOST6)),
          of_kind(lambda: tcp(socket.AF_INET6, '::', '::ffff:127.0.0.1')))


@SUITE.test('UNIX: streams, datagrams and sequences of packets')
def unix():
    def calls(said):
        for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
            one, two = socket.socketpair(socket.AF_UNIX, kind)
            said.add(one, 'SEND', 700, one.send(ONE))
            said.add(two, 'RECV', 4096, len(two.recv(4096)))
            said.add(two, 'SEND', 300, two.send(TWO))
            said.add(one, 'RECV', 300, len(one.recv(300)))
    are_recorded(calls)


@SUITE.test('UDP: connected and not, the other end as the message names it')
def datagrams():
    def calls(said):
        for family, host in (socket.AF_INET, HOST4), (socket.AF_INET6, HOST6):
            one, two = udp(family, host)
            said.add(one, 'SEND', 700, one.sendto(ONE, two.getsockname()), remote=two.getsockname())
            data, came_from = two.recvfrom(4096)
            said.add(two, 'RECV', 4096, len(data), remote=came_from)
            said.add(one, 'SEND', 0, one.sendto(b'', two.getsockname()), remote=two.getsockname())
            said.add(two, 'RECV', 10, len(two.recv(10)))
            one.connect(two.getsockname())
            two.connect(one.getsockname())
            there_and_back_at_once(said, one, two)
    def there_and_back_at_once(said, one, two):
        said.add(one, 'SEND', 700, one.send(ONE))
        said.add(two, 'RECV', 4096, len(two.recv(4096)))
    are_recorded(calls)


@SUITE.test('MPTCP and raw sockets, by name')
def other_protocols():
    def raw(said):
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as s:
            packet = struct.pack('>BBHHH', 8, 0, 0xf7ff - 1, 0, 1)
            said.add(s, 'SEND', 8, s.sendto(packet, (HOST4, 0)), remote=(HOST4, 0))
            data, came_from = s.recvfrom(100)
            said.add(s, 'RECV', 100, len(data), remote=came_from)
    are_recorded(raw)
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP).close()
    except OSError:
        return
    are_recorded(lambda said: there_and_back(said, *tcp(protocol=IPPROTO_MPTCP)))


@SUITE.test('ways in: send, sendto, sendmsg, sendmmsg, write, writev; recv, recvfrom, recvmsg, read, readv')
def ways():
    def calls(said):
        for one, two in tcp(), socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM):
            fd = one.fileno()
            for send in (lambda: one.send(ONE), lambda: native.sendto(fd, ONE, 700, 0, 0, 0), lambda: os.write(fd, ONE),
                         lambda: one.sendmsg([ONE[:400], ONE[400:]]), lambda: os.writev(fd, [ONE[:1], ONE[1:]])):
                said.add(one, 'SEND', 700, send())
            got = bytearray(700)
            for receive in (lambda: len(two.recv(700)), lambda: two.recvfrom_into(got)[0],
                            lambda: len(two.recvmsg(700)[0]), lambda: len(os.read(two.fileno(), 700)),
                            lambda: os.readv(two.fileno(), [bytearray(100), bytearray(600)])):
                said.add(two, 'RECV', 700, receive())
    are_recorded(calls)


def message_header(data, flags=0):
    """struct mmsghdr, and what it points to."""
    text = ctypes.create_string_buffer(data, len(data))
    vector = ctypes.create_string_buffer(struct.pack('QQ', ctypes.addressof(text), len(data)))
    return struct.pack('QIxxxxQQQQIxxxxIxxxx', 0, 0, ctypes.addressof(vector), 1, 0, 0, flags, 0), (text, vector)


@SUITE.test('each message of sendmmsg and recvmmsg')
def many_messages():
    def calls(said):
        one, two = udp()
        one.connect(two.getsockname())
        two.connect(one.getsockname())
        heads, kept = zip(*(message_header(data) for data in (ONE, TWO)))
        vector = ctypes.create_string_buffer(b''.join(heads))
        is_equal(native.sendmmsg(one.fileno(), vector, 2, 0), 2)
        said.add(one, 'SEND', 700, 700, flags='MSG_BATCH')
        said.add(one, 'SEND', 300, 300)
        heads, kept = zip(*(message_header(bytes(1000)) for _ in range(2)))
        vector = ctypes.create_string_buffer(b''.join(heads))
        is_equal(native.recvmmsg(two.fileno(), vector, 2, 0, 0), 2)
        said.add(two, 'RECV', 1000, 700)
        said.add(two, 'RECV', 1000, 300)
        del kept
    are_recorded(calls)


@SUITE.test('sendfile and splice: the bytes of each part, and whose descriptor it is')
def without_memory():
    with open('/mnt/files/page', 'wb') as f:
        f.write(bytes(4096))

    def calls(said):
        file = os.open('/mnt/files/page', os.O_RDONLY)
        reading, writing = os.pipe()
        for one, two in tcp(), socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM):
            is_equal(os.sendfile(one.fileno(), file, 0, 4096), 4096)
            moved(said, one, 'SEND', 4096, 'SENDFILE')
            sent = os.stat('/mnt/files/page')
            said.rows[-1].update(file_path='/mnt/files/page', file_inode=sent.st_ino,
                                 file_device=f'{os.major(sent.st_dev)}:{os.minor(sent.st_dev)}')
            is_equal(len(two.recv(4096, socket.MSG_WAITALL)), 4096)
            said.add(two, 'RECV', 4096, 4096, flags='MSG_WAITALL')
            os.write(writing, TWO)
            is_equal(os.splice(reading, one.fileno(), 300), 300)
            moved(said, one, 'SEND', 300, 'SPLICE')
            is_equal(os.splice(two.fileno(), writing, 1000), 300)
            said.add(two, 'RECV', 1000, 300, way='SPLICE')
            os.read(reading, 300)

    def moved(said, s, op, size, way):
        said.add(s, op, size, size, way=way)
        del said.rows[-1]['flags'] # MSG_SPLICE_PAGES, MSG_MORE: the kernel's own
    are_recorded(calls)


@SUITE.test('io_uring: no record of its tries')
def uring():
    def calls(said):
        one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ring = Uring()
        data = ctypes.create_string_buffer(ONE, 700)
        room = ctypes.create_string_buffer(1000)
        ring.put(RECV, fd=two.fileno(), addr=ctypes.addressof(room), len=1000)
        ring.enter(1, 0)
        ring.put(SEND, fd=one.fileno(), addr=ctypes.addressof(data), len=700)
        ring.enter(1, 2)
        is_equal([ring.take()[1] for _ in range(2)], [700, 700])
        said.add(one, 'SEND', 700, 700, way='URING', fd=-1)
        said.add(two, 'RECV', 1000, 700, way='URING', fd=-1)
        for row in said.rows:
            del row['flags'], row['tid']
    are_recorded(calls)


@SUITE.test('32-bit programs: with a descriptor, and by socketcall(2)')
def compat():
    if MACHINE != 'x86_64':
        return

    def calls(said):
        # the number of the call, which is no descriptor, is one of another file
        while not os.path.exists(f'/proc/self/fd/{SEND_BY_SOCKETCALL}'):
            os.open('/dev/null', os.O_RDONLY)
        one, two = tcp()
        calls32 = Calls32()
        said.add(one, 'SEND', 700, calls32.sendto(one.fileno(), ONE, 700, 0, 0, 0))
        said.add(two, 'RECV', 800, calls32.recvfrom(two.fileno(), calls32.place(bytes(800)), 800, 0, 0, 0),
                 flags='MSG_CMSG_COMPAT')
        arguments = struct.pack('<4I', one.fileno(), calls32.place(TWO), 300, 0)
        said.add(one, 'SEND', 300, calls32.socketcall(SEND_BY_SOCKETCALL, arguments), way='OTHER', fd=-1)
    are_recorded(calls)


@SUITE.test('flags: what MSG_PEEK leaves is not moved, what MSG_TRUNC drops is cut')
def flagged():
    def calls(said):
        one, two = tcp()
        one.send(ONE)
        said.add(one, 'SEND', 700, 700)
        said.add(two, 'RECV', 300, len(two.recv(300, socket.MSG_PEEK)), moved=0, flags='MSG_PEEK')
        got = bytearray(200)
        said.add(two, 'RECV', 200, two.recv_into(got, 200, socket.MSG_TRUNC), flags='MSG_TRUNC')
        said.add(two, 'RECV', 500, len(two.recv(500, socket.MSG_WAITALL)), flags='MSG_WAITALL')
        one.send(ONE[:1], socket.MSG_OOB)
        said.add(one, 'SEND', 1, 1, flags='MSG_OOB')
        one, two = udp()
        one.connect(two.getsockname())
        two.connect(one.getsockname())
        said.add(one, 'SEND', 700, one.send(ONE, socket.MSG_NOSIGNAL), flags='MSG_NOSIGNAL')
        said.add(two, 'RECV', 100, two.recv_into(bytearray(100), 100, socket.MSG_TRUNC), moved=100,
                 flags='MSG_TRUNC', flags2='MSG_TRUNC')
    are_recorded(calls)


@SUITE.test('calls that fail: the error, and no bytes')
def failures():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def calls(said):
        one, two = tcp()
        one.setblocking(False)
        said.add(one, 'RECV', 10, fails(errno.EAGAIN, one.recv, 10), flags='MSG_DONTWAIT')
        one.setblocking(True)
        one.shutdown(socket.SHUT_WR)
        said.add(one, 'SEND', 700, fails(errno.EPIPE, one.send, ONE))
        said.add(two, 'RECV', 10, len(two.recv(10)))
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
            said.add(s, 'RECV', 10, fails(errno.ENOTCONN, s.recv, 10))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            said.add(s, 'SEND', 700, fails(errno.EDESTADDRREQ, s.send, ONE))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind((HOST4, 0))
            said.add(s, 'SEND', 100000, fails(errno.EMSGSIZE, s.sendto, bytes(100000), (HOST4, 9)), remote=(HOST4, 9))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            said.add(s, 'SEND', 700, fails(errno.ENOTCONN, s.send, ONE))
            said.add(s, 'RECV', 10, fails(errno.ENOTCONN, s.recv, 10))
        one, two = socket.socketpair()
        said.add(one, 'RECV', 10, native.recvfrom(one.fileno(), 8, 10, socket.MSG_DONTWAIT, 0, 0), flags='MSG_DONTWAIT')
        two.send(b'0123456789')
        said.add(two, 'SEND', 10, 10)
        said.add(one, 'RECV', 10, native.recvfrom(one.fileno(), 8, 10, 0, 0, 0), moved=0)
        is_equal(said.rows[-1]['result'], -errno.EFAULT)
    are_recorded(calls)


@SUITE.test('a receive that waits: recorded when it ends, also by a signal; stop and rmmod do not wait for it')
@reloads
def waiting():
    def receive(s):
        s.recv(10)

    def receive_until_signal(s):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        s.recv(10)

    one, two = socket.socketpair()
    begin()
    pid = spawn(receive, two)
    waits_in(pid, *RECEIVES)
    is_equal([e for e in category.events(category=NET) if e['pid'] == pid], [])
    time.sleep(0.05)
    one.send(ONE[:7])
    join(pid)
    interrupted = spawn(receive_until_signal, two)
    waits_in(interrupted, *RECEIVES)
    os.kill(interrupted, signal.SIGALRM)
    join(interrupted)
    records = {e['pid']: e for e in end() if e['op'] == 'RECV'}
    is_equal((records[pid]['result'], records[pid]['requested']), ('7', '10'))
    is_true(int(records[pid]['latency']) >= 50_000_000, records[pid])
    is_equal(records[interrupted]['result'], str(-errno.EINTR))

    begin()
    pid = spawn(receive, two)
    waits_in(pid, *RECEIVES)
    command('stop')
    unload()
    one.send(ONE[:7])
    join(pid)
    reload()


def tcp_info(s):
    """Bytes that the other end has acknowledged, and bytes received: struct tcp_info."""
    return struct.unpack_from('QQ', s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 120)


@SUITE.test('the sums of TCP are those of TCP_INFO, of partial sends and many threads')
def tcp_sums():
    reading, writing = os.pipe()

    def act():
        one, two = tcp()
        two.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)

        def drain():
            while two.recv(3001):
                pass
        threads = [threading.Thread(target=one.sendall, args=(bytes(100_001),)) for _ in range(3)]
        threads.append(threading.Thread(target=drain))
        for t in threads:
            t.start()
        for t in threads[:-1]:
            t.join()
        while tcp_info(one)[0] < 300_004: # the SYN counts, too
            time.sleep(0.01)
        os.write(writing, repr((tcp_info(one)[0], tcp_info(two)[1])).encode())
        one.shutdown(socket.SHUT_WR)
        threads[-1].join()

    begin()
    join(spawn(act))
    acked, received = ast.literal_eval(os.read(reading, 1000).decode())
    records = end()
    moved = {op: sum(int(e.get('moved', 0)) for e in records if e['op'] == op) for op in ('SEND', 'RECV')}
    is_equal(moved, {'SEND': 300_003, 'RECV': 300_003})
    is_equal((acked, received), (300_004, 300_003))
    os.close(reading)
    os.close(writing)


def snmp(protocol):
    names, values = [line.split()[1:] for line in slurp('/proc/thread-self/net/snmp').splitlines()
                     if line.startswith(protocol + ':')]
    return {name: int(value) for name, value in zip(names, values)}


@SUITE.test('the datagrams of a network namespace are those of /proc/net/snmp')
def udp_counts():
    reading, writing = os.pipe()

    def act():
        new_namespace()
        one, two = udp()
        for n in range(50):
            one.sendto(ONE[:n], two.getsockname())
        for _ in range(50):
            two.recv(30)
        fails(errno.EMSGSIZE, one.sendto, bytes(100000), two.getsockname())
        counts = snmp('Udp')
        os.write(writing, repr((counts['OutDatagrams'], counts['InDatagrams'],
                                os.stat('/proc/self/ns/net').st_ino)).encode())

    begin()
    join(spawn(act))
    sent, received, netns = ast.literal_eval(os.read(reading, 1000).decode())
    rows = [e for e in end() if e.get('netns') == str(netns)]
    is_equal((sent, received), (50, 50))
    done = [e['op'] for e in rows if not e['result'].startswith('-')]
    is_equal((done.count('SEND'), done.count('RECV')), (sent, received))
    os.close(reading)
    os.close(writing)


@SUITE.test('filters: by socket, by size, by direction; one call in N')
def filters():
    def calls(*sockets):
        one, two = sockets
        for n in range(1, 9):
            one.send(ONE[:n])
            two.recv(100)

    pairs = [socket.socketpair() for _ in range(2)]
    sizes = {'op=SEND': list(range(1, 9)), 'min_size=6': [6, 7, 8] * 2, 'min_latency=3600s': []}
    for condition, moved in sizes.items():
        begin(condition)
        category.do(calls, *pairs[0])
        is_equal((condition, sorted(int(e['moved']) for e in end())), (condition, sorted(moved)))
    inodes = [str(os.fstat(s.fileno()).st_ino) for s in pairs[0]]
    for chosen in inodes[:1], inodes:
        begin('inode=' + ','.join(chosen))
        for pair in pairs:
            category.do(calls, *pair)
        found = end()
        is_equal((len(found), {e['inode'] for e in found}), (8 * len(chosen), set(chosen)))
    begin()
    command('sample 4')
    category.do(calls, *pairs[0])
    is_equal([e['sample'] for e in end()], ['4'] * 4)
    for key in 'dev=8:0', 'kind=file', 'path=/tmp', 'rejected=1':
        refused('EINVAL', 'filter ' + key, f'{IOT}/net/control')


# --- filters on sockets -----------------------------------------------------------------------

def in_new_namespace(make):
    """What a function returns in a thread in a network namespace of its own, and the number of that."""
    made = []

    def act():
        new_namespace()
        made.extend((make(), os.stat('/proc/thread-self/ns/net').st_ino))

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    return made


def disconnect(s):
    is_equal(native.connect(s.fileno(), ctypes.create_string_buffer(16), 16), 0) # AF_UNSPEC


def again(s):
    """A socket of UDP bound to the same address, whose port stays when it is disconnected, as it was asked for."""
    address = s.getsockname()
    s.close()
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(address)
    return s


class Sockets:
    """Sockets of all kinds, and calls on them whose records are the same each time."""

    def __init__(self):
        self.pairs = [tcp(), tcp(host='127.0.0.9'), tcp(socket.AF_INET6, HOST6),
                      tcp(socket.AF_INET6, '::', '::ffff:127.0.0.1'), socket.socketpair()]
        try:
            self.pairs.append(tcp(protocol=IPPROTO_MPTCP))
        except OSError:
            pass
        inside, self.netns = in_new_namespace(lambda: (tcp(), udp()))
        self.pairs.append(inside[0])
        self.datagrams = [udp(), udp(socket.AF_INET6, HOST6), udp(host='0.0.0.0'), inside[1]]
        self.datagrams[0][1] = again(self.datagrams[0][1])
        self.third = udp()[0]

    def calls(self):
        for one, two in self.pairs:
            one.send(ONE)
            two.recv(4096)
            two.send(TWO)
            one.recvfrom(300)
            fails(errno.EAGAIN, one.recvfrom, 10, socket.MSG_DONTWAIT)
        for one, two in self.datagrams:
            to = two.getsockname()
            if to[0] == '0.0.0.0':
                to = HOST4, to[1]
            one.sendto(ONE, to)
            two.recvfrom(4096)
            one.sendto(ONE, to)
            two.recv(4096) # nobody asks where it came from
            fails(errno.EAGAIN, two.recvfrom, 10, socket.MSG_DONTWAIT)
        # a datagram that came before its socket was connected to another one
        one, two = self.datagrams[0]
        self.third.sendto(ONE, two.getsockname())
        two.connect(one.getsockname())
        is_equal(two.recvfrom(4096)[1], self.third.getsockname())
        disconnect(two)

    def close(self):
        for s in [self.third] + [s for pair in self.pairs + self.datagrams for s in pair]:
            s.close()

    def seen(self, *conditions):
        """What the records say of each call, in the order of the calls."""
        begin(*conditions)
        self.calls()
        return [Seen(e) for e in sorted(end(), key=lambda e: e['time'])]


class Seen:
    """A record, and the conditions that it meets, as Python sees them."""

    def __init__(self, e):
        self.op, self.family, self.protocol = e['op'], e['family'], e.get('protocol', '0')
        self.netns = e['netns']
        self.ports = [p for p in (e.get('local_port'), e.get('remote_port')) if p]
        self.ends = [ipaddress.ip_address(a) for a in (e.get('local'), e.get('remote'))
                     if a not in (None, '::', '0.0.0.0')]
        self.text = (self.op, self.family, self.protocol, self.netns, self.ports, self.ends,
                     e.get('fd'), e.get('requested'), e['result'], e.get('flags'))

    def is_in(self, *networks):
        return any(end_ in ipaddress.ip_network(n) for n in networks for end_ in self.ends)

    def __repr__(self):
        return repr(self.text)


def conditions_of(everything, netns):
    """Conditions, and the same in Python."""
    ports = sorted({p for e in everything for p in e.ports}, key=int)
    is_true(len(ports) > 12, ports)
    for p in ports:
        yield f'port={p}', lambda e, p=p: p in e.ports
    yield 'port=' + ','.join(ports[:3]), lambda e: set(ports[:3]) & set(e.ports)
    yield f'port={ports[0]} op=RECV', lambda e: ports[0] in e.ports and e.op == 'RECV'
    yield 'port=1', lambda e: False
    for networks in (('127.0.0.1',), ('127.0.0.9',), ('127.0.0.8/31',), ('127.0.0.0/29',), ('0.0.0.0/0',), ('::1',),
                     ('::/0',), ('::/96',), ('::1', '127.0.0.9'), ('10.0.0.0/8', '2001:db8::/32'), ('126.0.0.0/7',)):
        yield 'addr=' + ','.join(networks), lambda e, n=networks: e.is_in(*n)
    yield 'addr=::ffff:127.0.0.9', lambda e: e.is_in('127.0.0.9')
    yield f'addr=127.0.0.9 port={ports[0]}', lambda e: e.is_in('127.0.0.9') and ports[0] in e.ports
    for family in 'inet', 'inet6', 'unix':
        yield f'family={family}', lambda e, name='AF_' + family.upper(): e.family == name
    yield 'family=AF_UNIX,10', lambda e: e.family in ('AF_UNIX', 'AF_INET6')
    for protocol in 'tcp', 'udp', 'mptcp', 'sctp':
        yield f'proto={protocol}', lambda e, name=protocol.upper(): e.protocol == name
    yield 'proto=IPPROTO_TCP,17', lambda e: e.protocol in ('TCP', 'UDP')
    yield f'netns={netns}', lambda e: e.netns == str(netns)
    yield f'netns={netns},{os.stat("/proc/self/ns/net").st_ino} proto=udp', lambda e: e.protocol == 'UDP'
    yield 'netns=1', lambda e: False


@SUITE.test('filters: by port, address, family, protocol and namespace: those records that meet them', once=True)
def filters_on_sockets():
    sockets = Sockets()
    everything = sockets.seen()
    is_equal({e.family for e in everything}, {'AF_INET', 'AF_INET6', 'AF_UNIX'})
    is_equal(len({e.netns for e in everything}), 2)
    some = 0
    for condition, meets in conditions_of(everything, sockets.netns):
        expected = [e.text for e in everything if meets(e)]
        is_equal((condition, [e.text for e in sockets.seen(condition)]), (condition, expected))
        some += bool(expected)
    is_true(some > 30, some)
    sockets.close()


@SUITE.test('filters: the port that a send binds its socket to, and the address', once=True)
def filters_on_what_is_bound():
    def calls():
        new_namespace()
        with open('/proc/sys/net/ipv4/ip_local_port_range', 'w', encoding='ascii') as f:
            f.write('30000 30000')
        for family, host in (socket.AF_INET, HOST4), (socket.AF_INET6, HOST6):
            with socket.socket(family, socket.SOCK_DGRAM) as two, socket.socket(family, socket.SOCK_DGRAM) as one:
                two.bind((host, 20000))
                one.sendto(ONE, two.getsockname())
                two.recv(10)

    for condition, count in (('port=30000', 2), ('port=20000', 4), ('port=30001', 0), ('addr=127.0.0.1,::1', 4),
                             ('addr=127.0.0.2', 0)):
        begin(condition)
        category.do(calls)
        is_equal((condition, len(end())), (condition, count))


@SUITE.test('filters: one that changes while a receive waits decides when it ends', once=True)
def filter_changes():
    one, two = tcp()
    port = two.getsockname()[1]
    for first, then, count in (('proto=tcp', f'port={port}', 1), ('proto=tcp', 'port=1', 0),
                               (f'port={port}', 'proto=udp', 0), ('family=inet', 'addr=127.0.0.1', 1),
                               ('family=inet', 'addr=10.0.0.1', 0)):
        begin(first)
        pid = spawn(two.recv, 10)
        waits_in(pid, *RECEIVES)
        command('filter ' + then)
        one.send(ONE[:7])
        join(pid)
        is_equal((first, then, len([e for e in end() if e['pid'] == pid])), (first, then, count))
    for s in one, two:
        s.close()


@SUITE.test('filters on sockets: shown as they can be given, and refused with the reason', once=True)
def filters_as_text():
    given = ('family=inet,AF_UNIX,99 proto=tcp,IPPROTO_UDP,99 addr=10.0.0.1,10.0.0.0/8,2001:DB8::/32,::ffff:1.2.3.4 '
             'port=1,65535 netns=7,4294967295')
    shown = ('family=AF_INET,AF_UNIX,99 proto=TCP,UDP,99 addr=10.0.0.1,10.0.0.0/8,2001:db8::/32,1.2.3.4 '
             'port=1,65535 netns=7,4294967295')
    for text in given, shown:
        command('filter ' + text)
        is_equal(category.settings(NET).split('\n')[4], 'filter ' + shown)
    command('filter none')
    family = 'say a family of sockets, as inet, inet6 or unix, or its number'
    protocol = 'say a protocol of IP, as tcp, udp or mptcp, or its number'
    address = 'say an address of IPv4 or IPv6, or ADDRESS/BITS'
    port = 'say a port: a number from 1 to 65535'
    for line, words in (
            ('family=inte', f'family=inte: {family}'), ('family=', f'family=: {family}'),
            ('family=65536', f'family=65536: {family}'), ('family=inet,', f'family=: {family}'),
            ('proto=tcpip', f'proto=tcpip: {protocol}'), ('proto=-1', f'proto=-1: {protocol}'),
            ('addr=10.0.0', f'addr=10.0.0: {address}'), ('addr=', f'addr=: {address}'),
            ('addr=10.0.0.1/33', f'addr=10.0.0.1/33: {address}'), ('addr=::1/129', f'addr=::1/129: {address}'),
            ('addr=::1/', f'addr=::1/: {address}'), ('addr=10.0.0.0/-1', f'addr=10.0.0.0/-1: {address}'),
            ('addr=0.0.0.0', f'addr=0.0.0.0: {address}'), ('addr=::', f'addr=::: {address}'),
            ('addr=localhost', f'addr=localhost: {address}'), ('addr=10.0.0.1,x/8', f'addr=x/8: {address}'),
            ('addr=' + ','.join(['::1'] * 33), 'addr: say 32 values at most'),
            ('port=0', f'port=0: {port}'), ('port=65536', f'port=65536: {port}'), ('port=http', f'port=http: {port}'),
            ('port=80,', f'port=: {port}'), ('port=' + ','.join(['1'] * 33), 'port: say 32 values at most'),
            ('port=1 port=2', 'port: the key is given twice: say port=A,B'),
            ('netns=x', 'netns=x: say a number up to 4294967295')):
        is_equal((line, write(f'{IOT}/net/control', 'filter ' + line)), (line, 'EINVAL'))
        said = slurp(f'{IOT}/net/error').replace('...: ', ': ') # long ones are cut
        is_true(said.endswith(f': {words}\n') and f'filter {line}: {words}\n'.startswith(said.split(': ')[0]), said)
    for name, line, words in (
            ('fs', 'family=inet', 'family has no meaning for fs: its records have no family of a socket or packet'),
            ('block', 'port=80', 'port has no meaning for block: its records have no ports'),
            ('epoll', 'netns=1', 'netns has no meaning for epoll: its records have no network namespace'),
            ('epoll', 'proto=tcp', 'proto has no meaning for epoll: its records have no protocol'),
            ('sockopt', 'addr=::1', 'addr has no meaning for sockopt: its records have no addresses'),
            ('sockopt', 'port=1', 'port has no meaning for sockopt: its records have no ports')):
        is_equal(write(f'{IOT}/{name}/control', 'filter ' + line), 'EINVAL')
        is_equal(slurp(f'{IOT}/{name}/error'), f'filter {line}: {words}\n')
