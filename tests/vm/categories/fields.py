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
import errno
import fcntl
import mmap
import os
import re
import socket
import struct
import threading
import time

import iotracer
from lib import category, net, syscalls
from lib.categories import CATEGORIES
from lib.disk import partition, PARTS, unpartition
from lib.iot import add, forget, is_equal, is_true, join, memory_group, must, slurp, unload
from lib.kernel import VERSION
from lib.machine import execute, map_device, new_tmpfs, sectors, umount, unmap_all
from lib.places import UAPI
from lib.process import spawn
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
    unload()
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
TCP_CLOSE = 7


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


def decoded(record):
    """The fields of one record, as numbers and texts. Reserved ones are 0."""
    found = {name: record.text(name) if field.kind == 'ipaddr' else record[name]
             for name, field in record.event.fields.items()}
    is_equal(found.get('reserved', 0), 0)
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}


def rows(name):
    """The records of a category or target, in the order of time."""
    with iotracer.Trace(name, live=True) as trace:
        found = [decoded(record) for record in trace.records()]
    return sorted(found, key=lambda r: r['time'])


def rows_of_target(target):
    return rows(target.name)


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
O_CLOEXEC, EPOLLET = 0x80000, 1 << 31


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


@SUITE.test("fields: a socket's option that is set, and got")
def options():
    group = struct.pack('<4s4s', socket.inet_aton('224.0.0.77'), socket.inet_aton('127.0.0.1'))

    def user_of_socket():
        is_equal(syscalls.native.unshare(net.CLONE_NEWNET), 0) # its loopback is off
        s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        value, length = ctypes.create_string_buffer(64), ctypes.c_int(60)

        def act():
            failed = syscalls.native.setsockopt(s.fileno(), socket.SOL_IP, socket.IP_ADD_MEMBERSHIP, group, 8)
            done = syscalls.native.getsockopt(s.fileno(), socket.SOL_SOCKET, socket.SO_TYPE, value,
                                              ctypes.byref(length))
            return (failed, done, s.fileno(), net.cookie(s), os.fstat(s.fileno()).st_ino,
                    os.stat('/proc/thread-self/ns/net').st_ino)

        return act

    done, found = traced('sockopt', user_of_socket)
    failed, got, fd, cookie, inode, netns = done.result
    is_equal((failed, got, len(found)), (-errno.ENODEV, 0, 3))
    of = dict(fd=fd, cookie=cookie, inode=inode, netns=netns, family=socket.AF_INET6,
              type=socket.SOCK_DGRAM, protocol=socket.IPPROTO_UDP, flags=0)
    done.is_described(found[0], op=op('SOCKOPT', 'SET'), level=socket.SOL_IP, asked=8, length=0,
                      option=socket.IP_ADD_MEMBERSHIP, result=-errno.ENODEV, value='hex:' + group.hex(), **of)
    done.is_described(found[1], op=op('SOCKOPT', 'GET'), level=socket.SOL_SOCKET, asked=60, length=4,
                      option=socket.SO_TYPE, result=0, value=str(int(socket.SOCK_DGRAM)), **of)
    for r in found:
        is_true(r['latency'] > 100, r)


def bound():
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.bind(('::1', 0))
    return s


