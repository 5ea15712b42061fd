# SPDX-License-Identifier: GPL-2.0
"""
What very many targets cost, in instructions, which only a virtual machine with -icount counts:

	scripts/check-vm --icount 6.12 hostile_targets.py

TARGETS=1000000 takes a million instead of 20,000, and IOTRACER_VM_MEMORY has to have room for their
files.

The virtual machine runs with -icount: a nanosecond is an instruction. The time of a thread on its
processor is what its calls cost, without the waits for other processors.
"""
import os
import subprocess
import time

from lib.iot import CONTROL, IOT, is_equal, is_true, must, reload, slurp, touch, unload, write
from lib.machine import new_tmpfs, umount
from lib.places import PROGRAMS
from lib.suite import Suite


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files', 'nr_inodes=0')


def teardown():
    unload()
    umount('/mnt/files')


SUITE = Suite(setup=setup, teardown=teardown, seconds=7200, tags=('slow',))

PROGRAM = f'{PROGRAMS}/hostile_trees'
PROCESSES = 1000
TARGETS = int(os.environ.get('TARGETS', '20000'))
FILES = '/mnt/files'
SOME = 21           # targets that are measured
READ = 300          # instructions that ten times as many targets may add to a read,
COMMAND = 5000      # to a command


def cost(function, *args):
    """Instructions of a call, with a few thousand of Python's own, which are always the same."""
    begin = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
    function(*args)
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - begin


def median(values):
    return sorted(values)[len(values) // 2]


def memory():
    return {k: int(v) for k, v in (line.split() for line in slurp(IOT + '/memory').splitlines())}


def add(first, last):
    names = [f'{FILES}/{i}' for i in range(first, last)]
    touch(*names)
    for i in range(0, len(names), 500):
        must('\n'.join(f'add {name} 1' for name in names[i:i + 500]))


def reads(name):
    """What a read of the file costs."""
    fd = os.open(name, os.O_RDONLY)
    took = median([cost(os.pread, fd, 1, 0) for _ in range(SOME)])
    os.close(fd)
    return took


def measured(number):
    """What is right with this many targets. Return: what a read, a remove and an add cost."""
    m = memory()
    is_equal(m['targets_running'], number)
    is_true(m['buckets'] >= number, m)
    # as many targets as buckets: 12 in one bucket are less likely than 1 in 10^4
    is_true(m['longest_chain'] <= 12, m)
    names = [f'{FILES}/{i}' for i in range(number // SOME, number, number // SOME)]
    found = {'other': reads('/mnt/other'),
             'target': median([reads(name) for name in names])}
    fd = os.open(CONTROL, os.O_WRONLY)
    for command, end in ('remove', ''), ('add', ' 1'):
        found[command] = median([cost(os.write, fd, f'{command} {name}{end}'.encode())
                                 for name in names])
    os.close(fd)
    print(f'{number} targets: {found}')
    return found


def found(shape):
    """What it costs to find all processes of a tree of this shape."""
    with subprocess.Popen([PROGRAM, shape, str(PROCESSES)], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        first = process.stdout.readline().strip()
        fd = os.open(IOT + '/fs/control', os.O_WRONLY)
        took = cost(os.write, fd, f'filter tree={first}'.encode())
        os.write(fd, b'filter none')
        os.close(fd)
        process.stdin.close()
    return took


@SUITE.test('a tree of processes costs as much to find, however deep it is')
def deep_tree():
    """Each process is looked at as often in a tree that is as deep as it has processes."""
    reload()
    flat, deep = found('flat'), found('deep')
    print(f'{PROCESSES} processes: flat {flat}, deep {deep} instructions')
    is_true(deep < 1.5 * flat, (flat, deep))


@SUITE.test('ten times as many targets make no read, remove or add cost more, and no chain is long')
def ten_times():
    """Ten times as many targets make no lookup, remove or add cost more."""
    reload()
    touch('/mnt/other')
    add(0, TARGETS // 10)
    measured(TARGETS // 10)
    few = measured(TARGETS // 10)
    add(TARGETS // 10, TARGETS)
    many = measured(TARGETS)
    more = {what: many[what] - few[what] for what in few}
    for what, least in (('other', READ), ('target', READ), ('remove', COMMAND), ('add', COMMAND)):
        is_true(more[what] < least, f'{what}: of {few}, with ten times as many targets {many}')
    is_equal(write(CONTROL, f'remove {FILES}/{TARGETS}'), 'ENOENT')
    reload()
    is_equal(memory()['targets_running'], 0)
