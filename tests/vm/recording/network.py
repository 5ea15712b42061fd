# SPDX-License-Identifier: GPL-2.0
"""
The network of real programs, in two namespaces that are joined by a veth, and of the kernel's own: the
sums of category net are those that iperf3, redis, nginx, curl, ss(8), strace(1), /proc/net/snmp, the NFS
client and a block device have counted themselves; those of category drop are the kernel's counters.

The programs end by themselves or when their work is done, and are traced with all that they start.
"""
import contextlib
import csv
import glob
import http.client
import json
import mmap
import os
import re
import shutil
import socket
import subprocess
import sys

from lib import category, net, net_work
from lib.category import stops
from lib.iot import is_equal, is_true, must, reload, slurp
from lib.machine import execute, files_and_disk, with_tool, umount, umount_files_and_disk
from lib.net import ADDRESSES, LEFT, RIGHT, tc, until
from lib.places import TOP
from lib.suite import Suite

NET, DROP = 'net', 'drop'
HOST = ADDRESSES[RIGHT][0]
POSTGRES = 'postgres'
COOKIE = 37         # bytes that iperf3 sends first on each TCP connection
HELLO = 4           # bytes of the datagram with which iperf3 opens a stream of UDP
LISTEN = '0A'       # in /proc/net/tcp


def setup():
    files_and_disk()
    with_tool()
    reload()
    net.make()
    net.link_up('lo')


def teardown():
    net.remove()
    umount_files_and_disk()


def after():
    stops(NET, DROP)()
    for where in LEFT, RIGHT:
        net.execute('sh', '-c', f'tc -n {where} qdisc del dev eth root 2>&1 || true')


SUITE = Suite(setup=setup, teardown=teardown, after=after, tags=('plain',))


def trace(*names, conditions=None):
    for name in names:
        category.command('stop', 'size 131072', 'mode overwrite', 'sample 1', 'filter none', 'reset',
                         'filter ' + (conditions or f'tree={os.getpid()}'), 'start', category=name)


def stop(name=NET):
    """Stop, and return all records, in the order of their time. None is missing."""
    category.command('stop', category=name)
    s = category.is_conserved(name)
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    rows = sorted(category.events(category=name), key=lambda r: r['time'])
    is_equal(len(rows), s['seen'])
    return rows


def of(rows, op, **fields):
    """The records of calls that succeeded, with these fields."""
    return [r for r in rows if r['op'] == op and not r['result'].startswith('-') and
            all(str(r.get(k)) == str(v) for k, v in fields.items())]


def moved(rows, op, **fields):
    return sum(int(r.get('moved', 0)) for r in of(rows, op, **fields))


# Programs


@contextlib.contextmanager
def running(where, *argv, **options):
    """A program in a namespace. It is killed in the end if it has not ended."""
    with subprocess.Popen(argv, preexec_fn=lambda: net.become_part(where), **options) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


