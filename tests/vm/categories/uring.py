# SPDX-License-Identifier: GPL-2.0
"""
Category uring: what a program asks of io_uring and what it gets, by request.

Uring.c prints what it asked of io_uring and what it got. The events have to say the same. Names of
opcodes are those of /usr/include/linux/io_uring.h.
"""
import collections
import errno
import json
import os
import re
import subprocess
import time

from lib import category, syscalls
from lib.category import stops
from lib.iot import IOT, is_equal, is_true, matches, reload, slurp, slurp_bytes, write
from lib.kernel import HAS_BTF, VERSION
from lib.machine import three_filesystems, umount_three_filesystems
from lib.places import PROGRAMS
from lib.process import waits_in
from lib.suite import Suite

SUITE = Suite(setup=three_filesystems, teardown=umount_three_filesystems, after=stops('uring'))

URING = 'uring'
PLACES = ('/mnt/ext4', '/mnt/xfs', '/mnt/btrfs')
PAGE = 4096
SQE = {'FIXED_FILE': 1, 'IO_DRAIN': 2, 'IO_LINK': 4, 'IO_HARDLINK': 8, 'ASYNC': 16,
       'BUFFER_SELECT': 32, 'CQE_SKIP_SUCCESS': 64}
CQE = {'BUFFER': 1, 'MORE': 2, 'SOCK_NONEMPTY': 4, 'NOTIF': 8, 'BUF_MORE': 16}
OWN = {'OVERFLOW': 0, 'DROPPED': 0, 'RESTARTED': 0}
ERESTARTSYS = 512

Submit = collections.namedtuple('Submit', 'user_data opcode fd offset length flags')
Complete = collections.namedtuple('Complete', 'user_data result flags')


def command(*lines):
    category.command(*lines, category=URING)


def opcodes():
    """Names of opcodes by number, from the header that programs are built with."""
    text = slurp('/usr/include/linux/io_uring.h')
    names = re.search(r'enum io_uring_op \{(.*?)\}', text, re.S).group(1)
    names = re.sub(r'/\*.*?\*/', '', names, flags=re.S)
    return [n.strip().removeprefix('IORING_OP_') for n in names.split(',')
            if n.strip() and 'LAST' not in n]


def make(path):
    with open(path, 'wb') as f:
        f.write(os.urandom(16 * PAGE))
        os.fsync(f.fileno())


def bits(text, names):
    """The number of names that are joined by |."""
    number = 0
    for word in text.split('|') if text else []:
        number |= names[word] if word in names else int(word, 16)
    return number


class Reported:
    """What the program printed."""

    def __init__(self, text):
        self.rings, self.entered, self.submitted, self.completed = [], [], [], []
        for line in text.splitlines():
            what, *n = line.split()
            n = [int(x) for x in n]
            if what == 'ring':
                self.rings.append(tuple(n))
            elif what == 'enter':
                self.entered.append(n[0])
            elif what == 'submit':
                self.submitted.append(Submit(*n))
            else:
                self.completed.append(Complete(*n))


def traced(work, *conditions):
    """Trace @work and its children. Returns its result, and the events."""
    command('stop', 'size 65536', 'reset',
            ' '.join((f'filter tree={os.getpid()}',) + conditions), 'start')
    result = work()
    command('stop')
    s = category.is_conserved(URING)
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    return result, category.events(category=URING)


