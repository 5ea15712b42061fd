# SPDX-License-Identifier: GPL-2.0
"""
What all categories share: control, filters, rings, log, stream and paths. The tests use reads and
writes of category fs, whose totals have to be fio's own.

They look only at READ and WRITE of files below /mnt/files (a tmpfs) and /mnt/disk (ext4), by
processes that the test starts.
"""
import contextlib
import fcntl
import json
import os
import re
import select
import socket
import struct
import subprocess
import threading
import time

from lib.category import (cleaning, command, DEFAULT, do, events, FS, HEADER, is_conserved,
                          mine, ONLY, overlapping, settings, stats, Stream)
from lib.iot import (add, control, drain, IOT, is_equal, is_true, join, kmsg, matches,
                     memory_group, must, reload, set_parameter, slurp, slurp_bytes, times, touch,
                     unload, write, write_bytes)
from lib.kernel import HAS_BTF
from lib.machine import execute, new_filesystem, new_tmpfs, umount
from lib.process import spawn, waits_in, with_number
from lib.suite import Skip, Suite


def setup():
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk', '256M')
    new_filesystem('ext4', '/dev/vdb', '/mnt/ext4')
    new_filesystem('xfs', '/dev/vdc', '/mnt/xfs')
    new_filesystem('btrfs', '/dev/vdd', '/mnt/btrfs')


def teardown():
    unload()
    umount('/mnt/files', '/mnt/disk', '/mnt/ext4', '/mnt/xfs', '/mnt/btrfs')


SUITE = Suite(setup=setup, teardown=teardown, around=cleaning)

# Control


def hooked():
    """Lines of hooks, except for delete_module(2), hooked since the first redirection."""
    return [line for line in slurp(IOT + '/hooks').split('\n')[1:-1] if ' unload ' not in line]


@SUITE.test('control: a line that is wrong is refused, and changes nothing', once=True)
def errors_change_nothing():
    for line in ('', 'starts', 'start now', 'start while', 'size', 'size 0', 'size -1', 'size x', 'sample 0',
                 'sample', 'mode', 'mode none', 'filter', 'filter ', 'filter pid', 'filter pid=',
                 'filter pid=x', 'filter pid=-1', 'filter pid=1 pid=1', 'filter foo=1',
                 'filter op=NONE', 'filter op=', 'filter op=READ,', 'filter kind=real',
                 'filter dev=1', 'filter dev=a:b', 'filter dev=5000:1', 'filter none pid=1',
                 'filter pid=1  tid=1', 'filter comm=', 'filter comm=0123456789abcdef',
                 'filter comm=a,', 'filter comm=a,,b', 'filter comm=' + 32 * 'a,' + 'a',
                 'filter pid=4294967296', 'filter rejected=2', 'filter tree=0', 'filter comm=\\000'):
        is_equal((line, write(FS + '/control', line + '\n')), (line, 'EINVAL'))
    is_equal(settings(), DEFAULT)
    is_equal(write(FS + '/control', f'size {2**40}'), 'ENOMEM')
    is_equal(settings(), DEFAULT)


@SUITE.test('control: what it shows can be written back', once=True)
def written_back():
    """What control shows can be written to it in any state."""
    shown = ('start\nsize 100\nsample 3\nmode discard\nfilter pid=1,7 tid=2,3 comm=a\\040b,c\\054d uid=3,0 '
             f'cgroup=4,5 tree={os.getpid()} dev=8:1,8:2 inode=5,6 op=READ,FSYNC kind=file,pipe '
             'min_latency=6 min_size=7 rejected=1\n')
    command('size 100', 'sample 3', 'mode discard', shown.split('\n')[4], 'start')
    is_equal(settings(), shown)
    command('stop', 'size 7', 'sample 1', 'mode overwrite', 'filter kind=all')
    is_equal(settings(), 'stop\nsize 7\nsample 1\nmode overwrite\nfilter kind=all\n')
    must('# what control showed:\n' + shown, FS + '/control')
    is_equal(settings(), shown)
    must(DEFAULT, FS + '/control')
    is_equal(settings(), DEFAULT)


@SUITE.test('control: lines are obeyed up to the first that is wrong', once=True)
def up_to_an_error():
    is_equal(write(FS + '/control', 'size 9\nfilter bad\nsize 8\n'), 7)
    is_equal(slurp(FS + '/control').split('\n')[1], 'size 9')


REFUSED = (
    ('filter op=REED', 'op=REED: fs has no such operation; the nearest is READ'),
    ('filter op=READ,wriet uid=1', 'op=wriet: fs has no such operation; the nearest is WRITE'),
    ('filter op=READ,', 'op=: a name is missing; put one comma between two'),
    ('filter ops=READ', 'ops: there is no such key; the nearest is op'),
    ('filter kind=files', 'kind=files: fs has no such kind of file; the nearest is file'),
    ('filter kind=', 'kind=: a name is missing; put one comma between two'),
    ('filter pid=x', 'pid=x: say a number up to 4294967295'),
    ('filter pid=1,4294967296', 'pid=4294967296: say a number up to 4294967295'),
    ('filter tid=1,,2', 'tid=: say a number up to 4294967295'),
    ('filter uid=1,', 'uid=: say a number up to 4294967295'),
    ('filter uid=' + ','.join('9' for _ in range(33)), 'uid: say 32 values at most'),
    ('filter uid=1 tree=4294967296', 'tree=4294967296: say the number of one process'),
    ('filter tree=1,2', 'tree=1,2: say the number of one process'),
    ('filter min_size=4X', 'min_size=4X: say bytes: a number, or one with K, M, G or T (of 1024), as 4K'),
    ('filter min_size=K', 'min_size=K: say bytes: a number, or one with K, M, G or T (of 1024), as 4K'),
    ('filter min_size=16777216T',
     'min_size=16777216T: say bytes: a number, or one with K, M, G or T (of 1024), as 4K'),
    ('filter min_latency=-1', 'min_latency=-1: say nanoseconds: a number, or one with us, ms or s, as 10ms'),
    ('filter min_latency=1m', 'min_latency=1m: say nanoseconds: a number, or one with us, ms or s, as 10ms'),
    ('filter min_latency=1s min_latency=2s', 'min_latency=2s: the key is given twice'),
    ('filter inode=-1', 'inode=-1: say a number of 64 bits, not negative'),
    ('filter dev=8', 'dev=8: say MAJOR:MINOR in decimal, with a comma before the next'),
    ('filter dev=8:1048576', 'dev=8:1048576: say MAJOR:MINOR in decimal, with a comma before the next'),
    ('filter dev=8:1,8', 'dev=8: say MAJOR:MINOR in decimal, with a comma before the next'),
    ('filter comm=', 'comm=: a name is missing'),
    ('filter comm=a,', 'comm=: a name is missing'),
    ('filter comm=' + 32 * 'a,' + 'a', 'comm: say 32 names at most'),
    ('filter comm=0123456789abcdef',
     "comm=0123456789abcdef: the kernel keeps 15 bytes of a thread's name: say those"),
    ('filter path=here', 'path=here: say a path that begins with /'),
    ('filter path=', 'path=: say a path that begins with /'),
    ('filter path=' + ','.join(9 * ['/']), 'path: say 8 paths at most'),
    ('filter path=/ path=/', 'path: the key is given twice: say path=A,B'),
    ('filter pid=1 pid=2', 'pid: the key is given twice: say pid=A,B'),
    ('filter pid', 'pid: say KEY=VALUE'),
    ('filter pid=1  uid=2',
     'a condition is missing: say KEY=VALUE, or none; put one blank between two'),
    ('filter tree=0', 'tree=0: say the number of a process'),
    ('size 0', 'say a number of events, 1 at least'),
    ('sample x', 'say a number from 1 to 4294967295'),
    ('mode discord', 'say mode overwrite or mode discard'),
    ('starts', 'there is no such command; say start, start while-read, stop, reset, size N, '
               'sample N, mode overwrite, mode discard, filter KEY=VALUE or filter none'),
)


