# SPDX-License-Identifier: GPL-2.0
"""Two network namespaces that are joined by a veth, and what the kernel counts in each; sockets."""
import ctypes
import fcntl
import os
import pickle
import re
import socket
import struct
import subprocess
import time

from lib.iot import is_equal, is_true, join, slurp
from lib.machine import execute
from lib.process import spawn
from lib.syscalls import native

CLONE_NEWNET = 0x40000000
SO_COOKIE = 57
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
SIOCOUTQ = 0x5411
LEFT, RIGHT = 'left', 'right'
ADDRESSES = {LEFT: ('10.77.0.1', 'fd77::1'), RIGHT: ('10.77.0.2', 'fd77::2')}


def ip(*argv):
    return execute('ip', *argv)


def tc(where, *argv):
    return execute('tc', '-n', where, *argv)


def link_up(name):
    """Switch an interface of this network namespace on."""
    request = struct.Struct('16sH14x')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        flags = request.unpack(fcntl.ioctl(s, SIOCGIFFLAGS, request.pack(name.encode(), 0)))[1]
        fcntl.ioctl(s, SIOCSIFFLAGS, request.pack(name.encode(), flags | IFF_UP))


def new_namespace():
    """Move this thread to a network namespace of its own, whose loopback is on."""
    is_equal(native.unshare(CLONE_NEWNET), 0)
    link_up('lo')


def make():
    """Make both, each with an interface `eth` that leads to the other one."""
    execute('modprobe', '-a', 'veth', 'sch_netem')
    for where in LEFT, RIGHT:
        ip('netns', 'add', where)
        ip('-n', where, 'link', 'set', 'lo', 'up')
    ip('-n', LEFT, 'link', 'add', 'eth', 'type', 'veth', 'peer', 'name', 'eth', 'netns', RIGHT)
    for where in LEFT, RIGHT:
        enter(where, must_not_solicit)
        ip('-n', where, 'addr', 'add', ADDRESSES[where][0] + '/24', 'dev', 'eth')
        ip('-n', where, 'addr', 'add', ADDRESSES[where][1] + '/64', 'dev', 'eth', 'nodad')
        ip('-n', where, 'link', 'set', 'eth', 'up')
    for where, other in (LEFT, RIGHT), (RIGHT, LEFT):
        mac = enter(other, link_address, 'eth')
        for address in ADDRESSES[other]:
            ip('-n', where, 'neigh', 'replace', address, 'lladdr', mac, 'dev', 'eth', 'nud', 'permanent')


def must_not_solicit():
    """Send nothing of its own: no link-local address, and so no multicast of IPv6."""
    for key, value in ('addr_gen_mode', 1), ('router_solicitations', 0), ('mldv2_unsolicited_report_interval', 0):
        with open(f'/proc/sys/net/ipv6/conf/eth/{key}', 'w', encoding='ascii') as f:
            f.write(str(value))


def link_address(name):
    """The hardware address of an interface of this namespace."""
    return re.search(r'link/ether (\S+)', ip('link', 'show', name))[1]


def remove():
    for where in LEFT, RIGHT:
        subprocess.run(['ip', 'netns', 'del', where], check=False, stderr=subprocess.DEVNULL)
    subprocess.run(['modprobe', '-r', 'sch_netem', 'veth'], check=False, stderr=subprocess.DEVNULL)


def inode(where):
    return os.stat('/run/netns/' + where).st_ino


def become_part(where):
    with open('/run/netns/' + where, 'rb') as f:
        is_equal(ctypes.CDLL(None, use_errno=True).setns(f.fileno(), CLONE_NEWNET), 0)


def start(where, function, *args):
    """Call the function in a child in a namespace. Returns its pid."""
    def inside():
        become_part(where)
        function(*args)

    return spawn(inside)


def enter(where, function, *args):
    """What a function returns in a child in a namespace."""
    reading, writing = os.pipe()
    pid = start(where, lambda: os.write(writing, pickle.dumps(function(*args))))
    os.close(writing)
    with os.fdopen(reading, 'rb') as f:
        said = f.read()
    join(pid)
    return pickle.loads(said)


def counters():
    """What the kernel counts in the network namespace of this process, by names as nstat has them."""
    found = {}
    for file in 'snmp', 'netstat':
        lines = [line.split() for line in slurp(f'/proc/thread-self/net/{file}').splitlines()]
        for names, values in zip(lines[::2], lines[1::2]):
            found |= {names[0][:-1] + name: int(value) for name, value in zip(names[1:], values[1:])}
    for line in slurp('/proc/thread-self/net/snmp6').splitlines():
        name, value = line.split()
        found[name] = int(value)
    return found


def counted(where):
    return enter(where, counters)


def until(condition, seconds=60):
    """Wait for what has to happen by itself. The limit is far above what a slow machine needs."""
    end = time.monotonic() + seconds
    while not condition():
        is_true(time.monotonic() < end, 'it has not happened')
        time.sleep(0.05)


class Counts:
    """What is added to the counters of both namespaces from here on."""

    def __init__(self):
        self.before = {where: counted(where) for where in (LEFT, RIGHT)}

    def added(self, where, *names):
        now = counted(where)
        return sum(now[name] - self.before[where][name] for name in names)

    def added_everywhere(self, *names):
        return sum(self.added(where, *names) for where in (LEFT, RIGHT))


def dropped_by_queue(where):
    """Packets that the queueing discipline of `eth` has dropped."""
    return int(re.search(r'dropped (\d+)', tc(where, '-s', 'qdisc', 'show', 'dev', 'eth'))[1])


def cookie(sock):
    return int.from_bytes(sock.getsockopt(1, SO_COOKIE, 8), 'little')


def unacknowledged(sock):
    """Bytes that the other end has not acknowledged."""
    return struct.unpack('i', fcntl.ioctl(sock, SIOCOUTQ, bytes(4)))[0]
