# SPDX-License-Identifier: GPL-2.0
"""
Requests of io_submit and io_uring on targets: their events have the latency until the completion.
The files are on a disk that can hold its requests.

Requests of io_submit and io_uring.
"""
import contextlib
import csv
import ctypes
import json
import mmap
import os
import struct
import subprocess
import time

from lib import category, syscalls
from lib.iot import (add, in_json, is_equal, is_true, lines, load, LOAD_DIVISOR, must, targets,
                     unload)
from lib.machine import execute, map_device, sectors, umount, unmap, unmap_all, with_tool
from lib.suite import Suite


def setup():
    held = map_device('held', f'0 {sectors("/dev/vda")} linear /dev/vda 0')
    execute('mkfs.ext4', '-q', '-F', held)
    for top in '/mnt/files', '/mnt/disk':
        os.makedirs(top, exist_ok=True)
    execute('mount', '-o', 'noinit_itable', held, '/mnt/files')
    with_tool()


def resume():
    """A test that fails leaves it suspended."""
    execute('dmsetup', 'resume', '--noudevsync', 'held')


def teardown():
    unload()
    umount('/mnt/files')
    unmap_all()


SUITE = Suite(setup=setup, teardown=teardown, after=resume)

PAGE = mmap.PAGESIZE
IOCB = struct.Struct('<QIIHhIQQqQII')
EVENT = struct.Struct('<QQqq')
PREAD, PWRITE = 0, 1
URING_READ, IOPOLL = 22, 1
FILE = '/mnt/files/f'


def dmsetup(*words):
    subprocess.run(('dmsetup',) + words, check=True)


@contextlib.contextmanager
def held():
    """The disk holds all requests. A process cannot end while it has some."""
    dmsetup('suspend', '--noflush', '--nolockfs', 'held')
    try:
        yield
    finally:
        dmsetup('resume', '--noudevsync', 'held')


def rows(target, **properties):
    """The records of VFS level as the tool shows them, with these properties."""
    return [row for row in in_json(target) if row['level'] == 'vfs' and
            all(row[key] == value for key, value in properties.items())]


def open_direct(path=FILE, flags=os.O_RDWR):
    return os.open(path, flags | os.O_DIRECT)


