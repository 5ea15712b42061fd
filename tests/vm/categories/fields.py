# SPDX-License-Identifier: GPL-2.0
"""
A test makes one call, request, page or step, all of whose properties are known: each field of its
record must have the known value. The files are on a disk whose reads take 50 ms at least: dm_delay,
which the debug kernels do not have. It counts jiffies, of which it may skip some, so it is told
twice as much.

A thread whose properties are all known does one thing. Each field of the resulting records is
compared with its known value, which is never what the field would be anyway. Reads of files in
/mnt/slow take 50 ms at least.
"""
import ctypes
import fcntl
import mmap
import os
import re
import struct
import threading
import time

from lib import category, syscalls
from lib.categories import CATEGORIES
from lib.disk import partition, PARTS, unpartition
from lib.iot import add, forget, is_equal, is_true, join, memory_group, must, slurp, slurp_bytes
from lib.kernel import VERSION
from lib.machine import (execute, map_device, new_tmpfs, sectors, umount, unload_in_the_end,
                         unmap_all)
from lib.places import UAPI
from lib.process import spawn
from lib.stream import Blocks, fields
from lib.suite import Suite


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files')
    execute('modprobe', 'dm_delay')
    execute('mkfs.ext4', '-q', '-F', '/dev/vda')
    slow = map_device('slow', f'0 {sectors("/dev/vda")} delay /dev/vda 0 100 /dev/vda 0 0')
    os.makedirs('/mnt/slow', exist_ok=True)
    execute('mount', '-o', 'noinit_itable', slow, '/mnt/slow')


def teardown():
    unload_in_the_end()
    umount('/mnt/slow')
    execute('modprobe', '-r', 'null_blk') # another suite has other parameters
    unmap_all()
    umount('/mnt/files')


def settings_as_before():
    for name in CATEGORIES:
        category.command('stop', 'filter none', 'sample 1', category=name)


def null_blk_of_depth(depth):
    """Make a device whose requests take 50 ms, so many of them at a time."""
    execute('modprobe', '-r', 'null_blk')
    execute('modprobe', 'null_blk', 'nr_devices=1', 'gb=1', 'irqmode=2', 'completion_nsec=50000000',
         f'hw_queue_depth={depth}', 'submit_queues=1')


SUITE = Suite(setup=setup, teardown=teardown, after=settings_as_before, tags=('plain',))

PAGE = 4096
SIZE = 5 * PAGE + 110   # of the file
AT = 5 * PAGE + 10      # offset of reads, which go beyond its end
SLOW = 50_000_000       # ns that a read takes, at least
PATH = '/mnt/slow/file'
COMM = 'field-doer'
UID = 1234
CPU = 1
LIVE_LONG = 5           # RWH_WRITE_LIFE_EXTREME
PRIORITY = 2 << 13 | 6  # best effort
F_SET_RW_HINT = 1036
IOPRIO_WHO_PROCESS = 1
REGISTER_BUFFERS, REGISTER_PERSONALITY = 0, 9
READ_FIXED, READ, NOP = 4, 22, 0


def flags(*names):
    """The sum of bits of flags.def, by their names."""
    bits = re.findall(r'IOT_BIT\(\w+, (\w+), (\d+), (\w+)\)', slurp(f'{UAPI}/flags.def'))
    of = {f'{prefix}_{name}': 1 << int(bit) for prefix, bit, name in bits}
    return sum(of[name] for name in names)


def device_number(st_dev):
    return os.major(st_dev) << 20 | os.minor(st_dev)


def number_of(disk):
    major, minor = slurp(f'/sys/class/block/{disk}/dev').split(':')
    return int(major) << 20 | int(minor)


def decoded(event, row):
    """The fields of one record, as numbers and texts, by /proc/iotracer/format. Reserved ones are 0."""
    found = {}
    for name, (offset, size, kind) in event[1].items():
        raw = row[offset:offset + size]
        found[name] = raw.split(b'\0')[0].decode() if kind == 'char' else \
            int.from_bytes(raw, 'little', signed=kind.startswith('s'))
    is_equal(found.get('reserved', 0), 0)
    return found