def program(scenario, path):
    """Run a scenario of uring.c. Returns what it printed, and the events."""
    def work():
        return subprocess.run([PROGRAMS + '/uring', scenario, path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    text, found = traced(work)
    return Reported(text), found


def of(found, op):
    return [r for r in found if r['op'] == op]


def submits(found):
    names = opcodes()
    return [Submit(int(r['user_data'], 16), names.index(r['opcode']), int(r.get('fd', -1)),
                   int(r.get('offset', 0)), int(r.get('requested', 0)),
                   bits(r.get('flags'), SQE)) for r in of(found, 'SUBMIT')]


def completes(found):
    return [Complete(int(r['user_data'], 16), int(r['result']),
                     bits(r.get('flags'), CQE | OWN)) for r in of(found, 'COMPLETE')]


def is_reported(reported, found):
    """Check that the events are what the program saw, and have its requests and one ring."""
    is_equal(submits(found), reported.submitted)
    is_equal(sorted(completes(found)), sorted(reported.completed))
    numbers = {r['request']: r['user_data'] for r in of(found, 'SUBMIT')}
    is_equal(len(numbers), len(reported.submitted))
    for r in of(found, 'COMPLETE'):
        is_equal(numbers.get(r['request']), r['user_data'])
        is_true(int(r['latency']) > 0, r)
    is_equal(len({r['ring'] for r in found if 'request' in r}), 1)


def is_entered(reported, found):
    """Check the calls that submitted, and their ring."""
    calls = [r for r in of(found, 'ENTER') if 'to_submit' in r]
    is_equal([int(r['result']) for r in calls], reported.entered)
    is_equal({r.get('ring') for r in of(found, 'ENTER')}, {found[0]['ring']})
    is_equal({int(r['fd']) for r in calls}, {reported.rings[0][0]})


def checked(scenario, path):
    reported, found = program(scenario, path)
    is_reported(reported, found)
    return reported, found


def a_file():
    path = '/mnt/ext4/file'
    make(path)
    return path


def has_file(row):
    """
    Without BTF a file of the ring's table is not known before the completion on kernels since 6.13.
    Debug kernels have none.
    """
    return (row['op'] == 'COMPLETE' or 'FIXED_FILE' not in row.get('flags', '') or
            VERSION < (6, 13) or HAS_BTF)


@SUITE.test('io_uring: events of reads and writes are what the program saw, on ext4, xfs, btrfs')
def reads_and_writes():
    for place in PLACES:
        path = place + '/uring'
        make(path)
        reported, found = checked('rw', path)
        is_entered(reported, found)
        st = os.stat(path)
        for r in filter(has_file, of(found, 'SUBMIT') + of(found, 'COMPLETE')):
            is_equal((r.get('path'), int(r['inode']), r['device']),
                     (path, st.st_ino, f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}'))
        by_data = {int(r['user_data'], 16): r for r in of(found, 'SUBMIT')}
        is_equal(by_data[1003]['op_flags'], '0x2')  # RWF_DSYNC
        is_equal([by_data[1006].get('buf_index'), by_data[1005].get('buf_index')], ['1', None])
        is_equal(int(by_data[1007]['offset']), 2 ** 64 - 1)


@SUITE.test('io_uring: chained requests')
def links():
    reported, found = checked('links', a_file())
    is_entered(reported, found)
    is_equal([c.result for c in sorted(reported.completed)],
             [PAGE, PAGE, 0, 0, -125, -125, 0, PAGE])


@SUITE.test('io_uring: a drained request')
def drained():
    _, found = checked('drain', a_file())
    order = [c.user_data for c in completes(found)]
    is_true(order.index(1002) > max(order.index(1000), order.index(1001)), order)


@SUITE.test('io_uring: requests of workers')
def workers():
    path = '/mnt/ext4/workers'
    make(path)
    reported, found = checked('workers', path)
    ran = {r['request']: r for r in of(found, 'WORKER')}
    is_equal(len(ran), 5)
    tids = {r['tid'] for r in of(found, 'SUBMIT')}
    for r in of(found, 'COMPLETE'):
        is_equal(r['worker'], ran[r['request']]['worker'])
        is_true(r['worker'] not in tids, r)
        is_true(int(r['latency']) > int(ran[r['request']]['latency']), r)
    reported, found = checked('rw', path)
    is_equal([r for r in of(found, 'COMPLETE') if r['opcode'].startswith('READ') and 'worker' in r],
             [])


@SUITE.test('io_uring: a request that is cancelled')
def cancelled():
    reported, _ = checked('cancel', a_file())
    is_equal(sorted(c.result for c in reported.completed), [-125, 0])


@SUITE.test('io_uring: a request that is cancelled while a worker waits for it')
def cancelled_in_a_worker():
    """A request that sleeps in a worker until it is cancelled may end with a code of the kernel's own."""
    ring = syscalls.Uring()
    (empty, _), (_, full) = os.pipe(), os.pipe()
    splice, cancel = syscalls.OPCODES['splice'], 14

    def work():
        ring.put(splice, fd=full, splice_fd=empty, off=2**64 - 1, addr=2**64 - 1, len=1, user_data=7)
        ring.enter(1, 0)
        worker, = [t for t in os.listdir('/proc/self/task') if t != str(os.getpid())]
        waits_in(f'{os.getpid()}/task/{worker}', 'ipipe_prep', 'splice_file_range', 'pipe_wait')
        ring.put(cancel, addr=7, user_data=8)
        ring.enter(1, 2)
        return dict([ring.take(), ring.take()])

    results, found = traced(work)
    end, = [e for e in of(found, 'COMPLETE') if e['user_data'] == '0x7']
    restarts = results[7] == -ERESTARTSYS
    is_equal((int(end['result']), end.get('flags')),
             (-errno.EINTR if restarts else results[7], 'RESTARTED' if restarts else None))
    os.close(ring.fd)


@SUITE.test('io_uring: requests and completions of two entries')
def wide_entries():
    """Of two entries of a ring, for the request or for its completion (7.x): flags and fields are right."""
    cqe_mixed, sqe_mixed, nop_128, nop_cqe32 = 1 << 18, 1 << 19, 63, 1 << 5
    if VERSION < (7, 0):
        return
    ring = syscalls.Uring(cqe_mixed | sqe_mixed)

    def work():
        ring.put(nop_128, op_flags=nop_cqe32, user_data=0x55, fd=-1)
        ring.put(0, user_data=0x66) # the second half
        ring.enter(2, 1)

    _, found = traced(work)
    is_equal([(e['op'], e['user_data'], e['opcode'], e.get('flags'), e.get('unsure')) for e in found
              if e['op'] in ('SUBMIT', 'COMPLETE')],
             [('SUBMIT', '0x55', 'NOP128', None, None), ('COMPLETE', '0x55', 'NOP128', 'CQE32', None)])
    os.close(ring.fd)


@SUITE.test('io_uring: requests that are refused')
def refused():
    reported, found = program('refused', a_file())
    is_equal(sorted(completes(found)), sorted(reported.completed))
    first, second = of(found, 'SUBMIT')
    is_equal((first['result'], first['opcode'], second['result']), ('-22', '0xc8', '0'))
    is_equal(sorted(c.result for c in reported.completed), [-22, -9])
    is_equal([r.get('path') for r in of(found, 'COMPLETE')], [None, None])


@SUITE.test('io_uring: a request without a completion')
def silent():
    reported, _ = checked('silent', a_file())
    is_equal((len(reported.submitted), len(reported.completed)), (2, 1))


@SUITE.test('io_uring: a request that times out')
def timed_out():
    path = a_file()
    before = time.monotonic_ns()
    reported, found = checked('timeout', path)
    after = time.monotonic_ns()
    is_equal([c.result for c in reported.completed], [-62])
    is_true(3e6 <= int(of(found, 'COMPLETE')[0]['latency']) < after - before, found)


@SUITE.test('io_uring: a multishot request has many completions')
def multishot():
    """One request with many completions."""
    reported, found = checked('multishot', a_file())
    is_equal(sum(c.flags & CQE['MORE'] > 0 for c in reported.completed), 3)
    is_equal({r['opcode'] for r in of(found, 'COMPLETE')}, {'POLL_ADD', 'POLL_REMOVE'})


@SUITE.test('io_uring: more completions than the ring holds')
def overflow():
    """More completions than the ring holds."""
    _, found = checked('overflow', a_file())
    flags = [r.get('flags', '') for r in of(found, 'COMPLETE')]
    is_equal(flags, [''] * 8 + ['OVERFLOW'] * 12)
    is_equal(max(int(r.get('cq_depth', 0)) for r in of(found, 'COMPLETE')), 8)


@SUITE.test('io_uring: a request without a file')
def futex():
    """A request without a file; a kernel without FUTEX_WAKE refuses it."""
    reported, found = program('futex', a_file())
    if VERSION < (6, 7):
        is_equal(reported.completed[0].result, -errno.EINVAL)
        return
    is_equal(reported.completed[0].result, 0)
    rows = of(found, 'SUBMIT') + of(found, 'COMPLETE')
    is_equal([(r['opcode'], r.get('inode')) for r in rows], [('FUTEX_WAKE', None)] * 2)


@SUITE.test('io_uring: sockets')
def sockets():
    reported, found = checked('sockets', a_file())
    accepts = [c for c in reported.completed if c.user_data == 1000]
    is_equal(sorted(c.result > 0 for c in accepts), [False, True, True, True])
    is_equal(sorted(r['opcode'] for r in of(found, 'COMPLETE')),
             ['ACCEPT'] * 4 + ['ASYNC_CANCEL'] + ['SEND_ZC'] * 2)
    is_equal({r['path'].split(':')[0] for r in found if 'path' in r}, {'socket'})


@SUITE.test("io_uring: requests that the ring's own thread submits")
def polling_thread():
    """Requests that the ring's own thread submits (SQPOLL)."""
    _, found = checked('sqpoll', a_file())
    is_equal(len({r['tid'] for r in of(found, 'SUBMIT')}), 1)
    for r in of(found, 'SUBMIT'):
        is_true(r['tid'] != r['pid'] and r['comm'].startswith('iou-sqp') and
                'SQPOLL' in r['setup'], r)


@SUITE.test('io_uring: requests to a device that is polled')
def polled_device():
    """Requests that are polled for (IOPOLL)."""
    device = '/dev/nullb0'
    subprocess.run(['modprobe', 'null_blk', 'nr_devices=1', 'gb=1', 'submit_queues=1',
                    'poll_queues=1'], check=True)
    try:
        reported, found = checked('iopoll', device)
        is_equal([c.result for c in reported.completed], [PAGE] * 4)
        is_equal({r['path'] for r in of(found, 'SUBMIT') + of(found, 'COMPLETE')}, {device})
        is_true(all('IOPOLL' in r['setup'] for r in of(found, 'SUBMIT')), found)
    finally:
        subprocess.run(['rmmod', 'null_blk'], check=True)


@SUITE.test('io_uring: a registered ring')
def registered_ring():
    path = '/mnt/ext4/registered'
    make(path)
    reported, found = checked('registered', path)
    calls = [r for r in of(found, 'ENTER') if 'to_submit' in r]
    is_equal([r['flags'].split('|').count('REGISTERED_RING') for r in calls], [1, 1, 1])
    is_equal({r['ring'] for r in calls}, {of(found, 'SUBMIT')[0]['ring']})


@SUITE.test('io_uring: calls of 32-bit programs give the same events')
def entered_by_32_bits():
    """The system call of 32-bit programs gives the same events."""
    path = '/mnt/ext4/entered'
    make(path)
    uring = syscalls.Uring()
    uring.calls = syscalls.Calls32()
    with open(path, 'rb') as f:
        result, found = traced(lambda: uring.fsync(fd=f.fileno()))
        is_equal(result, 0)
        (submit,), (complete,), (call,) = (of(found, op) for op in ('SUBMIT', 'COMPLETE', 'ENTER'))
        is_equal((submit['opcode'], submit['path'], complete['request']),
                 ('FSYNC', path, submit['request']))
        is_equal((int(call['fd']), call['to_submit'], call['min_complete'], call['flags'],
                  call['result'], call['ring']),
                 (uring.fd, '1', '1', 'GETEVENTS', '1', submit['ring']))


@SUITE.test('io_uring: totals are those of fio in its modes')
def fio_modes():
    """The totals are fio's own, in each of its modes of io_uring."""
    modes = ([], ['--registerfiles=1'], ['--fixedbufs=1'], ['--force_async=1'],
             ['--sqthread_poll=1', '--registerfiles=1'], ['--direct=1'],
             ['--nonvectored=0'])
    for mode in modes:
        def work():
            return json.loads(subprocess.run(
                ['fio', '--name=f', '--filename=/mnt/ext4/fio', '--rw=randrw', '--bs=8k',
                 '--size=1m', '--ioengine=io_uring', '--iodepth=8', '--output-format=json',
                 '--thread', '--fsync=16', *mode], check=True, text=True,
                stdout=subprocess.PIPE).stdout)['jobs'][0]

        job, found = traced(work)
        done = collections.Counter()
        moved = collections.Counter()
        for r in of(found, 'COMPLETE'):
            done[r['opcode'][:4]] += 1
            moved[r['opcode'][:4]] += int(r['result'])
        is_equal((mode, done['READ'], moved['READ'], done['WRIT'], moved['WRIT']),
                 (mode, job['read']['total_ios'], job['read']['io_bytes'],
                  job['write']['total_ios'], job['write']['io_bytes']))
        is_equal(done['FSYN'], job['sync']['total_ios'])
        is_equal(len(of(found, 'SUBMIT')), sum(done.values()))
        is_equal({r['path'] for r in of(found, 'COMPLETE')}, {'/mnt/ext4/fio'})


@SUITE.test("io_uring: totals are those of liburing's examples", once=True)
def examples():
    """The examples of liburing: a copy by chained requests, and one by vectors."""
    with open('/mnt/ext4/source', 'wb') as f:
        f.write(os.urandom(300000))
    for name in ('link-cp', 'io_uring-cp'):
        target = f'/mnt/xfs/{name}'
        _, found = traced(lambda: subprocess.run(
            [f'{PROGRAMS}/{name}', '/mnt/ext4/source', target], check=True,
            stdout=subprocess.DEVNULL))
        is_equal(slurp_bytes(target), slurp_bytes('/mnt/ext4/source'))
        for path, opcode in (('/mnt/ext4/source', 'READV'), (target, 'WRITEV')):
            rows = [r for r in of(found, 'COMPLETE') if r.get('path') == path]
            is_equal((name, {r['opcode'] for r in rows}, sum(int(r['result']) for r in rows)),
                     (name, {opcode}, 300000))


@SUITE.test('io_uring: filters', once=True)
def filters():
    path = '/mnt/ext4/filtered'
    make(path)

    def seen(*conditions):
        _, found = traced(lambda: subprocess.run([PROGRAMS + '/uring', 'workers', path], check=True,
                                                 stdout=subprocess.DEVNULL), *conditions)
        return {r['op'] for r in found}, len(found)

    st = os.stat(path)
    dev = f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}'
    is_equal(seen('op=COMPLETE'), ({'COMPLETE'}, 5))
    is_equal(seen(f'dev={dev}', f'inode={st.st_ino}'), ({'SUBMIT', 'WORKER', 'COMPLETE'}, 15))
    is_equal(seen(f'inode={st.st_ino + 1}'), (set(), 0))
    is_equal(seen('op=COMPLETE', 'min_size=4097'), (set(), 0))
    is_equal(seen('op=COMPLETE', 'min_latency=1'), ({'COMPLETE'}, 5))
    is_equal(seen('comm=nobody'), (set(), 0))
    is_equal(write(f'{IOT}/{URING}/control', 'filter op=READ\n'), 'EINVAL')
    matches(slurp(f'{IOT}/{URING}/control'), 'filter ')


@SUITE.test('io_uring: hooked only while started; kretprobes see the same')
def hooked():
    """Nothing is hooked before start and after stop; kretprobes see the same."""
    def lines():
        return [line for line in slurp(IOT + '/hooks').split('\n')
                if 'io_uring' in line or 'io_wq' in line]

    is_equal(lines(), [])
    command('start')
    is_true(len(lines()) >= 7, lines())
    command('stop')
    is_equal(lines(), [])
    reload('attach=kprobe')
    reads_and_writes()
    workers()
    reload()
