# SPDX-License-Identifier: GPL-2.0
"""
Memory: the limit holds at every moment, also while CPUs come and go; many targets and chosen inode
numbers do not make lookups long.

The memory that the module holds is counted from /proc/vmallocinfo, not from what it reports.
"""
import ctypes
import os
import re
import signal
import struct
import subprocess

from lib import iot
from lib.category import command, do, is_conserved, mine, stats
from lib.fuse import FOREVER, FORGET, GETATTR, Hold, INODE, LOOKUP, mount, ROOT, Server
from lib.iot import (add, IOT, is_equal, is_true, join, kmsg, must, reload, set_parameter, slurp,
                     Target, to, touch, unload, write, write_bytes)
from lib.machine import new_filesystem, new_tmpfs, umount
from lib.process import spawn
from lib.stream import Blocks, record_size
from lib.suite import Suite


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files', 'nr_inodes=0')
    new_filesystem('ext4', '/dev/vda', '/mnt/ext4', '1G')


def teardown():
    unload()
    umount('/mnt/files', '/mnt/ext4')


SUITE = Suite(setup=setup, teardown=teardown, tags=('once',))

FS = IOT + '/fs'
CPU1 = '/sys/devices/system/cpu/cpu1/online'
RECORD = 128    # bytes of a target's record
PAGE = 4096


# With this parameter only rings take memory of ring_memory_limit.
NO_PATHS = 'paths_memory_limit=0'


def memory():
    return {k: int(v) for k, v in (line.split() for line in slurp(IOT + '/memory').splitlines())}


def held():
    """
    Bytes of the rings that exist. An area of less than 100 pages is not a ring of these
    tests, but the kernel's list of the pages of one.
    """
    areas = re.findall(r' (?:ring_alloc|ring_new|shard_fill)\S* \[iotracer\] pages=(\d+)',
                       slurp('/proc/vmallocinfo'))
    return sum(int(pages) * PAGE for pages in areas if int(pages) >= 100)


def is_within(limit):
    is_true(held() <= limit, f'{held()} bytes are held, the limit is {limit}')

# Targets


def fill_limit(events):
    """Trace a file and set ring_memory_limit to what that uses. Return: target and limit."""
    touch('f')
    t = add('f', events)
    limit = int(memory()['used'])
    is_true(held() >= events * RECORD, held())
    set_parameter('ring_memory_limit', limit)
    return t, limit


@SUITE.test('a log that fills the memory limit is reset in place, even while it is read')
def reset_at_limit():
    reload()
    t, limit = fill_limit(20000)
    write_bytes('f', 0, 300)
    stream = Blocks(t.name, 'io')
    log = os.open(t.dir + '/log', os.O_RDONLY)
    started = os.read(log, 100)
    for i in range(13):
        t.command('reset' if i % 2 else 'timereset')
        is_within(limit)
        is_equal(t.log(), '')
        is_equal(t.stats(), (0, 0, 0, 0, 0))
        write_bytes('f', 0, 10)
        is_equal((t.addresses(), t.stats()), (to(0, 9), (10, 10, 0, 0, 0)))
    # A reader that began before the resets gets the records of that time, then those that
    # are there now. The sequence numbers go on.
    is_equal(len((started + iot.drain(log)).splitlines()), 300)
    is_equal(len(iot.drain(log).splitlines()), 10)
    stream.read()
    is_equal(stream.seqs(), to(300 + 12 * 10, 300 + 13 * 10 - 1))
    os.close(log)
    stream.close()
    # While a process writes, every event is in the log or older than the reset.
    writer = iot.start_writer('f')
    for _ in range(20):
        t.command('reset')
        is_within(limit)
    touch('stop')
    join(writer)
    t.is_conserved()
    must('remove f')
    is_equal(memory()['used'], 0)