def rows(name):
    """The records of a category, in the order of time."""
    event = next(e for e in fields().values() if e[0] == name)
    blocks = Blocks(name)
    found = [decoded(event, row) for _, row in blocks.read()]
    blocks.close()
    return sorted(found, key=lambda r: r['time'])


def rows_of_target(target):
    event = fields()[1]
    data = slurp_bytes(target.dir + '/stream')[category.HEADER.size:]
    return [decoded(event, data[at:at + event[2]]) for at in range(0, len(data), event[2])]


def by_thread(act, out):
    """Run @act with another name and user. Writes its thread id, times and result to @out."""
    must(COMM, '/proc/thread-self/comm')
    os.seteuid(UID)
    began = time.monotonic_ns()
    result = act()
    ended = time.monotonic_ns()
    os.seteuid(0)
    os.write(out, repr((threading.get_native_id(), began, ended, result)).encode())


def by_child(group, prepare, out):
    must(str(os.getpid()), group + '/cgroup.procs')
    os.sched_setaffinity(0, {CPU})
    is_equal(syscalls.native.ioprio_set(IOPRIO_WHO_PROCESS, 0, PRIORITY), 0)
    thread = threading.Thread(target=by_thread, args=(prepare(), out))
    thread.start()
    thread.join()


class Done:
    """
    A run of the function that @prepare returns, by a thread of another user than its process,
    in a control group: the thread as the fields of a record describe it, the time of the run,
    and what the function returned.
    """

    def __init__(self, prepare):
        reading, writing = os.pipe()
        with memory_group() as group:
            self.pid = spawn(by_child, group, prepare, writing)
            join(self.pid)
            os.close(writing)
            with os.fdopen(reading) as f:
                # pylint: disable=eval-used
                self.tid, self.began, self.ended, self.result = eval(f.read())
            self.caller = {'pid': self.pid, 'tid': self.tid, 'ppid': os.getpid(), 'uid': UID,
                        'cgroup': os.stat(group).st_ino, 'cpu': CPU, 'comm': COMM}
        is_true(self.tid != self.pid, self.tid)

    def is_described(self, row, **more):
        """Check that the record describes this thread and run, and has the fields @more."""
        expected = {k: v for k, v in (self.caller | {'sample': 1}).items() if k in row} | more
        is_equal({k: row[k] for k in expected}, expected)
        is_true(self.began <= row['time'] and row['time'] + row['latency'] <= self.ended,
                (self.began, row, self.ended))


def traced(name, prepare, *conditions, sample=1):
    """Run it while a category is traced. Returns the Done, and the records."""
    command(name, 'stop', 'size 16384', 'reset', f'sample {sample}',
            ' '.join(('filter', f'comm={COMM}') + conditions), 'start')
    done = Done(prepare)
    command(name, 'stop')
    s = category.is_conserved(name)
    is_equal((s['overwritten'], s['lost'], s['missed']), (0, 0, 0))
    return done, rows(name)


def command(name, *lines):
    category.command(*lines, category=name)


def make(path=PATH):
    """Make a file with no page in memory. Returns the fields that identify it in a record."""
    with open(path, 'wb') as f:
        f.write(b'x' * SIZE)
    forget(path)
    st = os.stat(path)
    return {'inode': st.st_ino, 'device': device_number(st.st_dev), 'kind': 1}


def opened(path=PATH, mode=os.O_RDONLY):
    """Open a file so that the kernel does not read ahead."""
    fd = os.open(path, mode)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    return fd


def only(found, **known):
    """The one record with these fields."""
    some = [r for r in found if all(r[k] == v for k, v in known.items())]
    is_equal(len(some), 1)
    return some[0]


def reader():
    fd = opened()
    return lambda: len(os.pread(fd, 300, AT))


def op(name, word):
    """Number of an operation of a category."""
    text = slurp(f'{UAPI}/ops.def')
    return int(re.search(rf'IOT_OP\({name}, {word}, (\d+)', text)[1])


