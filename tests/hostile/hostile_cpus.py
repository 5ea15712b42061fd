# SPDX-License-Identifier: GPL-2.0
"""
Very many processors are possible, and few are online:

	scripts/check-vm --cpus 4 --append maxcpus=2 --append possible_cpus=256 6.1 hostile_cpus.py

Kernels from 6.9 on have no more processors than the firmware names: four here.

Two processors are online, two more can be, and 256 are possible. The memory that the module takes
is counted from the kernel's lists, not from what it reports.
"""
import os
import re

from lib.category import command, do, events, is_conserved, mine, stats
from lib.iot import (CATEGORIES, IOT, is_equal, is_true, must, reload, slurp, touch, unload,
                     write_bytes)
from lib.kernel import VERSION
from lib.machine import new_tmpfs, umount
from lib.stream import Blocks, record_size
from lib.suite import Suite


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files')


def teardown():
    unload()
    umount('/mnt/files')


SUITE = Suite(setup=setup, teardown=teardown, tags=('slow',))

CPU = '/sys/devices/system/cpu/'
ONLINE, COMING = (0, 1), (2, 3)
# From 6.9 on no more are possible than the firmware names.
POSSIBLE = 256 if VERSION < (6, 9) else 4
SIZE = 16384        # events that a ring keeps
PAGE = 4096
NO_PATHS = 'paths_memory_limit=0' # only rings take memory of ring_memory_limit


def number_of(which):
    first, last = re.fullmatch(r'(\d+)-(\d+)\n', slurp(CPU + which)).groups()
    return int(last) - int(first) + 1


def used():
    return int(re.search(r'^used (\d+)$', slurp(IOT + '/memory'), re.M)[1])


def held():
    """
    Bytes of each ring in the kernel's list of areas, and of the module's other tables. An area
    of less than 100 pages is the kernel's own list of the pages of another.
    """
    areas = [(name, int(pages) * PAGE) for name, pages in
             re.findall(r' (\S+) \[iotracer\] pages=(\d{3,})', slurp('/proc/vmallocinfo'))]
    rings = [size for name, size in areas if name.startswith('shard_fill')]
    return rings, sum(size for _, size in areas) - sum(rings)


def percpu():
    """Bytes that are taken for every possible processor."""
    return int(re.search(r'^Percpu: *(\d+) kB$', slurp('/proc/meminfo'), re.M)[1]) << 10


def a_ring(name):
    """Bytes of a processor's ring in this category, which is within a page of its records."""
    s = stats(name)
    bytes_, rest = divmod(s['start_bytes'], s['cpus'])
    is_equal(rest, 0)
    is_true(0 <= bytes_ - SIZE * record_size(name) <= SIZE * 16 + PAGE, f'{name}: {bytes_} a ring')
    return bytes_


def start_all():
    """Start all categories, with the rings of the processors that are online. Return: bytes."""
    total = 0
    for name in CATEGORIES:
        command('start', category=name)
        s = stats(name)
        is_equal((name, s['cpus'], s['memory_bytes']), (name, len(ONLINE), s['start_bytes']))
        is_equal(s['memory_bytes'], len(ONLINE) * a_ring(name))
        total += s['memory_bytes']
    return total


def owners():
    """
    Load the module, and have it make the table of the sockets' owners, which it keeps until it is unloaded.
    Return: its bytes: what the module takes beside rings, and what the kernel lists beside them.
    """
    reload(NO_PATHS)
    command('start', category='conn')
    command('stop', 'reset', category='conn')
    rings, tables = held()
    bytes_ = used() - sum(rings)
    is_true(0 <= tables - bytes_ < PAGE, f'{bytes_} of {tables} bytes')
    return bytes_


@SUITE.test('start takes memory for the CPUs that are online, of 256 that are possible')
def online_only():
    """What start takes is the rings of the processors that are online."""
    is_equal((number_of('possible'), number_of('online')), (POSSIBLE, len(ONLINE)))
    other = owners()
    before = percpu()
    total = start_all()
    is_equal(used(), other + total)
    rings, _ = held()
    is_equal((len(rings), sum(rings)), (len(CATEGORIES) * len(ONLINE), total))
    # The kernel takes pages for all possible processors at once, and some in advance; the smallest ring on each
    # of them would be a hundred times what it took.
    smallest = min(a_ring(name) for name in CATEGORIES)
    is_true(percpu() - before < POSSIBLE * smallest // 10, f'{before} became {percpu()}')
    for name in CATEGORIES:
        command('stop', category=name)


def write_on(cpu, n):
    """Write n times in a child that runs on that processor."""
    def child():
        os.sched_setaffinity(0, {cpu})
        write_bytes('f', 0, n)
    do(child)


def set_online(cpu, state):
    must(state, f'{CPU}cpu{cpu}/online')


@SUITE.test('a CPU that comes online for the first time has its ring, and its events are recorded')
def hotplug():
    """A processor that comes online for the first time has a ring, and its events are recorded."""
    other = owners()
    touch('f')
    total = start_all()
    mine()
    _, tables = held()
    blocks = Blocks()
    expected = dict.fromkeys(ONLINE, 10)
    for cpu in ONLINE:
        write_on(cpu, 10)
    for cpu in COMING:
        set_online(cpu, '1')
        rings = {name: a_ring(name) for name in CATEGORIES}
        total += sum(rings.values())
        is_equal(used(), other + total)
        is_equal((sum(held()[0]), held()[1]), (total, tables))
        for name in CATEGORIES:
            s = stats(name)
            is_equal((s['cpus'], s['memory_bytes']), (cpu + 1, (cpu + 1) * rings[name]))
        expected[cpu] = 20 + cpu
        write_on(cpu, expected[cpu])
    blocks.read()
    is_equal({cpu: blocks.on(cpu) for cpu in expected}, expected)
    is_equal(sum(blocks.gaps.values()), 0)
    s = is_conserved()
    is_equal((s['seen'], s['lost']), (sum(expected.values()), 0))
    is_equal(len(events()), sum(expected.values()))
    blocks.close()
    # Their rings are given back when they are gone and nobody needs the records.
    for cpu in COMING:
        set_online(cpu, '0')
    for name in CATEGORIES:
        command('stop', 'reset', category=name)
    is_equal(used(), other + total // 2)