@SUITE.test('a log that fills the memory limit is resized in place')
def resize_at_limit():
    reload()
    t, limit = fill_limit(20000)
    write_bytes('f', 0, 100)
    for events, first in (50, 50), (20000, 50), (10, 90), (19999, 90), (20000, 90):
        must(f'add f {events}')
        is_within(limit)
        is_equal(t.addresses(), to(first, 99))
        is_equal((t.value('max_events'), t.stats()), (str(events), (100, 100 - first, first, 0, 0)))
    is_equal(write(iot.CONTROL, 'add f 20001'), 'ENOMEM')
    is_equal(t.value('max_events'), '20000')
    # If the limit has room for both rings, a smaller ring gives memory back.
    set_parameter('ring_memory_limit', 2 * limit)
    must('add f 10')
    is_equal(t.addresses(), to(90, 99))
    is_true(memory()['used'] <= 20 * RECORD, memory())
    must('add f 20000')
    is_equal((memory()['used'], t.addresses()), (limit, to(90, 99)))


@SUITE.test('memory that is given back is free at once: add, remove and reset never pass the limit')
def limit_holds():
    reload()
    touch('a', 'b')
    add('a', 30000)
    limit = 2 * memory()['used']
    set_parameter('ring_memory_limit', limit)
    for i in range(15):
        # Memory that was given back can be used at once, and is really free by then.
        add('b', 30000)
        is_within(limit)
        is_equal(memory()['used'], limit)
        Target('a').command('reset')
        is_within(limit)
        must('remove b')
        is_within(limit)
        if i % 5 == 0:
            must('remove a')
            add('a', 30000)
            is_within(limit)
    must('remove a')
    is_equal(write(iot.CONTROL, f'add a {2**20}'), 'ENOMEM')
    is_equal((memory()['used'], held()), (0, 0))


@SUITE.test('rings take no more memory than they need')
def exact_sizes():
    reload()
    touch('f')
    add('f', 1000)
    for events in 1000, 16384, 20000, 65537:
        must(f'add f {events}')
        used = memory()['used']
        is_true(events * RECORD <= used <= (events + 10) * RECORD + PAGE, f'{events}: {used}')
    must('remove f')
    is_equal(write(iot.CONTROL, f'add f {2**40}'), 'ENOMEM')
    size = record_size('fs')
    for events in 16384, 20000, 32768:
        command(f'size {events}', 'start')
        s = stats()
        is_true(events * size <= s['memory_bytes'] // s['cpus'] <= (events + 10) * size + PAGE,
                str(s))
        is_equal(held(), s['memory_bytes'])
    command('stop')

# Categories


@SUITE.test('a category that fills the limit is reset and resized while events arrive')
def category_at_limit():
    reload(NO_PATHS)
    touch('f')
    command('size 20000', 'start')
    limit = memory()['used']
    set_parameter('ring_memory_limit', limit)
    writer = iot.start_writer('f')
    for line in ['reset'] * 5 + ['size 15000', 'size 20000', 'size 100', 'size 20000', 'reset']:
        command(line)
        is_within(limit)
    is_equal(memory()['used'], limit)
    is_equal(write(FS + '/control', 'size 20100'), 'ENOMEM')
    # A reader of the log holds its rings, which leave no room for new ones.
    write_bytes('f', 0, 500)
    log = os.open(FS + '/log', os.O_RDONLY)
    os.read(log, 100)
    is_equal(write(FS + '/control', 'size 19000'), 'ENOMEM')
    command('reset')
    is_within(limit)
    iot.drain(log)
    os.close(log)
    command('size 19000')
    is_within(limit)
    touch('stop')
    join(writer)
    command('stop')
    is_conserved()
    is_equal(stats()['size'], 19000)