@SUITE.test('fields: a call, also if one event in two is recorded')
def call():
    file = make()
    done, found = traced('fs', reader, 'op=READ')
    is_equal(done.result, 100)
    done.is_described(only(found), offset=AT, requested=300, result=100, unsure=0, **file)
    is_true(found[0]['latency'] >= SLOW, found)

    def many():
        fd = opened()
        return lambda: [os.pread(fd, 10, i) for i in range(8)] and None

    done, found = traced('fs', many, 'op=READ', sample=2)
    is_equal([r['offset'] for r in found], [1, 3, 5, 7])
    for r in found:
        done.is_described(r, sample=2)


@SUITE.test('fields: page faults that wait for the disk, and that do not')
def page_faults():
    def toucher():
        fd = opened(mode=os.O_RDWR)
        os.pread(fd, 1, PAGE)
        maps = [mmap.mmap(fd, SIZE), mmap.mmap(fd, SIZE - PAGE, offset=PAGE)]
        at = [address(m) for m in maps]
        maps[0].madvise(mmap.MADV_RANDOM)
        return lambda: (maps[0][AT], maps[1][7], at)[2]

    file = make()
    done, found = traced('fault', toucher, 'op=READ', f'inode={file["inode"]}')
    is_equal(len(found), 2)
    slow, quick = found
    first, second = done.result
    done.is_described(slow, address=first + AT, offset=AT, severity=1, result=0, op=0,
                 flags=flags('FAULT_SHARED', 'FAULT_USER'), **file)
    # it maps both pages that are in memory by then
    done.is_described(quick, address=second + 7, offset=PAGE + 7, severity=0, attempts=1, pages=2,
                 **file)
    is_true(slow['latency'] >= SLOW and slow['attempts'] >= 2, slow)
    is_true(1000 < quick['latency'] < slow['latency'], quick)


@SUITE.test('fields: pages that are read from disk, found in memory, and made dirty')
def pages():
    def reader_and_writer():
        fd = opened(mode=os.O_RDWR)
        return lambda: (os.pread(fd, 300, AT), os.pwrite(fd, b'y' * 10, AT)) and None

    file = make() | {'latency': 0, 'index': 5, 'file_pages': 6, 'pages': 1}
    done, found = traced('cache', reader_and_writer, 'op=HIT,MISS,DIRTY',
                         f'inode={file["inode"]}')
    is_equal([r['op'] for r in found], [op('CACHE', word) for word in ('MISS', 'HIT', 'DIRTY')])
    done.is_described(found[0], offset=AT, flags=0, **file)
    done.is_described(found[1], offset=AT, flags=flags('CACHE_WRITE'), **file)
    done.is_described(found[2], offset=5 * PAGE, flags=0, **file)

    def reader_of_coming_page():
        fd = opened()
        return lambda: (os.posix_fadvise(fd, 5 * PAGE, PAGE, os.POSIX_FADV_WILLNEED),
                        os.pread(fd, 300, AT)) and None

    for _ in range(5):
        file |= make()
        done, found = traced('cache', reader_of_coming_page, 'op=HIT', f'inode={file["inode"]}')
        if only(found)['time'] < done.began + SLOW: # else the page may have come before the read
            break
    done.is_described(only(found), offset=AT, flags=flags('CACHE_WAIT'), **file)


def address(memory):
    return ctypes.addressof(ctypes.c_ubyte.from_buffer(memory))


CLAMP = 1 << 4          # IORING_SETUP_CLAMP
ASYNC = 1 << 4          # IOSQE_ASYNC
RWF_DSYNC = 2