@SUITE.test('fields: a datagram that is sent, cut when it is received, and waited for in vain')
def datagram():
    def talker():
        net.new_namespace()
        socket.socket().close() # so that the descriptors are no small numbers
        one, two = bound(), bound()
        two.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('qq', 0, SLOW // 1000))
        ends = [(net.cookie(s), os.fstat(s.fileno()).st_ino, s.fileno(), s.getsockname()[1]) for s in (one, two)]
        netns = os.stat('/proc/self/ns/net').st_ino

        def act():
            one.sendto(b'x' * 700, socket.MSG_NOSIGNAL, two.getsockname())
            got = two.recvfrom_into(bytearray(100), 100, socket.MSG_TRUNC)[0]
            try:
                two.recv(10)
            except BlockingIOError:
                return got, ends, netns
        return act

    done, found = traced('net', talker)
    got, ends, netns = done.result
    is_equal((got, len(found)), (700, 3))
    common = dict(netns=netns, family=socket.AF_INET6, type=socket.SOCK_DGRAM, protocol=socket.IPPROTO_UDP, way=0)
    one, two = (dict(zip(('cookie', 'inode', 'fd', 'local_port'), end)) for end in ends)
    send, receive, wait = found
    for record in send, receive:
        is_equal((record['local'], record['remote']), ('::1', '::1'))
    done.is_described(send, op=op('NET', 'SEND'), requested=700, result=700, moved=700, flags=socket.MSG_NOSIGNAL,
                      flags2=0, remote_port=two['local_port'], **common, **one)
    done.is_described(receive, op=op('NET', 'RECV'), requested=100, result=700, moved=100, flags=socket.MSG_TRUNC,
                      flags2=socket.MSG_TRUNC, remote_port=one['local_port'], **common, **two)
    done.is_described(wait, op=op('NET', 'RECV'), requested=10, result=-errno.EAGAIN, moved=0, flags=0, flags2=0,
                      remote_port=0, **common, **two)
    is_true(wait['latency'] >= SLOW, wait)


@SUITE.test('fields: the file that sendfile sends')
def sent_file():
    def sender():
        one, two = socket.socketpair()
        fd = opened()
        return lambda: (os.sendfile(one.fileno(), fd, 0, 10), two)[0]

    file = make()
    done, found = traced('net', sender)
    is_equal(done.result, 10)
    done.is_described(only(found), file_inode=file['inode'], file_device=file['device'])


@SUITE.test('fields: calls of epoll and poll, and one that waits')
def multiplexing():
    def waiter():
        reader, writer = os.pipe()
        epfd = syscalls.native.epoll_create1(0)
        is_equal(syscalls.native.epoll_ctl(epfd, 1, writer, event(4, 0x2001)), 0)
        room = ctypes.create_string_buffer(100)

        def act():
            made = syscalls.native.epoll_create1(O_CLOEXEC)
            results = [
                syscalls.native.epoll_ctl(epfd, 1, reader, event(EPOLLET | 0x2001, 0x1234567890)),
                syscalls.native.epoll_pwait(epfd, room, 7, 3000, bytes(8), 8),
                syscalls.native.ppoll(struct.pack('<ihh', reader, 1, 0), 1,
                                      struct.pack('<qq', 0, SLOW), 0, 8),
            ]
            return made, results, epfd, reader

        return act

    def event(mask, data):
        return struct.pack('<IQ' if os.uname().machine == 'x86_64' else '<IxxxxQ', mask, data)

    done, found = traced('epoll', waiter, 'op=EPOLL_CREATE,EPOLL_CTL_ADD,EPOLL_WAIT,POLL')
    made, results, epfd, reader = done.result
    is_equal(results, [0, 1, 0])
    create, add_, wait, poll = found
    done.is_described(create, op=op('EPOLL', 'EPOLL_CREATE'), flags=O_CLOEXEC, fd=made, result=made,
                      target=-1, events=0, data=0, timeout=0, maximum=0)
    done.is_described(add_, op=op('EPOLL', 'EPOLL_CTL_ADD'), fd=epfd, target=reader, result=0, flags=0,
                      events=EPOLLET | 0x2001, data=0x1234567890, timeout=0, maximum=0)
    done.is_described(wait, op=op('EPOLL', 'EPOLL_WAIT'), fd=epfd, target=-1, result=1, events=4,
                      flags=flags('EPOLL_SIGMASK'), data=0x2001, timeout=3_000_000_000, maximum=7)
    done.is_described(poll, op=op('EPOLL', 'POLL'), fd=-1, target=reader, result=0, flags=0,
                      events=1, data=0, timeout=SLOW, maximum=1)
    is_true(poll['latency'] >= SLOW > wait['latency'] > 0, (wait, poll))


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


@SUITE.test('fields: a reset that a thread sends, as it closes a connection with unread data')
def reset_by_close():
    net.ip('link', 'set', 'lo', 'up')

    def closer():
        queue = socket.create_server(('127.0.0.1', 0))

        def act():
            client = socket.create_connection(queue.getsockname())
            server = queue.accept()[0]
            client.sendall(b'x')
            server.recv(1, socket.MSG_PEEK)
            said = net.cookie(server), server.getsockname()[1], client.getsockname()[1]
            server.close()
            return said

        return act

    done, found = traced('drop', closer, 'op=RESET_SENT')
    cookie, source_port, destination_port = done.result
    done.is_described(only(found), cookie=cookie, source='127.0.0.1', destination='127.0.0.1', latency=0,
                      source_port=source_port, destination_port=destination_port, protocol=socket.IPPROTO_TCP,
                      ip_version=4, tcp_state=TCP_CLOSE, netns=os.stat('/proc/self/ns/net').st_ino, interface=0,
                      size=0, segments=0, trigger=0, function='',
                      reason='TCP_ABORT_ON_CLOSE' if VERSION >= (6, 10) else '')


@SUITE.test('fields: a connection that waits in a queue until a thread accepts it')
def accepted():
    def server():
        net.new_namespace()
        socket.socket().close() # so that the descriptors are no small numbers
        queue = socket.socket(socket.AF_INET6)
        queue.bind(('::1', 0))
        netns = os.stat('/proc/self/ns/net').st_ino

        def act():
            queue.listen(77)
            client = socket.create_connection(queue.getsockname()[:2])
            time.sleep(SLOW / 1e9)
            fd = syscalls.native.accept4(queue.fileno(), 0, 0, socket.SOCK_NONBLOCK)
            one = socket.socket(fileno=fd)
            one.shutdown(socket.SHUT_RDWR)
            return ([(net.cookie(s), os.fstat(s.fileno()).st_ino, s.fileno()) for s in (queue, one)],
                    queue.getsockname()[1], client.getsockname()[1], netns)
        return act

    done, found = traced('conn', server)
    (queue, one), port, other, netns = done.result
    common = dict(netns=netns, family=socket.AF_INET6, type=socket.SOCK_STREAM, protocol=socket.IPPROTO_TCP,
                  local='::1', local_port=port, name='')
    names = 'cookie', 'inode'
    done.is_described(only(found, op=op('CONN', 'LISTEN')), backlog=77, result=0, fd=queue[2], flags=0, how=0,
                      remote='', remote_port=0, listener=0, queued=0, state=10, old_state=0, **common,
                      **dict(zip(names, queue)))
    accept = only(found, op=op('CONN', 'ACCEPT'))
    done.is_described(accept, result=one[2], fd=queue[2], flags=socket.SOCK_NONBLOCK, listener=queue[0], backlog=0,
                      remote='::1', remote_port=other, state=1, **common, **dict(zip(names, one)))
    is_true(accept['queued'] >= SLOW > accept['latency'], accept)
    down = only(found, op=op('CONN', 'SHUTDOWN'))
    done.is_described(down, result=0, fd=one[2], how=socket.SHUT_RDWR, remote='::1', remote_port=other, **common,
                      **dict(zip(names, one)))
    change = only(found, op=op('CONN', 'STATE'), cookie=one[0], old_state=1)
    done.is_described(change, state=4, result=0, fd=-1, flags=0, remote='::1', remote_port=other, latency=0,
                      inode=one[1], **common)