def run(where, *argv, **options):
    """Run a program in a namespace. Returns its output."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          preexec_fn=lambda: net.become_part(where), **options)
    is_true(done.returncode == 0, (argv, done.stdout))
    return done.stdout.decode()


def listens(port):
    """Does a TCP socket of this namespace listen at a port?"""
    lines = [line.split() for line in slurp('/proc/thread-self/net/tcp').splitlines()[1:]]
    return any(line[3] == LISTEN and int(line[1].split(':')[1], 16) == port for line in lines)


def has_datagrams(port):
    lines = [line.split() for line in slurp('/proc/thread-self/net/udp').splitlines()[1:]]
    return any(int(line[1].split(':')[1], 16) == port for line in lines)


def until_ready(where, is_ready, port):
    until(lambda: net.enter(where, is_ready, port))


def ss(where=None, *conditions):
    """{cookie: counts} of the connections of a namespace, as ss(8) shows them."""
    words = ('ss', '-tieOnH', 'state', 'established', *conditions)
    text = run(where, *words) if where else execute(*words)
    found = {}
    for line in text.splitlines():
        of_line = dict(re.findall(r'(\w+):(\d+)(?= |$)', line))
        counts = {k: int(of_line.get(k, 0)) for k in ('bytes_sent', 'bytes_retrans', 'bytes_acked', 'bytes_received')}
        found[int(re.search(r' sk:([0-9a-f]+)', line)[1], 16)] = counts
    return found


def are_as_in_ss(rows, connections):
    """What was moved by each socket is what ss(8) shows of it."""
    is_true(connections, 'ss shows none')
    for cookie, counts in connections.items():
        is_equal((moved(rows, 'SEND', cookie=cookie), moved(rows, 'RECV', cookie=cookie)),
                 (counts['bytes_sent'] - counts['bytes_retrans'], counts['bytes_received']))


CALL = re.compile(r'\d+ +(\w+)\((\d+)<socket:\[\d+\]>.* = (-?\d+)')
CALLS = {'sendto': 'SEND', 'sendmsg': 'SEND', 'write': 'SEND', 'writev': 'SEND',
         'recvfrom': 'RECV', 'recvmsg': 'RECV', 'read': 'RECV', 'readv': 'RECV'}


def straced(where, *argv, **options):
    """
    Run a program. Returns its output, and (operation, descriptor, result) of its calls on sockets as strace(1)
    has them.
    """
    said = run(where, 'strace', '-f', '-y', '-s', '0', '-o', '/tmp/strace', '-e', 'trace=' + ','.join(CALLS), *argv,
               **options)
    return said, [(CALLS[m[1]], int(m[2]), int(m[3])) for m in map(CALL.match, slurp('/tmp/strace').splitlines()) if m]


def as_traced(rows, comm):
    """The same of the records; strace writes -1 for each error."""
    return [(r['op'], int(r['fd']), max(int(r['result']), -1)) for r in rows if r['comm'] == comm]


# iperf3


def iperf3(*options):
    """Run it from left to right. Returns what the client reports, with what the server has told it."""
    with running(RIGHT, 'iperf3', '-s', '-1', '-B', HOST, stdout=subprocess.DEVNULL):
        until_ready(RIGHT, listens, 5201)
        return json.loads(run(LEFT, 'iperf3', '-c', HOST, '-J', *options))


def client_port(said):
    return said['start']['connected'][0]['local_port']


@SUITE.test('iperf3: TCP, both directions: the bytes that both ends report')
def iperf3_tcp():
    for options in (), ('-R',):
        trace(NET)
        said = iperf3('-n', '6M', *options)
        rows, port = stop(), client_port(said)
        sends = 'local_port' if not options else 'remote_port'
        receives = 'remote_port' if not options else 'local_port'
        sent, received = (said['end'][name]['bytes'] for name in ('sum_sent', 'sum_received'))
        # the client sends the cookie, whoever sends the data
        there, back = (COOKIE, COOKIE) if not options else (0, 0)
        is_equal(moved(rows, 'SEND', **{sends: port}) - there, sent)
        # the server may end before all has arrived
        is_equal(moved(rows, 'RECV', **{receives: port}) - back, received)
        is_true(received <= sent and sent >= 6 << 20, (received, sent))
        is_equal({r['protocol'] for r in rows if port in (int(r['local_port']), int(r['remote_port']))}, {'TCP'})


def lose_long_packets(where):
    """Lose a tenth of the packets of 1024 to 2047 bytes, and no others."""
    tc(where, 'qdisc', 'replace', 'dev', 'eth', 'root', 'handle', '1:', 'prio', 'bands', '2',
       'priomap', *'0000000000000000')
    tc(where, 'qdisc', 'add', 'dev', 'eth', 'parent', '1:2', 'netem', 'loss', '10%')
    tc(where, 'filter', 'add', 'dev', 'eth', 'parent', '1:', 'protocol', 'ip', 'u32', 'match', 'u16', '0x0400',
       '0xfc00', 'at', '2', 'flowid', '1:2')


def dropped_by_netem(where):
    return int(re.search(r'qdisc netem .*\n.*dropped (\d+)', tc(where, '-s', 'qdisc', 'show', 'dev', 'eth'))[1])


@SUITE.test('iperf3: UDP through a queue that loses: datagrams sent, received and lost')
def iperf3_udp():
    lose_long_packets(LEFT)
    counts = net.Counts()
    trace(NET)
    trace(DROP, conditions='op=PACKET_DROP')
    said = iperf3('-u', '-b', '8M', '-l', '1000', '-k', '600')
    rows, drops = stop(), stop(DROP)
    sent, received = of(rows, 'SEND', protocol='UDP'), of(rows, 'RECV', protocol='UDP')
    is_equal((len(sent), len(received)), tuple(counts.added_everywhere(name) for name in
                                               ('UdpOutDatagrams', 'UdpInDatagrams')))
    of_stream = [r for r in sent if int(r['moved']) == 1000]
    stream = said['end']['streams'][0]['udp']
    is_equal((len(of_stream), moved(of_stream, 'SEND')), (stream['packets'], stream['bytes']))
    lost = [r for r in drops if r.get('reason') == 'QDISC_DROP']
    is_equal((len(lost), {r['size'] for r in lost}), (dropped_by_netem(LEFT), {'1028'}))
    # iperf3 does not know of those that were lost last, or that it has not waited for
    arrived = [r for r in received if int(r['moved']) == 1000]
    is_true(0 < stream['lost_packets'] <= len(of_stream) - len(arrived), stream)


@SUITE.test('iperf3: TCP through a queue that loses: segments sent again, and packets dropped')
def iperf3_lossy():
    tc(LEFT, 'qdisc', 'replace', 'dev', 'eth', 'root', 'netem', 'loss', '2%')
    for _ in range(30): # netem may lose none
        if transfer_with_loss():
            return
    raise AssertionError('no segment was sent again')


def may_send_again(where):
    """The connections whose end the other side may not have heard of."""
    return run(where, 'ss', '-tnH', 'state', 'connected', 'exclude', 'time-wait', 'exclude', 'fin-wait-2')


def transfer_with_loss():
    """Returns how many segments iperf3 knows to have been sent again."""
    counts, dropped = net.Counts(), net.dropped_by_queue(LEFT)
    trace(NET)
    trace(DROP, conditions='none')
    said = iperf3('-n', '6M')
    port = client_port(said)
    until(lambda: not any(may_send_again(where) for where in (LEFT, RIGHT)))
    rows, found = stop(), stop(DROP)
    again = [r for r in found if r['op'] == 'TCP_RETRANSMIT']
    is_equal(sum(int(r['segments']) for r in again), counts.added_everywhere('TcpRetransSegs'))
    known = said['end']['sum_sent']['retransmits']
    is_true(known <= sum(int(r['segments']) for r in again if r['source_port'] == str(port)), said['end'])
    is_equal(len([r for r in found if r['op'] == 'PACKET_DROP' and r.get('reason') == 'QDISC_DROP']),
             net.dropped_by_queue(LEFT) - dropped)
    # what is sent again is not sent by another call
    is_equal(moved(rows, 'SEND', local_port=port), said['end']['sum_sent']['bytes'] + COOKIE)
    return known


# nc and ss


@SUITE.test('nc: a connection: what ss shows of both ends')
def nc_tcp():
    there, back = os.urandom(60_000), os.urandom(3_000)
    trace(NET)
    pipes = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE}
    with running(RIGHT, 'nc', '-N', '-l', HOST, '7000', **pipes) as server:
        until_ready(RIGHT, listens, 7000)
        with running(LEFT, 'nc', '-N', HOST, '7000', **pipes) as client:
            client.stdin.write(there)
            client.stdin.flush()
            is_equal(server.stdout.read(len(there)), there)
            server.stdin.write(back)
            server.stdin.flush()
            is_equal(client.stdout.read(len(back)), back)
            until(lambda: [c['bytes_acked'] for c in ss(LEFT).values()] == [len(there) + 1])
            connections = ss(LEFT) | ss(RIGHT)
            client.stdin.close()
            server.stdin.close()
            is_equal((client.wait(), server.wait()), (0, 0))
    rows = [r for r in stop() if r['comm'] == 'nc']
    is_equal(len(connections), 2)
    are_as_in_ss(rows, connections)
    is_equal((moved(rows, 'SEND'), moved(rows, 'RECV')), (len(there) + len(back),) * 2)


@SUITE.test('nc: datagrams, and a stream of UNIX: what each has sent, and no byte for a look at it')
def nc_others():
    counts = net.Counts()
    trace(NET)
    with running(RIGHT, 'nc', '-u', '-l', HOST, '7001', stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        until_ready(RIGHT, has_datagrams, 7001)
        with running(LEFT, 'nc', '-u', HOST, '7001', stdin=subprocess.PIPE) as client:
            for size in 700, 1, 1400:
                client.stdin.write(b'x' * size)
                client.stdin.flush()
                is_equal(len(server.stdout.read(size)), size)
    with running(RIGHT, 'nc', '-N', '-l', '-U', '/mnt/files/unix', stdin=subprocess.DEVNULL,
                 stdout=subprocess.PIPE) as server:
        until(lambda: os.path.exists('/mnt/files/unix'))
        run(LEFT, 'nc', '-N', '-U', '/mnt/files/unix', input=bytes(50_000))
        is_equal(len(server.stdout.read()), 50_000)
    rows = [r for r in stop() if r['comm'] == 'nc']
    datagrams = [r for r in rows if r.get('protocol') == 'UDP']
    peeks = [r for r in of(datagrams, 'RECV') if 'MSG_PEEK' in r.get('flags', '')]
    is_equal((len(peeks), moved(peeks, 'RECV')), (1, 0))
    is_equal([int(r['moved']) for r in of(datagrams, 'SEND')], [700, 1, 1400])
    is_equal([int(r['moved']) for r in of(datagrams, 'RECV') if r not in peeks], [700, 1, 1400])
    is_equal((len(of(datagrams, 'SEND')), len(of(datagrams, 'RECV')) - 1),
             (counts.added(LEFT, 'UdpOutDatagrams'), counts.added(RIGHT, 'UdpInDatagrams')))
    is_equal((moved(rows, 'SEND', family='AF_UNIX'), moved(rows, 'RECV', family='AF_UNIX')), (50_000, 50_000))


# Servers


class Redis:
    """A connection to it that asks for its counts."""

    def __init__(self, host, port):
        self.sock = socket.create_connection((host, port))

    def info(self):
        """What INFO says, and how long the answer is."""
        self.sock.sendall(b'INFO stats\r\n')
        with self.sock.makefile('rb') as f:
            head = f.readline()
            text = f.read(int(head[1:]) + 2)
        return dict(re.findall(r'^(\w+):(\d+)\r$', text.decode(), re.M)), len(head) + len(text)


@SUITE.test('redis under redis-benchmark: all bytes that it has counted in and out')
def redis():
    trace(NET)
    with running(RIGHT, 'redis-server', '--bind', HOST, '--port', '6379', '--save', '', '--protected-mode', 'no',
                 '--dir', '/mnt/files', stdout=subprocess.DEVNULL) as server:
        until_ready(RIGHT, listens, 6379)
        run(LEFT, 'redis-benchmark', '-h', HOST, '-n', '1000', '-c', '10', '-P', '2', '-t', 'set,get,lrange_100', '-q')
        run(LEFT, 'redis-cli', '-h', HOST, '--pipe',
            input=b''.join(b'SET key:%d %s\r\n' % (n, b'v' * (n + 1)) for n in range(500)))
        counts, size = net.enter(LEFT, lambda: Redis(HOST, 6379).info())
        rows = [r for r in stop() if r['pid'] == server.pid and r['family'] == 'AF_INET']
    is_equal((moved(rows, 'RECV'), moved(rows, 'SEND') - size),
             (int(counts['total_net_input_bytes']), int(counts['total_net_output_bytes'])))
    is_true(int(counts['total_connections_received']) >= 10 and len(rows) > 2000, counts)


NGINX = '''
daemon off; master_process off; pid /mnt/files/nginx.pid; error_log /mnt/files/error;
events { worker_connections 64; }
http {
	log_format bytes "$bytes_sent $request_length";
	access_log /mnt/files/access bytes;
	client_body_temp_path /mnt/files/body; proxy_temp_path /mnt/files/proxy; fastcgi_temp_path /mnt/files/fastcgi;
	uwsgi_temp_path /mnt/files/uwsgi; scgi_temp_path /mnt/files/scgi;
	sendfile on;
	server { listen %s:8080; root /mnt/files/www; }
}
'''


@contextlib.contextmanager
def nginx():
    """It serves files of some sizes. Yields their names."""
    names = []
    os.makedirs('/mnt/files/www')
    for size in 0, 1, 4096, 100_001, 1_000_000:
        names.append(str(size))
        with open('/mnt/files/www/' + names[-1], 'wb') as f:
            f.write(bytes(size))
    with open('/mnt/files/nginx.conf', 'w', encoding='ascii') as f:
        f.write(NGINX % HOST)
    with running(RIGHT, 'nginx', '-p', '/mnt/files', '-c', '/mnt/files/nginx.conf', '-g', 'user root;',
                 stderr=subprocess.DEVNULL):
        until_ready(RIGHT, listens, 8080)
        yield names


def get_all(names):
    """Get them by connections that stay, and one that is not there. Returns the bytes of the bodies."""
    got = 0
    for _ in range(3):
        connection = http.client.HTTPConnection(HOST, 8080)
        for name in [*names, 'none', *names]:
            connection.request('GET', '/' + name)
            got += len(connection.getresponse().read())
        connection.close()
    return got


@SUITE.test('nginx: $bytes_sent and $request_length of its log, and what curl and strace have')
def web():
    trace(NET)
    with nginx() as names:
        net.enter(LEFT, get_all, names)
        said, calls = straced(LEFT, 'curl', '-s', '-w', '%{size_request} %{size_header} %{size_download}\n',
                              *(word for name in names for word in ('-o', '/dev/null', f'http://{HOST}:8080/{name}')))
        until(lambda: len(slurp('/mnt/files/access').splitlines()) == 3 * (2 * len(names) + 1) + len(names))
        rows = stop()
    log = [[int(word) for word in line.split()] for line in slurp('/mnt/files/access').splitlines()]
    served = [r for r in rows if r['comm'] == 'nginx' and r['family'] == 'AF_INET']
    is_equal((moved(served, 'SEND'), moved(served, 'RECV')), tuple(map(sum, zip(*log))))
    ways = {r.get('way', 'CALL') for r in of(served, 'SEND')}
    is_equal(ways, {'CALL', 'SENDFILE'})
    is_equal(as_traced(rows, 'curl'), calls)
    got = [r for r in rows if r['comm'] == 'curl']
    asked, head, body = map(sum, zip(*([int(word) for word in line.split()] for line in said.splitlines())))
    is_equal((moved(got, 'SEND'), moved(got, 'RECV')), (asked, head + body))


def as_postgres(*argv):
    return 'setpriv', '--reuid=' + POSTGRES, '--regid=' + POSTGRES, '--clear-groups', *argv


def postgresql_program(name):
    return sorted(glob.glob('/usr/lib/postgresql/*/bin/' + name))[-1]


@contextlib.contextmanager
def postgresql():
    os.chmod('/mnt/disk', 0o777)
    execute(*as_postgres(postgresql_program('initdb'), '-D', '/mnt/disk/pg', '-A', 'trust', '--no-sync',
                         '--locale=C', '-E', 'UTF8'), cwd='/mnt/disk')
    options = 'listen_addresses=' + HOST, 'unix_socket_directories=', 'autovacuum=off', 'fsync=off'
    with open('/mnt/disk/pg/pg_hba.conf', 'a', encoding='ascii') as f:
        f.write('host all all samenet trust\n')
    with running(RIGHT, *as_postgres(postgresql_program('postgres'), '-D', '/mnt/disk/pg',
                                     *(w for o in options for w in ('-c', o))), cwd='/mnt/disk',
                 stderr=subprocess.DEVNULL):
        until_ready(RIGHT, listens, 5432)
        yield


@SUITE.test('PostgreSQL by TCP: the bytes of each query, as strace of the client has them')
def queries():
    psql = postgresql_program('psql'), '-qAtX', '-h', HOST, '-U', POSTGRES, '-v', 'ON_ERROR_STOP=1'
    with postgresql():
        trace(NET)
        said, calls = straced(LEFT, *psql, '-c', 'create table t as select n, repeat(md5(n::text), 9) as text '
                              'from generate_series(1, 500) n', '-c', "select text from t where n < 400",
                              '-c', 'select count(*) from t', '-c', 'copy t to stdout')
        rows = stop()
    client = [r for r in rows if r['comm'] == 'psql' and r['family'] == 'AF_INET']
    ports = {r['local_port'] for r in client}
    is_equal(as_traced(client, 'psql'), calls)
    is_true(moved(client, 'RECV') > len(said) > 250_000, said[:100])
    # each query, with what comes back until the next one, is what the server has received and sent
    served = [r for r in rows if r['comm'] == 'postgres' and r.get('remote_port') in ports]
    is_equal((moved(client, 'SEND'), moved(client, 'RECV')), (moved(served, 'RECV'), moved(served, 'SEND')))
    is_equal([int(r['moved']) for r in of(client, 'SEND')], [int(r['moved']) for r in of(served, 'RECV')])


# The kernel's own sockets


@contextlib.contextmanager
def nfs(directory):
    """Serve a directory by NFS 4 to this machine, and mount it."""
    execute('modprobe', '-a', 'nfsd', 'nfsv4')
    if not os.path.ismount('/proc/fs/nfsd'):
        execute('mount', '-t', 'nfsd', 'nfsd', '/proc/fs/nfsd')
    for name in '/mnt/nfs', '/run/rpc_pipefs', '/var/lib/nfs/v4recovery':
        os.makedirs(name, exist_ok=True)
    execute('mount', '-t', 'rpc_pipefs', 'sunrpc', '/run/rpc_pipefs')
    must('3600', '/proc/fs/nfsd/nfsv4leasetime') # so the client has nothing to say by itself
    must('10', '/proc/fs/nfsd/nfsv4gracetime')
    for name in 'etab', 'rmtab':
        with open('/var/lib/nfs/' + name, 'a', encoding='ascii'):
            pass
    execute('exportfs', '-o', 'rw,no_root_squash,fsid=0,insecure,no_subtree_check', '127.0.0.1:' + directory)
    execute('rpc.nfsd', '-N', '3', '-V', '4.2', '2')
    execute('rpc.mountd', '-N', '3')
    try:
        yield
    finally:
        execute('rpc.nfsd', '0')
        execute('killall', 'rpc.mountd')
        execute('exportfs', '-ua')
        umount('/run/rpc_pipefs', '/proc/fs/nfsd')


def use_nfs():
    """Write and read a file of the server, whose pages are dropped in between."""
    data = os.urandom(700_001)
    with open('/mnt/nfs/f', 'wb') as f:
        f.write(data)
        os.fsync(f.fileno())
    with open('/mnt/nfs/f', 'rb') as f:
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        is_equal(f.read(), data)


def rpc_bytes():
    """Bytes sent and received by the client of NFS, of all operations, and how many of these were sent."""
    text = slurp('/proc/self/mountstats').split('mounted on /mnt/nfs ')[1].split('per-op statistics\n')[1]
    counts = [[int(n) for n in m.split()] for m in re.findall(r'^\s+[A-Z_]+: ([\d ]+)$', text.split('\n\n')[0], re.M)]
    return sum(c[3] for c in counts), sum(c[4] for c in counts), sum(c[1] for c in counts)


def traced_nfs():
    """The records of a use of NFS, and what ss shows, or None if somebody sent something while it was stopped."""
    trace(NET, conditions='none')
    with contextlib.ExitStack() as stack:
        execute('mount', '-t', 'nfs4', '-o', 'vers=4.2', '127.0.0.1:/', '/mnt/nfs')
        stack.callback(umount, '/mnt/nfs')
        use_nfs()
        before = ss(None, '( dport = 2049 or sport = 2049 )'), rpc_bytes()
        rows = stop()
        is_same = before == (ss(None, '( dport = 2049 or sport = 2049 )'), rpc_bytes())
    return (rows, *before) if is_same else None


@SUITE.test('NFS by TCP: the sockets of client and server in the kernel, as ss shows them')
def nfs_by_tcp():
    with nfs('/mnt/disk'):
        found = None
        while not found: # within the time of a test
            found = traced_nfs()
        rows, connections, (sent, received, calls) = found
    is_equal(len(connections), 2)
    are_as_in_ss(rows, connections)
    ours = [r for r in rows if int(r['cookie']) in connections]
    is_equal({(r.get('way'), r.get('fd')) for r in ours}, {('KERNEL', None), ('OTHER', None)})
    client = [r for r in ours if r['remote_port'] == '2049']
    # a reply is counted without its length, which is 4 bytes before it
    is_equal((moved(client, 'SEND'), moved(client, 'RECV')), (sent, received + 4 * calls))


def requests_of(disk):
    """Reads, bytes read, writes, bytes written and flushes of a disk."""
    n = [int(word) for word in slurp(f'/sys/block/{disk}/stat').split()]
    return n[0], n[2] * 512, n[4], n[6] * 512, n[15]


REQUEST, REPLY = 28, 16 # bytes of the headers of nbd
DEVICE = '/dev/nbd0'


def use_disk():
    """Write and read without the page cache: nothing is written by itself."""
    disk = os.open(DEVICE, os.O_RDWR | os.O_DIRECT)
    for n in range(1, 20):
        with mmap.mmap(-1, 4096 * n) as memory:
            os.pwrite(disk, memory, 65536 * n)
    with mmap.mmap(-1, 1 << 20) as memory:
        is_equal(os.preadv(disk, [memory], 0), 1 << 20)
    os.close(disk)


@SUITE.test('nbd: the bytes of its requests and replies, in the kernel and in qemu-nbd')
def nbd():
    execute('modprobe', 'nbd', 'nbds_max=1', 'max_part=0')
    with open('/mnt/files/image', 'wb') as f:
        f.truncate(4 << 20)
    trace(NET, conditions='none')
    with running(LEFT, 'qemu-nbd', '-f', 'raw', '-c', DEVICE, '/mnt/files/image') as server:
        until(lambda: slurp('/sys/block/nbd0/size').strip() == str((4 << 20) // 512))
        use_disk()
        reads, read, writes, written, flushes = requests_of('nbd0')
        execute('qemu-nbd', '-d', DEVICE)
        server.wait()
    rows = [r for r in stop() if r['family'] == 'AF_UNIX']
    execute('modprobe', '-r', 'nbd')
    # requests are sent by who makes them, replies are received by a worker
    client = {r['cookie'] for r in rows if r.get('way') == 'KERNEL'}
    kernel = [r for r in rows if r['cookie'] in client and r.get('way') in ('KERNEL', 'OTHER')]
    requests = reads + writes + flushes + 1 # the last one ends the connection, and has no reply
    is_equal((moved(kernel, 'SEND'), moved(kernel, 'RECV')),
             (REQUEST * requests + written, REPLY * (requests - 1) + read))


# All five categories, recorded by the tool


RECORDED = '/tmp/network'
TRIGGER = 'hist:keys=common_pid:vals=ret'
# system call: category, operations
COUNTED = {'epoll_create1': ('epoll', 'EPOLL_CREATE'), 'epoll_ctl': ('epoll', 'EPOLL_CTL_ADD', 'EPOLL_CTL_DEL'),
           'epoll_wait': ('epoll', 'EPOLL_WAIT'), 'setsockopt': ('sockopt', 'SET'), 'getsockopt': ('sockopt', 'GET'),
           'socket': ('conn', 'SOCKET_CREATE'), 'bind': ('conn', 'BIND'), 'listen': ('conn', 'LISTEN'),
           'connect': ('conn', 'CONNECT'), 'accept4': ('conn', 'ACCEPT'), 'shutdown': ('conn', 'SHUTDOWN'),
           'sendto': (NET, 'SEND'), 'recvfrom': (NET, 'RECV')}


def histogram(call):
    return f'/sys/kernel/tracing/events/syscalls/sys_exit_{call}'


@contextlib.contextmanager
def counts_of_calls():
    """The kernel counts the calls of each thread, and adds up what they return."""
    for call in COUNTED:
        must(TRIGGER, histogram(call) + '/trigger')
    try:
        yield
    finally:
        for call in COUNTED:
            must('!' + TRIGGER, histogram(call) + '/trigger')


def calls_and_results(call, pids):
    """How often these processes made a system call, and the sum of what it returned, in 64 bits."""
    found = [(int(hits), int(ret)) for pid, hits, ret in
             re.findall(r'common_pid: +(\d+) +\} +hitcount: +(\d+) +ret: +(\d+)', slurp(histogram(call) + '/hist'))
             if int(pid) in pids]
    return sum(hits for hits, _ in found), sum(ret for _, ret in found) % (1 << 64)


def succeeded(rows, op, protocol):
    return len([r for r in rows if (r['op'], r['protocol']) == (op, protocol) and int(r['result']) >= 0])


def bytes_of(rows, op, cookie):
    return sum(int(r['moved_bytes']) for r in rows if (r['op'], r['cookie']) == (op, cookie))


# counter of the kernel: the same of all tables
SUMS = {
    'UdpOutDatagrams': lambda found: succeeded(found[NET], 'SEND', 'UDP'),
    'UdpInDatagrams': lambda found: succeeded(found[NET], 'RECV', 'UDP'),
    'TcpActiveOpens': lambda found: succeeded(found['conn'], 'CONNECT', 'TCP'),
    'TcpPassiveOpens': lambda found: succeeded(found['conn'], 'ACCEPT', 'TCP'),
    'TcpRetransSegs': lambda found: sum(int(r['segments']) for r in found[DROP] if r['op'] == 'TCP_RETRANSMIT'),
    'TcpOutRsts': lambda found: len([r for r in found[DROP] if r['op'] == 'RESET_SENT']),
}


def tables():
    """{category: the rows of its table} of the trace that has been recorded."""
    execute('iotracer', 'export', RECORDED + '/trace', '-o', RECORDED + '/tables')
    found = {}
    for name in net_work.CATEGORIES:
        file, = glob.glob(f'{RECORDED}/tables/{name}/*.csv')
        with open(file, newline='', encoding='utf-8') as f:
            found[name] = list(csv.DictReader(f))
    return found


@SUITE.test('record: five tables of a client and its server, whose sums are the counters of the kernel')
def five_tables():
    shutil.rmtree(RECORDED, ignore_errors=True)
    os.mkdir(RECORDED)
    lose_long_packets(LEFT)
    counts, dropped = net.Counts(), net.dropped_by_queue(LEFT)
    with counts_of_calls():
        said = execute('iotracer', 'record', '-c', ','.join(net_work.CATEGORIES), '-o', RECORDED + '/trace', '--',
                       'env', f'PYTHONPATH={TOP}/tests', sys.executable, '-m', net_work.__name__)
        ends = [json.loads(line) for line in said.splitlines() if line.startswith('{')]
        pids = [end['pid'] for end in ends]
        called = {call: calls_and_results(call, pids) for call in COUNTED}
    found = tables()

    for call, (name, *ops) in COUNTED.items():
        results = [int(r['result']) for r in found[name] if r['op'] in ops and int(r['pid']) in pids]
        is_equal((call, len(results), sum(results) % (1 << 64)), (call, *called[call]))
    for end in ends:
        for cookie, sums in end['sockets'].items():
            is_equal([bytes_of(found[NET], op, cookie) for op in ('SEND', 'RECV')], sums)
    is_equal({name: as_counted(found) for name, as_counted in SUMS.items()},
             {name: counts.added_everywhere(name) for name in SUMS})
    is_equal(len([r for r in found[DROP] if r['reason'] == 'QDISC_DROP']), net.dropped_by_queue(LEFT) - dropped)