@SUITE.test('fields: requests and completions of io_uring')
def steps():
    file = make()
    numbers = [0x1001, 0x1002, 0x1003, 0x1004]

    def user_of_rings():
        fd, memory = opened(), mmap.mmap(-1, 3 * PAGE)
        ring, other = syscalls.Uring(CLAMP), syscalls.Uring()
        at = [address(memory) + i * PAGE for i in range(3)]
        buffers = struct.pack('<6Q', *(n for a in at for n in (a, PAGE)))
        register = ring.calls.io_uring_register
        is_equal(register(ring.fd, REGISTER_BUFFERS, buffers, 3), 0)
        is_equal([register(ring.fd, REGISTER_PERSONALITY, 0, 0) for _ in range(2)], [1, 2])

        def act():
            ring.put(READ_FIXED, fd=fd, off=AT, addr=at[2], len=300, op_flags=RWF_DSYNC,
                     flags=ASYNC, ioprio=PRIORITY, user_data=numbers[0], buf_index=2, personality=2)
            for number in numbers[1:]:
                ring.put(NOP, user_data=number)
            entered = ring.enter(4, 4)
            tasks = [int(task) for task in os.listdir('/proc/self/task')]
            other.put(NOP, user_data=0x2001)
            other.enter(1, 1)
            return entered, [ring.take() for _ in numbers], tasks, ring.fd, fd

        return act

    done, found = traced('uring', user_of_rings)
    entered, taken, tasks, ring_fd, fd = done.result
    is_equal((entered, sorted(taken)), (4, [(n, 100 if n == 0x1001 else 0) for n in numbers]))
    ours = [r for r in found if r['setup'] == CLAMP]
    enter = only(ours, op=op('URING', 'ENTER'))
    submits = [r for r in ours if r['op'] == op('URING', 'SUBMIT')]
    completes = sorted((r for r in ours if r['op'] == op('URING', 'COMPLETE')),
                       key=lambda r: r['time'] + r['latency'])
    done.is_described(enter, result=4, to_submit=4, min_complete=4, fd=ring_fd, flags=1)
    is_true(enter['latency'] >= SLOW, enter)
    is_equal([(r['user_data'], r['sq_depth']) for r in submits], list(zip(numbers, (3, 2, 1, 0))))
    read = dict(offset=AT, requested=300, op_flags=RWF_DSYNC, flags=ASYNC, ioprio=PRIORITY,
                buf_index=2, personality=2, opcode=READ_FIXED, fd=fd, fd2=0, unsure=0, result=0,
                latency=0, **file)
    done.is_described(submits[0], **read)
    is_equal([r['cq_depth'] for r in completes], [1, 2, 3, 4])
    late = only(completes, user_data=numbers[0])
    done.is_described(late, result=100, requested=300, cpu=late['cpu'], **file)
    is_true(late['latency'] >= SLOW and late['worker'] in tasks and
            late['worker'] not in (done.pid, done.tid), late)
    for r in submits:
        is_equal(r['request'], only(completes, user_data=r['user_data'])['request'])
    is_equal(len({r['request'] for r in submits}), 4)
    rings = {r['ring'] for r in found}
    is_equal((len(rings), {r['ring'] for r in ours} < rings, 0 in rings), (2, True, False))


IOCB = struct.Struct('<QIIHhIQQqQII')
IO_CMD_PWRITE = 1


def writer_of_device(path):
    """Three requests at once, one page each, a MiB apart."""
    fd, memory = os.open(path, os.O_RDWR | os.O_DIRECT), mmap.mmap(-1, PAGE)
    fcntl.fcntl(fd, F_SET_RW_HINT, struct.pack('<Q', LIVE_LONG))
    context, results = ctypes.c_ulong(), ctypes.create_string_buffer(3 * 32)
    is_equal(syscalls.native.io_setup(8, ctypes.byref(context)), 0)
    calls = [ctypes.create_string_buffer(IOCB.pack(0, 0, 0, IO_CMD_PWRITE, 0, fd, address(memory),
                                                   PAGE, i << 20, 0, 0, 0)) for i in range(3)]
    table = struct.pack('<3Q', *map(ctypes.addressof, calls))

    def act():
        submitted = syscalls.native.io_submit(context.value, 3, table)
        at = time.monotonic_ns()
        done = syscalls.native.io_getevents(context.value, submitted, 3, results, 0) if submitted > 0 else 0
        # memory and calls are named, and so kept: the kernel has their addresses
        return (submitted, done, at, memory, calls)[:3]

    return act