@SUITE.test('start takes start_bytes of memory; if refused, it reports how much it needs')
def start_tells():
    reload('ring_memory_limit=100000')
    s = stats()
    is_equal((s['cpus'], s['memory_bytes']), (2, 0))
    wanted = s['start_bytes']
    is_true(wanted >= 2 * 16384 * record_size('fs'), wanted)
    kmsg.skip()
    is_equal(write(FS + '/control', 'start'), 'ENOMEM')
    said = kmsg.new()
    is_equal(len(said), 1)
    iot.matches(said[0], rf'fs: a ring of 16384 events for each of 2 CPUs of {wanted} bytes '
                      r'would exceed ring_memory_limit=100000 \(0 in use\), which leaves 100000: ')
    set_parameter('ring_memory_limit', wanted - 1)
    is_equal(write(FS + '/control', 'start'), 'ENOMEM')
    set_parameter('ring_memory_limit', wanted)
    command('start')
    is_equal((stats()['memory_bytes'], memory()['used'], held()), (wanted, wanted, wanted))
    command('stop')

# CPUs that come and go


def write_on(cpu, n):
    """Write n times in a child that runs on that CPU."""
    def child():
        os.sched_setaffinity(0, {cpu})
        write_bytes('f', 0, n)
    do(child)


@SUITE.test('CPUs: online ones have a ring before they run')
def hotplug():
    reload(NO_PATHS)
    touch('f')
    mine()
    must('0', CPU1)
    command('start')
    one = stats()
    is_equal((one['cpus'], one['memory_bytes']), (1, one['start_bytes']))
    blocks = Blocks()
    write_on(0, 20)
    must('1', CPU1)
    both = stats()
    is_equal((both['cpus'], both['memory_bytes']), (2, 2 * one['memory_bytes']))
    is_equal(memory()['used'], both['memory_bytes'])
    write_on(1, 30)
    # The records of CPU 1 stay when it goes offline and online again, until a reset.
    for state in '0', '1', '0':
        must(state, CPU1)
        blocks.read()
        is_equal((blocks.on(0), blocks.on(1), sum(blocks.gaps.values())), (20, 30, 0))
        is_equal((stats()['stored'], stats()['lost'], stats()['cpus']), (50, 0, 2))
    command('reset')
    is_equal((stats()['memory_bytes'], stats()['seen']), (one['memory_bytes'], 0))
    is_equal(memory()['used'], one['memory_bytes'])
    must('1', CPU1)
    write_on(1, 7)
    blocks.read()
    is_equal((blocks.on(1), sum(blocks.gaps.values())), (37, 0))
    # A ring with a reader stays at a reset, even if its CPU is offline.
    log = os.open(FS + '/log', os.O_RDONLY)
    os.read(log, 50)
    must('0', CPU1)
    command('reset')
    is_equal(stats()['cpus'], 2)
    os.close(log)
    command('reset')
    is_equal(stats()['cpus'], 1)
    must('1', CPU1)
    write_on(1, 3)
    is_equal(is_conserved()['stored'], 3)
    blocks.close()
    command('stop')


@SUITE.test('CPUs: without memory for a ring of their own their events are lost, which is counted')
def hotplug_at_limit():
    reload(NO_PATHS)
    touch('f')
    mine()
    must('0', CPU1)
    set_parameter('ring_memory_limit', stats()['start_bytes'])
    command('start')
    write_on(0, 5)
    kmsg.skip()
    must('1', CPU1)
    said = kmsg.new()
    is_equal(len(said), 1)
    iot.matches(said[0], r'fs: a ring of 16384 events for CPU 1 of \d+ bytes would exceed ')
    # CPU 1 has no ring: each of its events is counted as lost.
    write_on(1, 33)
    s = is_conserved()
    is_equal((s['seen'], s['stored'], s['lost'], s['cpus']), (38, 5, 33, 1))
    command('mode discard')
    write_on(1, 4)
    is_equal(is_conserved()['lost'], 37)
    command('mode overwrite', 'reset')
    is_equal(is_conserved()['seen'], 0)
    write_on(1, 2)
    is_equal(is_conserved()['lost'], 2)
    set_parameter('ring_memory_limit', 2 * memory()['used'])
    command('reset')
    write_on(1, 6)
    s = is_conserved()
    is_equal((s['seen'], s['stored'], s['cpus']), (6, 6, 2))
    command('stop')

# Many targets