@SUITE.test('error: names the refused command, its key and value, and the reason', once=True)
def refusals():
    """The file error has the command that was refused last, with key, value and reason."""
    reload()
    for name in '', '/fs', '/block':
        is_equal(slurp(f'{IOT}{name}/error'), '')
    kmsg.skip()
    for line, words in REFUSED:
        is_equal((line, write(FS + '/control', line)), (line, 'EINVAL'))
        is_equal(slurp(FS + '/error'), f'{line}: {words}\n')
    is_equal(settings(), DEFAULT)
    is_equal(kmsg.new(), [])


@SUITE.test('error: a refusal stays until the same category refuses another command', once=True)
def refusal_stays():
    """It stays until the same category refuses another command."""
    reload()
    is_equal(write(FS + '/control', 'starts'), 'EINVAL')
    command('filter pid=1', 'filter none')
    is_equal(slurp(FS + '/error').split(':')[0], 'starts')
    is_equal(slurp(IOT + '/block/error'), '')


def meaningless_conditions():
    for name, line, words in (
            ('block', 'kind=file', 'kind has no meaning for block: a request belongs to a device; '
                                   'dev= and inode= select the file'),
            ('cache', 'min_latency=1',
             'min_latency has no meaning for cache: its events have no duration'),
            ('fault', 'min_size=1', 'min_size has no meaning for fault: a fault concerns one page'),
            ('fs', 'op=READ,BLOCK_WRITE', 'op: BLOCK_* are in logs of directories and processes only; '
                                          'trace category block'),
            ('cache', 'op=MIS', 'op=MIS: cache has no such operation; the nearest is MISS')):
        is_equal(write(f'{IOT}/{name}/control', 'filter ' + line), 'EINVAL')
        is_equal(slurp(f'{IOT}/{name}/error'), f'filter {line}: {words}\n')


def most_devices():
    most = 'filter dev=' + ','.join(f'8:{n}' for n in range(128))
    command(most)
    is_equal(write(FS + '/control', most + ',9:9'), 'EINVAL')
    matches(slurp(FS + '/error'), r'\.\.\.: dev: say 128 devices at most\n$')
    is_equal(settings().split('\n')[4], most)
    command('filter none')


@SUITE.test("error: a size above a limit is refused with the limit's name, in the kernel's log too", once=True)
def refused_size():
    kmsg.skip()
    is_equal(write(FS + '/control', 'size 20000000'), 'ENOMEM')
    words = 'size 20000000 is above max_events_limit=16777216: take fewer or raise the parameter'
    is_equal(slurp(FS + '/error'), f'size 20000000: {words}\n')
    is_equal(kmsg.new(), ['iotracer: ' + words])


@SUITE.test('error: the command is quoted, cut and escaped', once=True)
def refusals_are_text():
    """The command is quoted, cut if it is long, with control characters escaped."""
    long = 'op=' + 'x' * 5000
    is_equal(write(FS + '/control', 'filter ' + long), 'EINVAL')
    said = slurp(FS + '/error')
    is_true(len(said) < 512, said)
    matches(said, r'^filter op=x+\.\.\.: op=x{64}: fs has no such operation; the nearest is \w+\n$')
    is_equal(write(FS + '/control', b'filter comm=a\\040b\x1b[2J\xff\xc2\x9b op=\r'), 'EINVAL')
    is_equal(slurp(FS + '/error'),
             'filter comm=a\\040b\\033[2J\\377\\302\\233 op=\\015: '
             'op=\\015: fs has no such operation; the nearest is ' +
             slurp(FS + '/error').split()[-1] + '\n')
    for line in b'filter ' + b'\xf0\x9f' * 3000, b'\x01' * 60000, b'x' * 60000:
        is_equal(write(FS + '/control', line), 'EINVAL')
        is_true(re.fullmatch(r'[ -~]+\n', slurp(FS + '/error')), slurp(FS + '/error'))


@SUITE.test('error: add and remove have a file of their own', once=True)
def root_refusals():
    """The reasons why add and remove were refused are in a file of their own."""
    touch('f')
    for line, error, words in (
            ('add nowhere', 'ENOENT', 'there is no such file, or it is not traced'),
            ('remove f', 'ENOENT', 'there is no such file, or it is not traced'),
            ('add /sys', 'EOPNOTSUPP', "it is on a filesystem that shows the kernel's own state: "
                                       'trace category fs with filter kind=pseudo'),
            ('add f 0', 'EINVAL', 'the number of events at its end is 0 or too large'),
            ('ad f', 'EINVAL',
             'there is no such command; say add [-i] [-a] [-n] PATH [MAX_EVENTS] or remove PATH'),
            ('add f 20000000', 'ENOMEM', 'max_events 20000000 is above max_events_limit=16777216: '
                                         'take fewer or raise the parameter')):
        is_equal((line, control(line)), (line, error))
        is_equal(slurp(IOT + '/error'), f'{line}: {words}\n')


def t0(category='fs'):
    """T0 in ns, as control and stats show it alike."""
    last = slurp(f'{IOT}/{category}/control').splitlines()[-1]
    matches(last, r'^# T0 \d+\.\d{9}$')
    shown = int(last.split()[-1].replace('.', ''))
    is_equal(shown, stats(category)['t0_ns'])
    return shown


@SUITE.test('control and stats: T0 is when the category was first started, or last reset', once=True)
def t0_is_shown():
    """T0 is the moment of the first start and of each reset."""
    reload()
    is_equal(t0(), 0)
    for line in 'start', 'reset', 'size 100':
        earliest = time.monotonic_ns()
        command(line)
        latest = time.monotonic_ns()
        is_true(earliest - 10**6 <= t0() <= latest + 10**6, (line, earliest, t0(), latest))
    before = t0()
    command('stop', 'start', 'filter op=READ')
    is_equal(t0(), before)


@SUITE.test('logs of targets and categories can be laid side by side by their T0', once=True)
def logs_side_by_side():
    """A read has the same time in all logs, if T0 is added to what they show."""
    name = '/mnt/files/side'
    touch(name)
    write_bytes(name, 0, 100)
    target = add(name)
    command(f'filter pid={os.getpid()} op=READ', 'reset', 'start')
    slurp_bytes(name)
    command('stop')
    in_fs = [t0() + int(line.split()[0].replace('.', ''))
             for line in slurp(FS + '/log').splitlines() if f' path={name} ' in line]
    is_equal([target.status()[1] + since for since in times(target.log())], in_fs)
    is_true(in_fs, 'nothing was recorded')
    must(f'remove {name}')


@SUITE.test('nothing is hooked before start and after stop')
def hooked_while_started():
    is_equal(hooked(), [])
    for _ in range(2):
        command('start')
        is_true('shmem_file_read_iter' in slurp(IOT + '/hooks'), slurp(IOT + '/hooks'))
        command('start', 'stop')
        is_equal(hooked(), [])
        command('stop')


@SUITE.test('readers do not wait while hooks are attached and detached')
def read_while_hooking():
    """Readers do not wait until all hooks are attached or detached."""
    def is_read_meanwhile(line):
        """Whether all is read between two changes of the hooks that the command makes."""
        hooks = slurp(IOT + '/hooks')
        writer = spawn(must, line, FS + '/control')
        deadline = time.monotonic() + 300
        while slurp(IOT + '/hooks') == hooks:
            is_true(time.monotonic() < deadline, f'{line}: no hook changed within five minutes')
        # started only when all hooks are attached, stopped at once
        state = slurp(FS + '/control').split('\n')[0]
        for name in ('stats', 'log'):
            slurp(f'{FS}/{name}')
        os.close(os.open(FS + '/stream', os.O_RDONLY))
        ended, status = os.waitpid(writer, os.WNOHANG)
        if ended:
            is_equal(status, 0)
            return False
        is_equal(state, 'stop')
        join(writer)
        return True

    reload('attach=kprobe')
    command('filter kind=all pid=1')
    # On a busy machine this process may stand still until all hooks are changed. If readers
    # waited, that would happen each time.
    for _ in range(5):
        found = [is_read_meanwhile(line) for line in ('start', 'stop')]
        if all(found):
            break
    is_equal(found, [True, True])
    reload()