def three_writes():
    """Write to null_blk. Checks all but the depth; returns the records in the order of time."""
    disk = 'nullb0'
    must('mq-deadline', f'/sys/block/{disk}/queue/scheduler')
    done, found = traced('block', lambda: writer_of_device('/dev/' + disk), 'op=WRITE',
                         f'dev={slurp(f"/sys/block/{disk}/dev").strip()}')
    *counts, submitted = done.result
    is_equal((counts, len(found)), ([3, 3], 3))
    for i, r in enumerate(found):
        done.is_described(r, sector=i << 11, requested=PAGE, result=PAGE, op=1, op_code=1,
                     device=number_of(disk), disk=disk, partition=0, bios=1, parts=1, requeues=0,
                     ioprio=PRIORITY, hint=LIVE_LONG if VERSION >= (6, 9) else 0,
                     submit_cpu=CPU, cpu=r['cpu'])
        is_equal(r['flags'] & 0xf, flags('REQ_SYNC'))
        is_true(r['device_latency'] >= SLOW, found)
        is_true(r['time'] <= issued_at(r) - r['queue_latency'] <= submitted, (found, submitted))
    return found


def issued_at(r):
    """When the device got the request, which it had from then to the end."""
    return r['time'] + r['latency'] - r['device_latency']


@SUITE.test('fields: queued requests of a device that serves one at a time')
def one_at_a_time():
    null_blk_of_depth(1)
    found = three_writes()
    is_equal([r['depth'] for r in found], [1, 1, 1])
    for before, after in zip(found, found[1:]):
        is_true(issued_at(after) >= issued_at(before) + SLOW, found)


@SUITE.test('fields: requests that a device serves at the same time')
def at_the_same_time():
    null_blk_of_depth(8)
    is_equal([r['depth'] for r in three_writes()], [1, 2, 3])


COMPLETE_WHERE_SUBMITTED = '2'  # of rq_affinity


@SUITE.test('fields: a request to the second partition')
def second_partition():
    partition()
    affinity = '/sys/block/vdd/queue/rq_affinity'
    usual = slurp(affinity).strip()
    must(COMPLETE_WHERE_SUBMITTED, affinity)

    def prepare():
        fd, memory = os.open('/dev/vdd2', os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, PAGE)
        return lambda: os.preadv(fd, [memory], 2 * PAGE)

    done, found = traced('block', prepare)
    device = number_of('vdd2')
    must(usual, affinity)
    unpartition()
    done.is_described(only(found), partition=2, device=device, disk='vdd', sector=PARTS[1][0] + 16,
                 requested=PAGE, op=0, op_code=0)


FIBMAP = 1


def sector_of(path, page):
    """The sector of a page on the device of its filesystem, whose blocks are pages."""
    with open(path, 'rb') as f:
        return struct.unpack('<i', fcntl.ioctl(f, FIBMAP, struct.pack('<i', page)))[0] * PAGE // 512


@SUITE.test('fields: calls and bios of a target')
def target_of_both_levels():
    file = make()
    sector = sector_of(PATH, 5)
    target = add(PATH, 1000)

    def reader_and_appender():
        fd, end = opened(), os.open(PATH, os.O_WRONLY | os.O_APPEND)
        return lambda: (os.pread(fd, 300, AT), os.pwritev(end, [b'y' * 10], 0),
                        os.pwritev(end, [b'y' * 20], 0, os.RWF_DSYNC)) and None

    done = Done(reader_and_appender)
    target.command('stop')
    found = rows_of_target(target)
    must(f'remove {PATH}')
    read, _, write = [r for r in found if r['level'] == 0]
    done.is_described(read, op=0, offset=AT, requested=300, result=100, sector=0, flags=0,
                 inode=file['inode'], device=file['device'], origin_pid=0,
                 origin_comm='')
    is_true(read['latency'] >= SLOW, read)
    done.is_described(write, op=1, offset=SIZE + 10, requested=20, result=20, sector=0,
                 inode=file['inode'], flags=flags('IO_APPEND', 'IO_SYNC'))
    is_true(write['latency'] > 1000, write)
    bio = only(found, level=1, op=0)
    done.is_described(bio, latency=0, offset=5 * PAGE, requested=PAGE, result=PAGE, sector=sector,
                 inode=file['inode'], device=file['device'], origin_pid=0,
                 origin_comm='')
    bio = only(found, level=1, op=1)
    done.is_described(bio, latency=0, offset=5 * PAGE, requested=PAGE, sector=sector,
                 inode=file['inode'], origin_pid=done.pid, origin_comm=COMM)