class Counted:
    """Counts the calls of the module's functions that ftrace sees."""
    TOP = '/sys/kernel/tracing/'

    def __init__(self):
        if not os.path.exists(self.TOP + 'set_ftrace_filter'):
            subprocess.run(['mount', '-t', 'tracefs', 'none', self.TOP], check=True)
        must('*:mod:iotracer', self.TOP + 'set_ftrace_filter')
        must('function', self.TOP + 'current_tracer')

    def read(self):
        with open(self.TOP + 'trace', encoding='ascii') as f:
            written = re.search(r'entries-written: \d+/(\d+)', f.read(1000))
        must('nop', self.TOP + 'current_tracer')
        with open(self.TOP + 'set_ftrace_filter', 'w', encoding='ascii'):
            pass
        return int(written[1])


def add_many(names):
    for i in range(0, len(names), 500):
        must('\n'.join(f'add {name}' for name in names[i:i + 500]))


@SUITE.test('many targets: hash chains are short, and a remove does not visit the other targets')
def many_targets():
    reload()
    names = [f'/mnt/files/{i}' for i in range(int(os.environ.get('TARGETS', 20000)))]
    touch(*names)
    add_many(names)
    m = memory()
    is_equal(m['targets_running'], len(names))
    is_true(m['buckets'] >= len(names), m)
    # as many targets as buckets: 12 in one bucket are less likely than 1 in 10^4
    is_true(m['longest_chain'] <= 12, m)
    lines = slurp(iot.CONTROL).splitlines()
    is_equal([line.split(' ')[1] for line in lines], names)
    for name in names[0], names[-1], names[len(names) // 2]:
        t = Target(name)
        write_bytes(name, 0, 3)
        is_equal(t.stats('vfs'), (3, 3, 0, 0, 0))
    called = Counted()
    for name in names[5], names[-5], names[len(names) // 3]:
        must('remove ' + name)
        must('add ' + name)
    calls = called.read()
    is_true(3 < calls < 2000, f'{calls} functions were called')
    reload()
    is_equal(memory()['targets_running'], 0)


class Numbers(Server):
    """A FUSE server that chooses the inode number of each file: numbers[name]."""

    def __init__(self, fd, hold, numbers):
        super().__init__(fd, hold, PAGE)
        self.numbers = numbers

    def attributes(self, node):
        if node == ROOT:
            return super().attributes(node)
        return struct.pack('<Q', self.numbers[node - 2]) + super().attributes(INODE)[8:]

    def answer(self, op, unique, node, body):
        if op == LOOKUP and body[:-1].isdigit():
            node = int(body[:-1]) + 2
            self.reply(unique, struct.pack('<QQQQII', node, 0, FOREVER, FOREVER, 0, 0) +
                       self.attributes(node))
        elif op == GETATTR:
            self.reply(unique, struct.pack('<QII', FOREVER, 0, 0) + self.attributes(node))
        elif op != FORGET:
            super().answer(op, unique, node, body)


def mount_fuse(top, numbers):
    subprocess.run(['modprobe', 'fuse'], check=True)
    os.makedirs(top, exist_ok=True)
    fd = mount(top, ',allow_other')
    server = spawn(Numbers(fd, Hold(), numbers).run)
    os.close(fd)
    return server


@SUITE.test('inode numbers chosen to collide in the hash do not collide')
def chosen_numbers():
    """Inode numbers that all collide in the kernel's hash_64() do not collide here."""
    reload()
    known = 0x61C8864680B583EB
    inverse = pow(known, -1, 1 << 64)
    numbers = [i * inverse % (1 << 64) for i in range(1, 401)]
    top = '/mnt/numbers'
    server = mount_fuse(top, numbers)
    try:
        is_equal(os.stat(f'{top}/7').st_ino, numbers[7])
        add_many([f'{top}/{i}' for i in range(len(numbers))])
        m = memory()
        is_equal(m['targets_running'], len(numbers))
        is_true(m['longest_chain'] <= 5, m)
    finally:
        reload()
        ctypes.CDLL(None).umount2(top.encode(), 2)
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