@SUITE.test("a filter that is set when a reader's tracing has stopped stays")
def filter_after_reader():
    """A filter that is set as soon as a reader's tracing has stopped stays: that reader removes its own only."""
    for _ in range(3):
        stream = os.open(FS + '/stream', os.O_RDONLY)
        command('filter op=READ', 'start while-read')
        closes = threading.Thread(target=os.close, args=(stream,))
        closes.start()
        while slurp(FS + '/control').split('\n')[0] != 'stop':
            pass
        command('filter op=WRITE')
        closes.join()
        is_true('\nfilter op=WRITE\n' in settings(), settings())
    command('filter none')


def refused_by_limit(line, limit):
    """The command fails with ENOMEM; error and one message name the limit; control is unchanged."""
    before = settings()
    kmsg.skip()
    is_equal((line, write(FS + '/control', line)), (line, 'ENOMEM'))
    said = kmsg.new()
    is_equal(len(said), 1)
    matches(said[0], limit)
    is_equal(slurp(FS + '/error'), f'{line}: {said[0].removeprefix("iotracer: ")}\n')
    is_equal(settings(), before)


@SUITE.test("memory: a size above a limit is refused when it is set, with the limit's name", once=True)
def memory_limit():
    """A size above a limit is refused when it is set, with and without rings, not by start."""
    limit = 40000000
    reload(f'max_events_limit=20000000 ring_memory_limit={limit}')
    too_many = limit // 160
    words = f'would exceed ring_memory_limit={limit} '
    refused_by_limit(f'size {too_many}', words)
    refused_by_limit('size 20000001', 'is above max_events_limit=20000000')
    # Memory that others hold counts.
    touch('f')
    add('f', limit // 4 // 112)
    half = limit // stats()['cpus'] // 160 * 7 // 8
    refused_by_limit(f'size {half}', rf'ring_memory_limit={limit} \(\d+ in use\)')
    must('remove f')
    command(f'size {half}')
    # start refuses a size if the limit was lowered after the size was set.
    set_parameter('ring_memory_limit', 100000)
    refused_by_limit('start', 'would exceed ring_memory_limit=100000 ')
    is_equal(hooked(), [])
    set_parameter('ring_memory_limit', limit)
    command('start', 'stop')
    is_equal(slurp(FS + '/control').split('\n')[1], f'size {half}')
    command('size 100', 'start')
    refused_by_limit(f'size {too_many}', words)
    is_equal(slurp(FS + '/control').split('\n')[:2], ['start', 'size 100'])
    reload()

# Filters


def seen_by(function, *conditions):
    """Run the function in a child with this filter. Return: its pid and its events."""
    command('reset', 'filter ' + ' '.join(conditions + (ONLY,)), 'start')
    pid = do(function)
    is_conserved()
    return pid, [e for e in events() if e['pid'] == pid]


def named(comm='a b'):
    with open('/proc/self/comm', 'w') as f:
        f.write(comm)
    write_bytes('f', 0, 5)


def as_nobody():
    os.setresuid(65534, 65534, 65534)
    write_bytes('f', 0, 5)


def with_rights_of_nobody():
    os.seteuid(65534)
    write_bytes('f', 0, 5)


FIVE = ['WRITE'] * 5


def of_child(condition):
    """The events of a child that begins when a filter with its number, at {}, has been started."""
    reading, writing = os.pipe()
    pid = spawn(lambda: (os.read(reading, 1), write_bytes('f', 0, 5)))
    command('reset', f'filter {condition.format(pid)} {ONLY}', 'start')
    os.write(writing, b'x')
    join(pid)
    os.close(reading)
    os.close(writing)
    is_conserved()
    return [e['op'] for e in events() if e['pid'] == pid]


def five_writes():
    write_bytes('f', 0, 5)


def seen(*conditions, function=five_writes):
    """Operations of a child that writes a file of its own five times, with this filter."""
    return [e['op'] for e in seen_by(function, *conditions)[1]]


def own_file():
    """Make the file, which anyone may write. Return: its stat and device."""
    touch('f')
    os.chmod('f', 0o666)
    os.chmod('.', 0o777)
    stat = os.stat('f')
    return stat, f'{os.major(stat.st_dev)}:{os.minor(stat.st_dev)}'


@SUITE.test('filters: by process, thread, user and control group', once=True)
def by_task():
    own_file()
    is_equal(seen(f'tree={os.getpid()}'), FIVE)
    is_equal(seen('tree=1'), FIVE)
    is_equal(seen(f'pid={os.getpid()}'), [])
    # a child, whose number only this process knows before it writes
    for pids in ('{}', '1,{}', '{},1', ','.join(31 * ['1']) + ',{}'):
        is_equal((pids, of_child('pid=' + pids)), (pids, FIVE))
    is_equal(of_child('pid=1,2'), [])
    is_equal(seen('comm=a\\040b', function=named)[-5:], FIVE)
    is_equal(seen('comm=a'), [])
    # a list of names; a comma inside a name is escaped
    for names in ('comm=c,a\\040b', 'comm=a\\040b,c', 'comm=c comm=a\\040b', 'comm=a\\054b,a\\040b'):
        is_equal((names, seen(names, function=named)[-5:]), (names, FIVE))
    is_equal(seen('comm=a,b', function=lambda: named('a,b')), [])
    is_equal(seen('comm=c,a\\054b', function=lambda: named('a,b'))[-5:], FIVE)
    is_equal(seen('comm=' + ','.join(f'n{i}' for i in range(31)) + ',' + 15 * 'x',
                  function=lambda: named(15 * 'x'))[-5:], FIVE)
    is_equal(seen('uid=65534', function=as_nobody), FIVE)
    is_equal(seen('uid=65533', function=as_nobody), [])
    is_equal(seen('uid=1,65534', function=as_nobody), FIVE)
    is_equal(seen('uid=1,2', function=as_nobody), [])
    is_equal(seen('uid=65534', function=with_rights_of_nobody), FIVE)
    is_equal(seen('uid=0', function=with_rights_of_nobody), [])
    cgroup = seen_by(lambda: write_bytes('f', 0, 1), 'tree=1')[1][0]['cgroup']
    is_equal(seen(f'cgroup={cgroup}'), FIVE)
    is_equal(seen(f'cgroup={int(cgroup) + 1}'), [])
    is_equal(seen(f'cgroup={int(cgroup) + 1},{cgroup}'), FIVE)
    is_equal(seen(f'cgroup={int(cgroup) + 1},{int(cgroup) + 2}'), [])
    with Thread(five_writes) as thread:
        command('reset', f'filter tid=1,{thread.tid} {ONLY}', 'start')
    five_writes()
    is_equal([(e['pid'], e['tid'], e['op']) for e in events()],
             [(os.getpid(), thread.tid, 'WRITE')] * 5)


@SUITE.test('filters: by file, device and kind of file', once=True)
def by_file():
    stat, dev = own_file()
    is_equal(seen(f'inode={stat.st_ino}'), FIVE)
    is_equal(seen(f'inode={stat.st_ino + 1}'), [])
    is_equal(seen(f'inode=1,{stat.st_ino}'), FIVE)
    is_equal(seen(f'inode={stat.st_ino + 1},{stat.st_ino + 2}'), [])
    is_equal(seen(f'dev={dev}'), FIVE)
    is_equal(seen('dev=1:1'), [])
    is_equal(seen(f'dev=1:1,{dev}'), FIVE)
    is_equal(seen(f'dev=1:1,{dev},1:2', 'op=READ,WRITE'), FIVE)
    is_equal(seen('dev=1:1,1:2'), [])
    is_equal(seen('kind=file'), FIVE)
    is_equal(seen('kind=dir'), [])


@SUITE.test('filters: by size and latency', once=True)
def by_size_and_latency():
    own_file()
    is_equal(seen('min_size=1'), FIVE)
    is_equal(seen('min_size=2'), [])
    is_equal(seen('min_size=1k'), [])
    for given, number in (('1', 1), ('3K', 3 << 10), ('5m', 5 << 20), ('2G', 2 << 30), ('16777215T', 16777215 << 40)):
        command(f'filter min_size={given}')
        is_equal(slurp(FS + '/control').split('\n')[4], f'filter min_size={number}')
    for given, number in (('7ns', 7), ('3us', 3000), ('5ms', 5000000), ('2s', 2000000000), ('1S', 1000000000)):
        command(f'filter min_latency={given}')
        is_equal(slurp(FS + '/control').split('\n')[4], f'filter min_latency={number}')
    is_equal(seen('min_latency=1'), FIVE)
    is_equal(seen('min_latency=10000000000'), [])
    least = 50_000_000
    reading, writing = os.pipe()
    command('reset', f'filter kind=pipe op=READ min_latency={least}', 'start')
    slow = spawn(os.read, reading, 1)
    waits_in(slow, 'pipe_read', 'anon_pipe_read')
    time.sleep(least / 10**9)
    os.write(writing, b'x')
    join(slow)
    os.write(writing, b'y')
    os.read(reading, 1)
    found = [(e['pid'], int(e['latency'])) for e in events() if e['pid'] in (slow, os.getpid())]
    is_true(slow in dict(found) and min(dict(found).values()) >= least, found)
    os.close(reading)
    os.close(writing)


@SUITE.test('filters: an event has to match all conditions', once=True)
def all_conditions():
    stat, dev = own_file()
    is_equal(seen(f'dev={dev}', f'inode={stat.st_ino}', 'min_size=1', 'uid=0'), FIVE)
    is_equal(seen(f'dev={dev}', f'inode={stat.st_ino}', 'min_size=1', 'uid=1'), [])


@SUITE.test('filters: lists of operations and kinds, in any case and in parts', once=True)
def lists():
    """Operations and kinds may be in upper or lower case; a list may be given in parts."""
    own_file()
    is_equal(seen('op=write', 'op=Read', 'kind=FILE', 'kind=dir'), FIVE)
    is_equal(slurp(FS + '/control').split('\n')[4],
             'filter op=READ,WRITE,DIO_READ,DIO_WRITE kind=file,dir')
    command('filter op=read op=Fsync,read')
    is_equal(slurp(FS + '/control').split('\n')[4], 'filter op=READ,FSYNC')


@SUITE.test('filters: an event that is rejected takes no slot', once=True)
def rejected():
    """An event that the filter rejects takes no slot."""
    own_file()
    command('reset', 'filter inode=1 ' + ONLY, 'start')
    do(write_bytes, 'f', 0, 100)
    is_equal(stats()['seen'], 0)


def tree_of_files():
    """Operations on what is in a, in b, and on what moves between them."""
    for top in 'a', 'b':
        os.mkdir(f'{top}/new')
        touch(f'{top}/file')
        write_bytes(f'{top}/file', 0, 3)
        os.rename(f'{top}/file', f'{top}/new/file')
        write_bytes(f'{top}/new/file', 0, 1)
        os.path.exists(f'{top}/none')
    os.rename('a/new/file', 'b/came')
    write_bytes('b/came', 0, 1)
    os.rename('b/new/file', 'a/came')
    write_bytes('a/came', 0, 1)


def below(path):
    """(operation, path, second path) of a child's events with a filter on that path."""
    for top in 'a', 'b':
        execute('rm', '-rf', top)
        os.mkdir(top)
    command('reset', 'filter path=' + path, 'start')
    pid = do(tree_of_files)
    is_equal(is_conserved()['missed'], 0)
    return [(e['op'], e.get('path', ''), e.get('path2', '')) for e in events() if e['pid'] == pid]


@SUITE.test('filters: what is below a directory, also what comes to it and goes')
def by_path():
    here = os.getcwd()
    found = below(f'{here}/a')
    is_true(all(path.startswith(f'{here}/a') or path2.startswith(f'{here}/a') for _, path, path2 in found), found)
    # by the names that all events have, and by hand
    all_of_both = below(here)
    is_equal(found, [row for row in all_of_both if f'{here}/a/' in row[1] + row[2]])
    is_equal([row[0] for row in found if row[0] in ('MKDIR', 'WRITE', 'RENAME')],
             ['MKDIR', 'WRITE', 'WRITE', 'WRITE', 'RENAME', 'WRITE', 'RENAME', 'RENAME', 'WRITE'])
    is_true(('GETATTR', f'{here}/a/none', '') in found, found)
    is_true(len(found) < len(all_of_both), found)


@SUITE.test('filters: a file, several directories, names with blanks and commas', once=True)
def by_paths():
    here = os.getcwd()
    os.makedirs('x y,z/d')
    touch('x y,z/f')
    touch('other')
    name = f'{here}/x\\040y\\054z'
    for filters, expected in ((name, ['x y,z/f']), (name + '/f', ['x y,z/f']), (name + '/d', []),
                              (f'{name}/d,{here}/other', ['other']), (f'{name},{here}/other', ['x y,z/f', 'other'])):
        command('reset', 'filter op=WRITE path=' + filters, 'start')
        is_equal(slurp(FS + '/control').split('\n')[4], f'filter op=WRITE path={filters}')
        for path in 'x y,z/f', 'other':
            do(write_bytes, path, 0, 1)
        is_equal((filters, [e['path'].replace('\\040', ' ') for e in events()]),
                 (filters, [f'{here}/{path}' for path in expected]))
    for path, error, why in (('/nowhere/at/all', 'ENOENT', 'there is no such file or directory'),
                             ('/etc/passwd/x', 'ENOTDIR', 'it cannot be looked up')):
        is_equal(write(FS + '/control', f'filter path={here},{path}'), error)
        is_equal(slurp(FS + '/error'), f'filter path={here},{path}: path={path}: {why}\n')
    # the other conditions count as well
    command('reset', f'filter path={here} min_size=2 op=WRITE', 'start')
    for size in 1, 2:
        with open('other', 'wb', 0) as f:
            f.write(bytes(size))
    is_equal([e['requested'] for e in events(f'{here}/other')], ['2'])


@SUITE.test('filters: the directory of a path that is renamed, and one that is made anew', once=True)
def by_path_renamed():
    here = os.getcwd()
    os.mkdir('old')
    command('reset', f'filter op=WRITE path={here}/old', 'start')
    os.rename('old', 'renamed')
    os.mkdir('old')
    touch('old/f')
    touch('renamed/f')
    for path in 'old/f', 'renamed/f':
        do(write_bytes, path, 0, 1)
    is_equal([e['path'] for e in events()], [f'{here}/renamed/f'])


@SUITE.test('filters: paths beside targets that are directories, which come and go')
def by_path_and_targets():
    here = os.getcwd()
    expected = below(f'{here}/a')
    for target in 'a', 'b', '.':
        with contextlib.ExitStack() as stack:
            execute('rm', '-rf', 'a', 'b')
            os.mkdir('a')
            os.mkdir('b')
            must(f'add {here}/{target}')
            stack.callback(control, f'remove {os.path.abspath(target)}')
            command('reset', f'filter path={here}/a', 'start')
            pid = do(tree_of_files)
            is_equal([(e['op'], e.get('path', ''), e.get('path2', '')) for e in events() if e['pid'] == pid],
                     expected)
    # of what was not checked when it began nothing stays unchecked
    command('reset', 'filter op=WRITE', 'start')
    pid = do(tree_of_files_again)
    is_equal([e['op'] for e in events() if e['pid'] == pid], ['WRITE'])


def tree_of_files_again():
    write_bytes('b/came', 0, 1)
    os.path.exists('a')


@SUITE.test('filters: paths share the limit of directories, and give it back', once=True)
def by_too_many_paths():
    here = os.getcwd()
    for i in range(32):
        os.mkdir(f'd{i}')
    with contextlib.ExitStack() as stack:
        for i in range(25):
            must(f'add {here}/d{i}')
            stack.callback(control, f'remove {here}/d{i}')
        for _ in range(3):
            command('filter path=' + ','.join(f'{here}/d{i}' for i in range(24, 31)))
            is_equal(write(FS + '/control', f'filter path={here}/d31'), 'ENOSPC')
            matches(slurp(FS + '/error'), ': path: 32 directories are traced or in filters, the most: remove one')
            is_equal(write(FS + '/control', f'filter path={here}/d31,/nowhere'), 'ENOSPC')
            command('filter none')
            is_equal(write(FS + '/control', f'filter path={here}/d31,/nowhere'), 'ENOENT')
    command('filter path=' + ','.join(f'{here}/d{i}' for i in range(8)))


@SUITE.test('filters: a control group by its path', once=True)
def by_cgroup():
    """A control group is given by its path in /proc/<pid>/cgroup or in the filesystem."""
    touch('f')

    def in_group(path):
        must(str(os.getpid()), path + '/cgroup.procs')
        write_bytes('f', 0, 5)

    with memory_group() as group:
        name = '/' + os.path.basename(group)
        number = os.stat(group).st_ino
        for path in name, '/sys/fs/cgroup' + name, name + '/':
            command(f'filter cgroup={path} {ONLY}')
            is_equal(slurp(FS + '/control').split('\n')[4], f'filter cgroup={number} {ONLY}')
        command('reset', 'start')
        pid = do(in_group, group)
        do(write_bytes, 'f', 0, 5)
        os.mkdir(group + '/below')
        do(in_group, group + '/below')
        os.rmdir(group + '/below')
        command('stop')
        is_equal([(e['pid'], e['op']) for e in events()], [(pid, 'WRITE')] * 5)
        os.mkdir(group + '/a b')
        command('filter cgroup=' + name + '/a\\040b')
        os.rmdir(group + '/a b')
        command('filter cgroup=/')
        is_equal(slurp(FS + '/control').split('\n')[4],
                 f'filter cgroup={os.stat(os.path.dirname(group)).st_ino}')
    for path in '/nowhere', '/sys/fs/cgroup/nowhere', '/sys/fs/cgroupx', '/' + 'x' * 5000:
        is_equal((path[:50], write(FS + '/control', 'filter cgroup=' + path)),
                 (path[:50], 'ENOENT'))
        matches(slurp(FS + '/error'), f': cgroup={path[:64]}: there is no such control group')
    is_equal(write(FS + '/control', 'filter cgroup=x'), 'EINVAL')


def exit_at_once():
    pass


@SUITE.test('filters: the tree of a process that does not exist is refused', once=True)
def tree_of_nobody():
    """The tree of a process that does not exist is refused; a tree outlives its root."""
    touch('f')
    gone = do(exit_at_once)
    is_equal(write(FS + '/control', f'filter tree={gone}'), 'ESRCH')
    is_equal(slurp(FS + '/error'),
             f'filter tree={gone}: tree={gone}: there is no process with that number\n')
    is_equal(settings(), DEFAULT)
    # The id of a thread is not that of a process.
    with Thread() as thread:
        is_equal(write(FS + '/control', f'filter tree={thread.tid}'), 'ESRCH')
    reading, writing = os.pipe()

    def child():
        os.close(writing)
        os.read(reading, 1)
        write_bytes('f', 0, 5)

    def parent():
        os.write(numbers[1], b'%d' % spawn(child))
        os.read(leaving, 1)

    numbers = os.pipe()
    leaving, leave = os.pipe()
    root = spawn(parent)
    is_equal(write(IOT + '/cache/control', f'filter tree={root}'), len(f'filter tree={root}'))
    command(f'filter tree={root} {ONLY}', 'start')
    orphan = int(os.read(numbers[0], 20))
    os.write(leave, b'x')
    join(root)
    # What control shows can be written back while that tree is followed.
    must(slurp(FS + '/control'), FS + '/control')
    os.write(writing, b'x')
    deadline = time.monotonic() + 300
    while os.path.exists(f'/proc/{orphan}') and time.monotonic() < deadline:
        time.sleep(0.01)
    is_equal([(e['pid'], e['op']) for e in events('/mnt/files/f')], [(orphan, 'WRITE')] * 5)
    # Another category can follow another tree.
    command(f'filter tree={os.getpid()}', category='block')
    command('filter none', category='block')
    command('filter none', category='cache')
    command('stop', 'filter none')
    is_equal(write(FS + '/control', f'filter tree={root}'), 'ESRCH')
    for fd in (reading, writing) + numbers:
        os.close(fd)


class Thread:
    """A thread of this process that calls a function when the with statement ends, and exits."""

    def __init__(self, last=exit_at_once):
        self.last = last

    def __enter__(self):
        self.ready, self.end = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        self.ready.wait()
        return self

    def run(self):
        self.tid = threading.get_native_id()
        self.ready.set()
        self.end.wait()
        self.last()

    def __exit__(self, *unused):
        self.end.set()
        self.thread.join()


@SUITE.test("filters: pipes, sockets and the kernel's own files by their kind", once=True)
def other_kinds():
    """Pipes, sockets and the kernel's own files are traced only if the filter names them."""
    def all_kinds():
        a, b = os.pipe()
        os.write(b, b'abc')
        os.read(a, 3)
        c, d = socket.socketpair()
        c.sendall(b'12')
        os.write(c.fileno(), b'1')
        os.read(d.fileno(), 10)
        slurp('/proc/self/stat')
        slurp('/sys/devices/system/cpu/online')
        write_bytes('f', 0, 1)

    touch('f')
    command(f'filter tree={os.getpid()} {ONLY}', 'start')
    pid = do(all_kinds)
    is_equal([e['path'] for e in events() if e['pid'] == pid], ['/mnt/files/f'])
    for kind, path in (('pipe', 'pipe:'), ('socket', 'socket:'), ('pseudo', '/proc/')):
        command('reset', f'filter tree={os.getpid()} kind={kind} {ONLY}')
        pid = do(all_kinds)
        rows = [e for e in events() if e['pid'] == pid]
        is_true(len(rows) >= 2 or kind == 'pseudo' and rows, (kind, rows))
        if kind != 'pseudo':
            is_equal(sorted(e['op'] for e in rows), ['READ', 'WRITE'])
            is_true(all(e['path'].startswith(path) for e in rows), rows)
    command('reset', f'filter tree={os.getpid()} kind=all {ONLY}')
    pid = do(all_kinds)
    is_true(len([e for e in events() if e['pid'] == pid]) >= 6, slurp(FS + '/log'))
    command('stop')


def stat_none_and_f():
    for path in 'f', 'none':
        os.path.exists(path)
    for call in os.close, os.fsync:
        try:
            call(999)
        except OSError:
            pass
    os.path.exists('f/none')


@SUITE.test('filters: failed lookups are of kind none', once=True)
def failed_lookups():
    """A call that found no file has kind none, which the filter treats as any other kind."""
    touch('f')
    ops = 'op=GETATTR,CLOSE,FSYNC'

    def seen(kind):
        command('reset', f'filter tree={os.getpid()} {ops} {kind}'.rstrip(), 'start')
        pid = do(stat_none_and_f)
        return [(e['op'], int(e['result'])) for e in events() if e['pid'] == pid]

    found = [('GETATTR', 0)]
    failed = [('GETATTR', -2), ('CLOSE', -9), ('FSYNC', -9), ('GETATTR', -20)]
    is_equal(seen('kind=file'), found)
    is_equal(seen('kind=pipe'), [])
    is_equal(seen('kind=none'), failed)
    is_equal(seen('kind=none,file'), found + failed)
    is_equal(seen('kind=all'), found + failed)
    is_equal(seen(''), found + failed)
    command('stop')

# Rings


@SUITE.test('modes: the newest or the oldest events are kept, all are counted', once=True)
def newest_and_oldest():
    touch('f')
    os.sched_setaffinity(0, {0})
    mine()
    command('size 10', 'start')
    do(write_bytes, 'f', 0, 25)
    s = is_conserved()
    is_equal((s['seen'], s['stored'], s['overwritten'], s['lost']), (25, 10, 15, 0))
    is_equal([int(e.get('offset', 0)) for e in events()], list(range(15, 25)))
    command('mode discard')
    do(write_bytes, 'f', 25, 5)
    s = is_conserved()
    is_equal((s['seen'], s['stored'], s['overwritten'], s['lost']), (30, 10, 15, 5))
    command('reset')
    s = is_conserved()
    is_equal((s['seen'], s['stored'], s['overwritten'], s['lost']), (0, 0, 0, 0))
    do(write_bytes, 'f', 0, 25)
    s = is_conserved()
    is_equal((s['seen'], s['stored'], s['overwritten'], s['lost']), (25, 10, 0, 15))
    is_equal([int(e.get('offset', 0)) for e in events()], list(range(10)))
    # Records that a stream has read make room for new ones.
    st = Stream()
    is_equal(len(st.rows), 10)
    do(write_bytes, 'f', 0, 5)
    st.read()
    is_equal((len(st.rows), st.gaps), (15, 0))
    st.close()
    command('stop')


def lock_shared():
    with open('held') as f:
        fcntl.flock(f, fcntl.LOCK_SH)


@SUITE.test('waiting calls: maxactive calls of a function are followed, the others count as missed')
def followed_at_once():
    """As many waiting calls are followed as maxactive allows; the others count as missed."""
    set_parameter('maxactive', 1)
    last = slurp('/sys/devices/system/cpu/possible').strip().split('-')[-1]
    most = 4 * (int(last) + 1)
    touch('held')
    command('filter op=LOCK', 'start')
    with open('held') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        waiting = [spawn(lock_shared) for _ in range(most + 3)]
        deadline = time.monotonic() + 300
        while stats()['missed'] < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        fcntl.flock(f, fcntl.LOCK_UN)
    join(*waiting)
    command('stop')
    set_parameter('maxactive', 256)
    # three waiting calls, and the unlock, as every kretprobe instance is in use then
    is_equal(is_conserved()['missed'], 4)
    locks = [e['pid'] for e in events() if e['op'] == 'LOCK']
    is_equal(len(locks), most + 1)
    is_equal(len(set(waiting) & set(locks)), most)


@SUITE.test('waiting calls: a missed call of a shared function counts once')
def shared_function():
    """A missed call of a function that several kinds of file share counts once."""
    set_parameter('maxactive', 1)
    last = slurp('/sys/devices/system/cpu/possible').strip().split('-')[-1]
    readers = 4 * (int(last) + 1) + 3
    before = stats()['missed']
    command('filter kind=device op=READ', 'start')
    master, slave = os.openpty() # both are read by tty_read()
    waiting = [spawn(os.read, slave, 100) for _ in range(readers)]
    deadline = time.monotonic() + 300
    while stats()['missed'] < before + 3 and time.monotonic() < deadline:
        time.sleep(0.1)
    os.write(master, b'x\n' * readers)
    join(*waiting)
    command('stop')
    set_parameter('maxactive', 256)
    is_equal(is_conserved()['missed'] - before, 3)
    is_equal(len([e for e in events() if e['pid'] in waiting]), readers - 3)
    os.close(slave)
    os.close(master)


@SUITE.test('sampling: one event in N is recorded, and the record has N', once=True)
def sampling():
    touch('f')
    os.sched_setaffinity(0, {0})
    mine()
    command('sample 10', 'start')
    do(write_bytes, 'f', 0, 1000)
    command('stop')
    rows = events()
    is_equal(len(rows), 100)
    is_equal({e['sample'] for e in rows}, {'10'})
    is_equal(stats()['seen'], 100)


@SUITE.test('stream: gaps are exact after reset and size', once=True)
def reset_and_size():
    touch('f')
    os.sched_setaffinity(0, {0})
    mine()
    command('start')
    do(write_bytes, 'f', 0, 10)
    st = Stream()
    do(write_bytes, 'f', 0, 7)
    command('reset')
    is_equal(is_conserved()['seen'], 0)
    is_equal(events(), [])
    do(write_bytes, 'f', 0, 5)
    st.read()
    # The gaps of the stream are exact.
    is_equal((len(st.rows), st.gaps), (15, 7))
    command('size 50')
    do(write_bytes, 'f', 0, 3)
    st.read()
    is_equal((len(st.rows), st.gaps), (18, 7))
    st.close()
    is_equal(stats()['size'], 50)
    command('stop')


@SUITE.test('stream: gaps are exact for a slow reader', once=True)
def lapped_reader():
    """For a reader that is too slow, gaps and records add up to all events."""
    touch('f')
    mine()
    command('size 100', 'start')
    st = Stream()
    for _ in range(5):
        do(write_bytes, 'f', 0, 333)
        st.read(8192)
    command('stop')
    st.read()
    is_equal(len(st.rows) + st.gaps, 5 * 333)
    is_true(st.gaps >= 5 * (333 - 200), st.gaps)
    st.close()
    is_conserved()


@SUITE.test('stream: nothing is lost under load at the default size', once=True)
def busy_reader():
    """A stream that is read while processes write loses nothing at the default size."""
    touch('f', 'g')
    mine()
    command('start')
    st = Stream()
    writers = [spawn(write_bytes, name, 0, 5000) for name in 'fg']
    while any(os.waitpid(w, os.WNOHANG) == (0, 0) for w in writers[:1]):
        st.read(65536)
    join(writers[1])
    st.read()
    is_equal((len(st.rows), st.gaps), (10000, 0))
    st.close()
    is_equal(is_conserved()['lost'], 0)
    command('stop')


@SUITE.test('stream: can be polled, and refuses a buffer that is too small', once=True)
def polling():
    touch('f')
    mine()
    command('start')
    st = Stream()
    st.read()
    poll = select.poll()
    poll.register(st.fd, select.POLLIN)
    is_equal(poll.poll(100), [])
    do(write_bytes, 'f', 0, 1)
    is_equal([e for _, e in poll.poll(300000)], [select.POLLIN])
    st.read()
    is_equal(len(st.rows), 1)
    is_equal(poll.poll(100), [])
    st.close()
    for size in (0, 10, 200):
        fd = os.open(FS + '/stream', os.O_RDONLY)
        try:
            os.read(fd, size)
            is_true(size == 0, f'{size} bytes were enough')
        except OSError as e:
            is_equal(e.errno, 22)
        os.close(fd)
    command('stop')


@SUITE.test('stream: the process that reads it is not recorded')
def reader_is_left_out():
    touch('f')
    command('filter ' + ONLY, 'start')
    st = Stream()
    write_bytes('f', 0, 10)
    st.read()
    is_equal([e for e in events() if e['pid'] == os.getpid() and e['op'] == 'WRITE'], [])
    do(write_bytes, 'f', 0, 3)
    is_equal(len([e for e in events() if e.get('path') == '/mnt/files/f']), 3)
    st.close()
    write_bytes('f', 0, 10)
    is_equal(len([e for e in events() if e['pid'] == os.getpid() and
                  e.get('path') == '/mnt/files/f']), 10)
    command('stop')


def inherited(path, *lines):
    """
    A process opens a file, writes these commands, hands its descriptor over and exits.
    Return: its number, the descriptor.
    """
    ours, theirs = socket.socketpair()

    def opens():
        fd = os.open(path, os.O_RDONLY)
        command(*lines)
        socket.send_fds(theirs, [b'.'], [fd])

    number = do(opens)
    fd = socket.recv_fds(ours, 1, 1)[1][0]
    ours.close()
    theirs.close()
    return number, fd


def next_process():
    """Who has opened a stream or pipe is left out, and not the next process with its number."""
    touch('f')
    command('filter ' + ONLY, 'start')
    for name in 'stream', 'pipe':
        command('reset')
        number, fd = inherited(f'{FS}/{name}')
        with_number(number, write_bytes, 'f', 0, 3)
        is_equal((name, [e['pid'] for e in events('/mnt/files/f')]), (name, [number] * 3))
        # it holds nobody's place
        other = os.open(FS + '/pipe', os.O_RDONLY)
        write_bytes('f', 0, 3)
        is_equal((name, len(events('/mnt/files/f'))), (name, 3))
        for one in fd, other:
            os.close(one)
    command('stop')


def next_process_below():
    """The same of what is below a directory, to the disk."""
    os.mkdir('/mnt/disk/d')
    touch('/mnt/disk/d/f')
    target = add('/mnt/disk/d')
    number, fd = inherited(target.dir + '/stream')

    def writes():
        with open('/mnt/disk/d/f', 'wb', buffering=0) as f:
            f.write(b'x')
            os.fsync(f.fileno())

    with_number(number, writes)
    log = target.log()
    for row in rf';VFS;python3;{number};WRITE;f;', rf';W;\d+;\d+;BLK;python3;{number};':
        matches(log, row)
    os.close(fd)


@SUITE.test('start while-read: is for that process, and not for the next one with its number')
def next_process_while_read():
    """What is traced for a process is not for the next one with its number."""
    number, fd = inherited(FS + '/stream', 'filter op=WRITE', 'start while-read')

    def opens():
        stream = os.open(FS + '/stream', os.O_RDONLY)
        is_equal(write(FS + '/control', 'start while-read'), 'EBUSY')
        os.close(stream)

    with_number(number, opens)
    shown = slurp(FS + '/control').splitlines()
    is_equal((shown[0], shown[-1]), ('start', f'# while-read {number}'))
    os.close(fd)
    is_equal(settings().splitlines()[0], 'stop')


@SUITE.test('stream: with trace_reader=1 the process that reads it is recorded', once=True)
def reader_is_recorded():
    """With trace_reader=1 the process that reads the stream is recorded as any other."""
    touch('f')
    set_parameter('trace_reader', 1)
    command('filter ' + ONLY, 'start')
    st = Stream()
    write_bytes('f', 0, 10)
    command('stop')
    set_parameter('trace_reader', 0)
    is_equal([e['pid'] for e in events('/mnt/files/f')], [os.getpid()] * 10)
    st.close()


@SUITE.test('log: the same in any chunk size and from any offset; can be read on', once=True)
def log_reading():
    """The log can be read in pieces of any size, by several readers, again, and further."""
    touch('f')
    mine()
    command('start')
    do(write_bytes, 'f', 0, 300)
    command('stop')
    whole = slurp_bytes(FS + '/log')
    is_equal(whole.count(b'\n'), 300)
    for size in (1, 13, 4096, 1 << 20):
        fd = os.open(FS + '/log', os.O_RDONLY)
        is_equal(drain(fd, size), whole)
        os.lseek(fd, 0, os.SEEK_SET)
        is_equal(drain(fd, size), whole)
        is_equal(os.pread(fd, 100, 5000), whole[5000:5100])
        os.close(fd)
    fd = os.open(FS + '/log', os.O_RDONLY)
    is_equal(drain(fd), whole)
    command('start')
    do(write_bytes, 'f', 300, 4)
    is_equal(drain(fd).count(b'\n'), 4)
    is_equal(drain(fd), b'')
    os.close(fd)
    rows = events()
    ends = [e['time'] + int(e['latency']) / 1e9 for e in rows]
    is_true(all(a <= b + 1e-9 for a, b in zip(ends, ends[1:])), 'not sorted by the end of events')
    command('stop')

# What is recorded is what happened


@SUITE.test('paths: each event has the path of its time, through renames and links, of any length')
def paths():
    """An event has the path that the file had at that time, by the hard link that was opened."""
    os.makedirs('/mnt/disk/a/b')
    os.chdir('/mnt/disk/a/b')
    touch('f')
    os.link('f', 'h')
    early = os.open('f', os.O_WRONLY)
    command('filter ' + ONLY, 'start')
    os.pwrite(early, b'1', 0)
    os.rename('f', 'g')
    os.pwrite(early, b'2', 0)
    os.rename('/mnt/disk/a', '/mnt/disk/x')
    os.pwrite(early, b'3', 0)
    late = os.open('/mnt/disk/x/b/h', os.O_WRONLY)
    os.pwrite(late, b'4', 0)
    os.unlink('/mnt/disk/x/b/g')
    os.pwrite(early, b'5', 0)
    touch('/mnt/disk/x/b/g')
    new = os.open('/mnt/disk/x/b/g', os.O_WRONLY)
    os.pwrite(new, b'6', 0)
    long = '/mnt/disk/x/' + '/'.join('d' * 200 for _ in range(19))
    os.makedirs(long)
    os.chdir(long)
    touch('last\nline')
    last = os.open('last\nline', os.O_WRONLY)
    os.pwrite(last, b'7', 0)
    command('stop')
    seen = [e['path'] for e in events() if e['pid'] == os.getpid() and e['op'] == 'WRITE'
            and e['path'].startswith('/mnt/disk')]
    is_equal(seen, ['/mnt/disk/a/b/f', '/mnt/disk/a/b/g', '/mnt/disk/x/b/g', '/mnt/disk/x/b/h',
                    '/mnt/disk/x/b/g', '/mnt/disk/x/b/g', long + '/last\\012line'])
    for fd in early, late, new, last:
        os.close(fd)
    os.chdir('/')
    is_equal(stats()['paths_missed'], 0)


@SUITE.test('log: events of several CPUs are in the order in which they ended', once=True)
def by_end():
    """The log is in the order in which events ended, whatever CPU they ended on."""
    touch('f')
    command(f'filter kind=file,pipe {ONLY} tree={os.getpid()}', 'start')
    reader, writer = overlapping('f')
    command('stop')
    is_equal([(e['pid'], e['op']) for e in events() if e['pid'] in (reader, writer)],
             [(writer, 'WRITE')] * 3 + [(reader, 'READ')])


@SUITE.test('paths: the table can be read as a stream', once=True)
def path_stream():
    """Every path id in a record is in /proc/iotracer/paths."""
    touch('f', 'g')
    mine()
    command('start')
    do(write_bytes, 'f', 0, 2)
    do(write_bytes, 'g', 0, 2)
    command('stop')
    data = slurp_bytes_by(IOT + '/paths', 1 << 16)
    size = HEADER.unpack_from(data)[2]
    at, names = size, {}
    while at < len(data):
        number, _, _, length = struct.unpack_from('<QQII', data, at)
        names[number] = data[at + 24:at + 24 + length].decode()
        at += 24 + (length + 7) // 8 * 8
    st = Stream()
    # the stream has the events of one CPU after those of another
    rows = sorted(st.rows, key=lambda row: struct.unpack_from('<Q', row, 8))
    used = [names[struct.unpack_from('<Q', row, 64)[0]] for row in rows]
    st.close()
    is_equal(used, ['/mnt/files/f'] * 2 + ['/mnt/files/g'] * 2)


def slurp_bytes_by(path, size):
    fd = os.open(path, os.O_RDONLY)
    try:
        return drain(fd, size)
    finally:
        os.close(fd)


@SUITE.test('paths: the table is bounded, and evicted paths are counted', once=True)
def bounded_paths():
    """In a table of two paths, an evicted path is counted, and shown as "?"."""
    reload('paths_limit=2')
    touch('a', 'b', 'c')
    mine()
    command('start')
    for name in 'abc':
        do(write_bytes, name, 0, 1)
    command('stop')
    is_equal([e['path'] for e in events()], ['?', '/mnt/files/b', '/mnt/files/c'])
    s = stats()
    is_equal((s['paths_entries'], s['paths_resolved'], s['paths_evicted']), (2, 3, 1))
    reload()


@SUITE.test('a target and the category see the same calls', once=True)
def with_targets():
    """A target and category fs see the same events."""
    touch('f')
    t = add('f', 1000)
    mine()
    command('start')
    do(write_bytes, 'f', 0, 50)
    is_equal(len(events('/mnt/files/f')), 50)
    is_equal(t.stats()[0], 50)
    command('filter op=READ')
    do(write_bytes, 'f', 0, 50)
    is_equal(t.stats()[0], 100)
    command('stop')
    do(write_bytes, 'f', 0, 50)
    is_equal(t.stats()[0], 150)
    is_equal(len(events('/mnt/files/f')), 50)


JOBS = [(engine, direct, rw) for engine in ('psync', 'libaio', 'io_uring') for direct in (0, 1)
        for rw in ('randread', 'randwrite')]


def is_fios(directory):
    """For each engine, fio's totals are those of the events of the file that it used."""
    command('reset')
    argv = ['fio', '--output-format=json', '--size=256k', '--bs=4k', '--iodepth=4',
            '--fallocate=none', '--thread']
    for engine, direct, rw in JOBS:
        name = f'{engine}.{direct}.{rw}'
        argv += [f'--name={name}', '--stonewall', f'--filename={directory}/{name}', f'--rw={rw}',
                 f'--ioengine={engine}', f'--direct={direct}']
    out = subprocess.run(argv, capture_output=True, check=True).stdout
    s = is_conserved()
    is_equal((s['lost'], s['overwritten']), (0, 0))
    rows = events()
    for job, (engine, direct, rw) in zip(json.loads(out[out.index(b'{'):])['jobs'], JOBS):
        kind = 'read' if 'read' in rw else 'write'
        path = f'{directory}/{engine}.{direct}.{rw}'
        op = ('DIO_' if direct else '') + kind.upper()
        seen = [int(e['result']) for e in rows if e.get('path') == path and e['op'] == op]
        is_equal((path, len(seen), sum(seen)), (path, job[kind]['total_ios'], job[kind]['io_bytes']))


SQL = """
pragma journal_mode=wal;
create table t(k integer primary key, v text);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
insert into t select i, hex(randomblob(50)) from n;
commit;
update t set v = v || 'x' where k % 7 = 0;
select count(*), sum(length(v)) from t;
delete from t where k > 1000;
vacuum;
"""


def accounted(*argv):
    """Run a program. Return: its pid, and the kernel's counts of its reads and writes."""
    pid = os.fork()
    if pid == 0:
        for fd, name, flags in (0, 'in', os.O_RDONLY), (1, 'out', os.O_WRONLY | os.O_CREAT), \
                               (2, 'err', os.O_WRONLY | os.O_CREAT):
            os.dup2(os.open(name, flags, 0o600), fd)
        os.execvp(argv[0], argv)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    counts = dict(line.split(': ') for line in slurp(f'/proc/{pid}/io').split('\n')[:-1])
    is_equal((argv[0], os.waitpid(pid, 0)[1], slurp('err')[-500:]), (argv[0], 0, slurp('err')[-500:]))
    return pid, {k: int(v) for k, v in counts.items()}


def one_database(*argv):
    """Bytes and calls are those of /proc/<pid>/io, and every call has a path."""
    command(f'filter tree={os.getpid()} kind=all {ONLY}', 'size 100000', 'start')
    pid, io = accounted(*argv)
    command('stop')
    is_equal(is_conserved()['lost'] + stats()['overwritten'], 0)
    rows = [e for e in events() if e['pid'] == pid]
    reads = [int(e['result']) for e in rows if 'READ' in e['op']]
    writes = [int(e['result']) for e in rows if 'WRITE' in e['op']]
    is_equal((argv[0], len(reads), sum(n for n in reads if n > 0)), (argv[0], io['syscr'], io['rchar']))
    is_equal((argv[0], len(writes), sum(n for n in writes if n > 0)), (argv[0], io['syscw'], io['wchar']))
    is_equal({e.get('path') for e in rows if not e.get('path', '?').startswith('/')}, set())
    command('reset')


@SUITE.test("databases: the category's counts are those of /proc/<pid>/io", once=True)
def databases():
    if not os.path.exists('/proc/self/io'):
        raise Skip('this kernel does not count')
    os.chdir('/mnt/ext4')
    with open('in', 'w') as f:
        f.write(SQL)
    one_database('sqlite3', 'test.db')
    one_database('db_bench', '--benchmarks=fillrandom,readrandom,overwrite,compact', '--num=500',
                 '--db=/mnt/ext4/rocks', '--threads=2', '--sync=1', '--compression_type=none')


@SUITE.test("the category's totals are fio's on ext4, xfs and btrfs")
def totals_of_fio():
    command('filter ' + ONLY, 'start')
    for name in 'ext4', 'xfs', 'btrfs':
        is_fios('/mnt/' + name)
    command('stop')


def read_now_and_then(path):
    for _ in range(50):
        with open(path, 'rb', buffering=0) as f:
            is_equal(len(f.read(100)), 4)


def counted_by_bpf(*paths):
    """All kinds of BPF probes count the same calls of cat. Return: its reads and faults."""
    kinds = ('kfunc', 'kretfunc', 'kprobe')
    functions = ('shmem_file_read_iter', 'handle_mm_fault')
    program = ' '.join(f'{k}:{f} /pid == cpid/ {{ @{f}_{k} = count(); }}'
                       for f in functions for k in kinds)
    bpftrace = subprocess.run(['bpftrace', '-c', f'/bin/cat {" ".join(paths)}', '-e', program],
                              capture_output=True, text=True, check=False)
    said = bpftrace.stdout + bpftrace.stderr
    is_equal(bpftrace.returncode, 0)
    counts = {m[1]: int(m[2]) for m in re.finditer(r'@(\w+): (\d+)', said)}
    for f in functions:
        is_true(counts[f'{f}_kfunc'] > 0, said)
        is_equal({counts[f'{f}_{k}'] for k in kinds}, {counts[f'{f}_kfunc']})
    return counts['shmem_file_read_iter_kfunc'], counts['handle_mm_fault_kfunc']


@SUITE.test("BPF's fentry and fexit and kprobes are on the same functions")
def beside_bpf():
    """
    BPF is attached to redirected functions. Its trampoline preserves only the arguments,
    and may call the function itself, also for a call that iotracer does not want. BPF
    and iotracer both see every call.
    """
    if not HAS_BTF:
        raise Skip('the kernels of scripts/debug-kernel have no BPF')
    path, other = '/mnt/files/bpf', '/mnt/files/other'
    for name in path, other:
        with open(name, 'wb') as f:
            f.write(b'text')
    t = add(path)
    mine()
    command('start')
    command('filter none', 'start', category='fault')
    reads, faults = counted_by_bpf(path, path, path)
    do(read_now_and_then, path)
    command('stop')
    is_true(reads >= 6 and faults > 0, (reads, faults))
    found = [int(e['result']) for e in events(path) if e['op'] == 'READ']
    is_equal(found, [4, 0] * 3 + [4] * 50)
    is_equal(t.stats()[0], 56)
    # From here on only the reads of the target are wanted, and no faults.
    command('filter pid=1', category='fault')
    reads, _ = counted_by_bpf(other, path, other)
    command('stop', category='fault')
    is_true(reads >= 6, reads)
    is_equal(t.stats()[0], 58)


SUITE.add('error: a condition that has no meaning for a category is refused', meaningless_conditions, most_devices, once=True)
SUITE.add("stream and pipe: the next process with the reader's number is recorded", next_process, next_process_below)