def make_file(pages=64):
    fd = os.open(FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(fd, b'x' * PAGE * pages)
    os.fsync(fd)
    os.close(fd)


class Aio:
    """Requests of io_submit, of a page each."""

    def __init__(self, most=8):
        self.calls = syscalls.native
        self.context = ctypes.c_ulong()
        self.memory = mmap.mmap(-1, PAGE)
        self.keep = []
        is_equal(self.calls.io_setup(most, ctypes.byref(self.context)), 0)

    def submit(self, fd, offsets, op=PREAD):
        at = ctypes.addressof(ctypes.c_ubyte.from_buffer(self.memory))
        requests = [ctypes.create_string_buffer(IOCB.pack(i, 0, 0, op, 0, fd, at, PAGE, offset,
                                                          0, 0, 0))
                    for i, offset in enumerate(offsets)]
        table = struct.pack(f'<{len(requests)}Q', *map(ctypes.addressof, requests))
        self.keep.append((requests, table))
        return self.calls.io_submit(self.context.value, len(requests), table)

    def take(self, nr):
        """The results of as many requests, by number."""
        events = ctypes.create_string_buffer(nr * EVENT.size)
        taken = 0
        while taken < nr:
            taken += self.calls.io_getevents(
                self.context.value, 1, nr - taken,
                ctypes.byref(events, taken * EVENT.size), 0)
        found = {event[0]: event[2] for event in EVENT.iter_unpack(events.raw)}
        return [found[i] for i in sorted(found)]


SHORTEST = 100 # ns: no processor makes a request of a disk in less


def is_until_completion(row, begin, submitted, resumed, end):
    """The disk held the request until @resumed, and all times are on one clock."""
    is_true(begin <= row['time_ns'] <= submitted, row)
    is_true(SHORTEST <= row['submission_ns'] <= submitted - row['time_ns'], row)
    is_true(resumed - row['time_ns'] <= row['latency_ns'] <= end - row['time_ns'], row)


@SUITE.test('libaio: submission and completion of requests that the disk holds')
def held_by_aio():
    make_file()
    add(FILE)
    aio, fd = Aio(), open_direct()
    with held():
        begin = time.monotonic_ns()
        is_equal(aio.submit(fd, [3 * PAGE, 0, 7 * PAGE]), 3)
        submitted = time.monotonic_ns()
        time.sleep(0.05)
        is_equal(rows(FILE), []) # an event is recorded when it is over
        resumed = time.monotonic_ns()
    is_equal(aio.take(3), [PAGE] * 3)
    end = time.monotonic_ns()
    found = rows(FILE)
    is_equal([(row['offset_bytes'], row['result'], row['op'], row['pid'], row['tid'], row['comm'])
              for row in found],
             [(n * PAGE, PAGE, 'R', os.getpid(), os.getpid(), 'python3') for n in (3, 0, 7)])
    for row in found:
        is_equal(row['flags'], 'DIRECT|ASYNC|AIO|COMPLETED')
        is_until_completion(row, begin, submitted, resumed, end)


@SUITE.test('libaio: in category fs a latency ends with the submission', once=True)
def held_in_fs():
    """In category fs the event ends when the request has been submitted, and so does its latency."""
    make_file()
    category.command(f'filter pid={os.getpid()} op=DIO_READ', 'reset', 'start')
    aio, fd = Aio(), open_direct()
    with held():
        begin = time.monotonic_ns()
        is_equal(aio.submit(fd, [0]), 1)
        submitted = time.monotonic_ns()
        found = category.events()
    is_equal(aio.take(1), [PAGE])
    category.command('stop', 'filter none')
    is_equal([row['path'] for row in found], [FILE])
    is_true(0 < int(found[0]['latency']) <= submitted - begin, found)
    os.close(fd)


@SUITE.test('io_uring: submission and completion of requests that the disk holds')
def held_by_uring():
    make_file()
    add(FILE)
    ring, fd, memory = syscalls.Uring(), open_direct(), mmap.mmap(-1, PAGE)
    at = ctypes.addressof(ctypes.c_ubyte.from_buffer(memory))
    with held():
        begin = time.monotonic_ns()
        for n in range(3):
            ring.put(URING_READ, fd=fd, off=n * PAGE, addr=at, len=PAGE, user_data=n)
        is_equal(ring.enter(3, 0), 3)
        time.sleep(0.05)
        resumed = time.monotonic_ns()
    ring.enter(0, 3)
    is_equal(sorted(ring.take() for _ in range(3)), [(n, PAGE) for n in range(3)])
    end = time.monotonic_ns()
    found = sorted(rows(FILE), key=lambda row: row['offset_bytes'])
    is_equal([(row['offset_bytes'], row['result'], row['pid']) for row in found],
             [(n * PAGE, PAGE, os.getpid()) for n in range(3)])
    for row in found:
        # a worker of io_uring makes the call, as it would block
        is_equal(row['flags'], 'DIRECT|ASYNC|URING|COMPLETED')
        is_until_completion(row, begin, resumed, resumed, end)


@SUITE.test('io_uring, polled')
def polled():
    execute('modprobe', 'null_blk', 'nr_devices=1', 'gb=1', 'poll_queues=1')
    disk = '/dev/nullb0'
    must(f'add {disk}')
    ring, fd, memory = syscalls.Uring(IOPOLL), open_direct(disk), mmap.mmap(-1, PAGE)
    at = ctypes.addressof(ctypes.c_ubyte.from_buffer(memory))
    begin = time.monotonic_ns()
    ring.put(URING_READ, fd=fd, off=5 * PAGE, addr=at, len=PAGE, user_data=9)
    is_equal(ring.enter(1, 1), 1)
    is_equal(ring.take(), (9, PAGE))
    end = time.monotonic_ns()
    found = rows(disk)
    is_equal([(row['offset_bytes'], row['result'], row['flags']) for row in found],
             [(5 * PAGE, PAGE, 'DIRECT|ASYNC|URING|COMPLETED')])
    is_true(SHORTEST <= found[0]['submission_ns'] <= found[0]['latency_ns'] <= end - begin, found)
    os.close(fd)
    must(f'remove {disk}')
    execute('rmmod', 'null_blk')


@SUITE.test('results: bytes up to the end of the file, an error of the disk')
def results():
    make_file(3)
    os.truncate(FILE, 2 * PAGE + 512)
    os.sync()
    add(FILE)
    aio, fd = Aio(), open_direct()
    with held():
        is_equal(aio.submit(fd, [2 * PAGE, 0]), 2)
    is_equal(aio.take(2), [512, PAGE])
    is_equal([(row['requested_bytes'], row['result']) for row in rows(FILE)],
             [(PAGE, 512), (PAGE, PAGE)])
    must(f'remove {FILE}')
    sectors = os.stat(FILE).st_blocks
    is_true(sectors > 0, 'the file has no blocks')
    device = map_device('broken', '0 2048 error')
    try:
        must(f'add {device}')
        bad = open_direct(device)
        is_equal(aio.submit(bad, [0]), 1)
        is_equal(aio.take(1), [-5])
        is_equal([(row['requested_bytes'], row['result'], row['flags'])
                  for row in rows(device)], [(PAGE, -5, 'DIRECT|ASYNC|AIO|COMPLETED')])
        os.close(bad)
        must(f'remove {device}')
    finally:
        unmap('broken')


@SUITE.test("libaio, io_uring: fio's totals, each request to its completion")
def totals_of_fio():
    size = (4 << 20) // LOAD_DIVISOR
    for engine in 'libaio', 'io_uring':
        make_file(size // PAGE)
        add(FILE, 100000)
        job = json.loads(subprocess.run(
            ['fio', '--name=load', f'--filename={FILE}', '--rw=randrw', '--bs=4k', f'--size={size}',
             f'--ioengine={engine}', '--iodepth=32', '--direct=1', '--output-format=json',
             '--fallocate=none', '--disk_util=0', '--thread'], check=True, text=True,
            stdout=subprocess.PIPE).stdout)['jobs'][0]
        found = rows(FILE)
        for op, name in ('R', 'read'), ('W', 'write'):
            ours = [row for row in found if row['op'] == op and 'DIRECT' in row['flags']]
            is_equal((len(ours), sum(row['result'] for row in ours)),
                     (job[name]['total_ios'], job[name]['io_bytes']))
            queued = [row for row in ours if 'ASYNC' in row['flags']]
            is_true(queued, 'nothing was queued')
            is_true(all('COMPLETED' in row['flags'] for row in queued), queued[0])
            is_true(all(SHORTEST <= row['submission_ns'] <= row['latency_ns'] for row in queued), queued)
            is_true(all(row['submission_ns'] == 0 for row in ours if row not in queued), ours)
        must(f'remove {FILE}')


@SUITE.test('more in flight than are noted: each is recorded once')
def flood():
    """The table has 4,103 slots, and each request may be in 8 of them."""
    most = 6000
    must('65536', '/proc/sys/fs/aio-max-nr')
    make_file()
    add(FILE, 20000)
    aio, fd = Aio(most), open_direct()
    submitted = done = 0
    with held():
        while submitted < most:
            submitted += aio.submit(fd, [n % 64 * PAGE for n in range(min(500, most - submitted))])
        displaced = rows(FILE)
    while done < most:
        done += len(aio.take(1))
    found = rows(FILE)
    is_equal(len(found), most)
    is_equal(len({row['seq'] for row in found}), most)
    early = [row for row in found if 'COMPLETED' not in row['flags']]
    is_equal(len(early), len(displaced))
    is_true(most - 4103 <= len(early) < most, len(early))
    is_true(all(row['latency_ns'] == row['submission_ns'] for row in early), early[0])
    os.close(fd)


@SUITE.test('log: a request is where it began, before what ended while it was in flight', once=True)
def by_begin():
    """The log of a target has a request where it began, although another call ended before it did."""
    make_file()
    target = add(FILE)
    aio, fd = Aio(), open_direct()
    with open(FILE, 'rb') as cached, held():
        is_equal(aio.submit(fd, [0]), 1)
        is_equal(len(os.pread(cached.fileno(), PAGE, PAGE)), PAGE)
        is_equal([int(f[2]) for f in lines(target.log()) if f[4] == 'VFS'], [PAGE])
    aio.take(1)
    is_equal([int(f[2]) for f in lines(target.log()) if f[4] == 'VFS'], [0, PAGE])
    os.close(fd)


@SUITE.test('stopped, removed and unloaded while requests are in flight')
def in_flight():
    make_file()
    target = add(FILE)
    aio, fd = Aio(), open_direct()
    with held():
        is_equal(aio.submit(fd, [0, PAGE]), 2)
        target.command('stop')
    aio.take(2)
    is_equal(rows(FILE), []) # the target did not run when they completed
    with held():
        target.command('start')
        is_equal(aio.submit(fd, [2 * PAGE]), 1)
        target.command('stop')
        target.command('start')
    aio.take(1)
    # their entries are still there, and some of these have the same kiocb
    later = [n * PAGE for n in range(3, 11)]
    with held():
        is_equal(aio.submit(fd, later), len(later))
        is_equal(rows(FILE), [])
    aio.take(len(later))
    is_equal([row['offset_bytes'] for row in rows(FILE)], later)
    is_true(all('COMPLETED' in row['flags'] for row in rows(FILE)), 'not until the completion')
    with held():
        is_equal(aio.submit(fd, [0]), 1)
        must(f'remove {FILE}')
        is_equal(targets(), [])
    aio.take(1)
    add(FILE)
    with held():
        is_equal(aio.submit(fd, [0]), 1)
        unload()
    aio.take(1)
    is_true(load(), 'not loaded again')
    add(FILE)
    is_equal(aio.submit(fd, [PAGE]), 1)
    aio.take(1)
    is_equal([row['offset_bytes'] for row in rows(FILE)], [PAGE])


@SUITE.test('profile and the columns say what a latency is of', once=True)
def shown():
    make_file()
    add(FILE)
    aio, fd = Aio(), open_direct()
    with held():
        is_equal(aio.submit(fd, [0, 9 * PAGE]), 2)
        time.sleep(0.05)
    aio.take(2)
    profile = json.loads(subprocess.run(['iotracer', 'profile', '--format=json', FILE], check=True,
                                        text=True, stdout=subprocess.PIPE).stdout)['vfs']
    found = rows(FILE)
    is_equal(profile['reads']['async']['to_completion'], 2)
    is_equal(profile['reads']['async']['to_submission_only'], 0)
    is_true(profile['reads']['latency_ns']['p50'] >= 50_000_000, profile)
    is_equal(profile['reads']['async']['submission_mean_ns'],
             sum(row['submission_ns'] for row in found) / 2)
    is_equal(profile['writes']['async']['submission_mean_ns'], None)
    text = subprocess.run(['iotracer', 'profile', FILE], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    is_true('\n  to completion ' in text and '\n  submission mean ' in text, text)
    is_true('to submission only' not in text, text)
    table = subprocess.run(['iotracer', 'log', '--format=csv', FILE], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    is_equal([(int(row['latency_ns']), int(row['submission_ns']))
              for row in csv.DictReader(table.splitlines()) if row['level'] == 'vfs'],
             [(row['latency_ns'], row['submission_ns']) for row in found])
