# SPDX-License-Identifier: GPL-2.0
"""Calls on sockets that a child makes, and what it says of them: the records of category net have to say the same."""
import ast
import os
import socket
import threading

from lib import category
from lib.iot import is_equal, is_true, join
from lib.net import cookie
from lib.process import spawn

NET = 'net'
IPPROTO_MPTCP = 262
HOST4, HOST6 = '127.0.0.1', '::1'
ONE, TWO = b'a' * 700, b'b' * 300


def command(*lines):
    category.command(*lines, category=NET)


def begin(*conditions):
    command('stop', 'size 65536', 'mode overwrite', 'sample 1', 'filter none', 'reset',
            'filter ' + ' '.join((f'tree={os.getpid()}',) + conditions), 'start')


def end():
    """Stop, and return all records."""
    command('stop')
    category.is_conserved(NET)
    is_equal(category.stats(NET)['missed'], 0)
    return category.events(category=NET)


class Said:
    """What a child says of its calls, as the fields of records."""

    def __init__(self):
        self.rows = []

    def add(self, s, op, requested, result, *, moved=None, flags='', flags2='', way='CALL', fd=None, remote=None):
        """A call on a socket: @remote is the other end's address if the socket is not connected to it."""
        row = dict(op=op, requested=requested, result=result, way=way, flags=flags, flags2=flags2,
                   moved=max(result, 0) if moved is None else moved, fd=s.fileno() if fd is None else fd,
                   pid=os.getpid(), tid=threading.get_native_id(),
                   cookie=cookie(s), inode=os.fstat(s.fileno()).st_ino, family=s.family.name,
                   type=socket.SocketKind(s.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)).name,
                   netns=os.stat('/proc/thread-self/ns/net').st_ino)
        if s.family != socket.AF_UNIX:
            protocol = s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL)
            row['protocol'] = {6: 'TCP', 17: 'UDP', IPPROTO_MPTCP: 'MPTCP', 1: 'ICMP', 255: 'RAW'}[protocol]
            row['local'], row['local_port'] = s.getsockname()[:2]
            try:
                row['remote'], row['remote_port'] = (remote or s.getpeername())[:2]
            except OSError:
                row['remote'], row['remote_port'] = '', 0
            for end_ in 'local', 'remote':
                if row[end_].startswith('::ffff:'):
                    row[end_] = row[end_].removeprefix('::ffff:')
                if row[end_] in ('::', '0.0.0.0'):
                    row[end_] = ''
        self.rows.append(row)


EMPTY = {'flags', 'flags2', 'local', 'remote', 'protocol'}


def fields(record, row):
    """The fields of a record that a row has, as it has them."""
    found = {}
    for name, value in row.items():
        shown = record.get(name, '' if name in EMPTY else '-1' if name == 'fd' else '0')
        if name in ('local', 'remote') and shown in ('::', '0.0.0.0'):
            shown = ''
        found[name] = type(value)(shown)
    return found


def are_recorded(calls, *conditions, op=None, others=()):
    """
    Trace what @calls does in a child, with a Said as its argument. Its records are those that it has said,
    in that order; only those of @op if that is given.
    """
    reading, writing = os.pipe()

    def act():
        said = Said()
        calls(said)
        with os.fdopen(writing, 'w') as f:
            f.write(repr(said.rows))

    begin(*conditions)
    pid = spawn(act)
    os.close(writing)
    with os.fdopen(reading) as f:
        rows = ast.literal_eval(f.read() or '[]')
    join(pid)
    records = sorted(end(), key=lambda r: r['time'])
    is_true(rows, 'the child has said nothing')
    for record, row in zip(records, rows):
        is_equal(fields(record, row), row)
    is_true(len(records) >= len(rows), rows[len(records):])
    is_equal([r for r in records[len(rows):] if r['comm'] not in others], [])
    return records


def tcp(family=socket.AF_INET, host=HOST4, to=None, protocol=0):
    """Two connected sockets, the one that connected first."""
    with socket.socket(family, socket.SOCK_STREAM, protocol) as server:
        server.bind((host, 0))
        server.listen()
        one = socket.socket(family, socket.SOCK_STREAM, protocol)
        one.connect((to or host, server.getsockname()[1]))
        return one, server.accept()[0]


def udp(family=socket.AF_INET, host=HOST4):
    """Two sockets that are bound and not connected."""
    pair = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(2)]
    for s in pair:
        s.bind((host, 0))
    return pair


def fails(number, function, *args):
    try:
        function(*args)
    except OSError as e:
        is_equal(e.errno, number)
        return -number
    raise AssertionError(f'{function} does not fail')
