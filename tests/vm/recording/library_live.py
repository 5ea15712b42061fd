# SPDX-License-Identifier: GPL-2.0
"""
The library on streams of the real module, and on a trace that was recorded from it: each call of known
work is one record, in the order in which calls ended; what was seen was read or is lost; and who reads
when the module or a target goes is told so.
"""
import json
import os
import subprocess

import iotracer
from lib.category import cleaning, command, do, mine, stats
from lib.iot import add, as_user, control, is_equal, is_true, join, NOBODY, touch, unload, write_bytes
from lib.machine import files_and_disk, umount_files_and_disk
from lib.places import TOOL
from lib.process import spawn
from lib.suite import reloads, Suite

WRITES = 500


def setup():
    files_and_disk()


def teardown():
    unload()
    umount_files_and_disk()


SUITE = Suite(setup=setup, teardown=teardown, around=cleaning)


def error_of(function, *args):
    try:
        function(*args)
    except iotracer.Error as e:
        return e.code
    return ''


def write_on(cpu, path, first, n):
    os.sched_setaffinity(0, {cpu % os.cpu_count()})
    write_bytes(path, first, n)


def is_each_once(records, path):
    """Each byte was written once, by a call whose record has all that is known of it."""
    inode, offsets, ends = os.stat(path).st_ino, [], []
    for r in records:
        if r.op != 'WRITE' or r['inode'] != inode:
            continue
        is_equal((r.text('path'), r['requested'], r['result'], r.text('kind')), (path, 1, 1, 'file'))
        is_equal(json.loads(r.json())['offset_bytes'], r['offset'])
        is_equal(r.end, r['time'] + r['latency'])
        offsets.append(r['offset'])
        ends.append(r.end)
    is_equal(sorted(offsets), list(range(2 * WRITES)))
    return ends


@SUITE.test('a stream of a category has each call of two processors once, while they happen and after')
def follow():
    path = '/mnt/files/f'
    touch(path)
    mine()
    command('start')
    with iotracer.Trace('fs', live=True) as trace:
        records, seen = trace.records(), []

        class Kept:
            """A record stays valid until the next one only."""

            def __init__(self, r):
                self.fields = {name: r[name] for name in ('inode', 'requested', 'result', 'offset', 'time', 'latency')}
                self.op, self.end, self.texts, self.row = r.op, r.end, {n: r.text(n) for n in ('path', 'kind')}, r.json()

            def __getitem__(self, name):
                return self.fields[name]

            def text(self, name):
                return self.texts[name]

            def json(self):
                return self.row

        writers = [spawn(write_on, cpu, path, cpu * WRITES, WRITES) for cpu in range(2)]
        while len(seen) < 2 * WRITES:
            seen += [Kept(r) for r in records]
        for pid in writers:
            join(pid)
        seen += [Kept(r) for r in records]
        is_each_once(seen, path)
        command('stop')
        s = stats()
        counts = trace.counts('fs')
        is_equal((counts.events, counts.lost, counts.missed), (s['seen'], s['overwritten'] + s['lost'], s['missed']))
        is_equal(records.losses.events + records.losses.lost, counts.events)
        is_equal(trace.state, 'LIVE')
        is_equal(trace.kernel, os.uname().release)
    with iotracer.Trace('fs', live=True) as trace:
        records = trace.records()
        ends = is_each_once(records, path)
        is_equal(ends, sorted(ends))


@SUITE.test('what a ring has overwritten before it was read is counted')
def overwritten():
    path = '/mnt/files/f'
    touch(path)
    command('size 64')
    mine()
    command('start')
    do(write_on, 0, path, 0, WRITES)
    command('stop')
    with iotracer.Trace('fs', live=True) as trace:
        records = trace.records()
        is_equal([r['offset'] for r in records][-1], WRITES - 1)
        is_equal(records.losses.events + records.losses.lost, trace.counts('fs').events)
        is_true(records.losses.lost >= WRITES - 128, str(records.losses))


@SUITE.test('the stream of a target is found by its path; who reads when it is removed is told so')
def target():
    path = '/mnt/files/f'
    touch(path)
    t = add(path, 100)
    write_bytes(path, 0, 20)
    with iotracer.Trace(path, live=True) as by_path, iotracer.Trace(t.name, live=True) as by_name:
        records = by_path.records()
        is_equal([r['offset'] for r in records], list(range(20)))
        is_equal([(r.op, r['offset']) for r in by_name.records()], [('W', at) for at in range(20)])
        is_equal(by_path.counts('io').events, t.stats()[0])
        control(f'remove {path}')
        is_equal(error_of(list, records), 'GONE')
    is_equal(error_of(iotracer.Trace, path, True), 'NOT_FOUND')


@SUITE.test('a user without rights is denied, and a module that is not there is named')
@reloads
def denied():
    command('start')
    is_equal(as_user(NOBODY, error_of, iotracer.Trace, 'fs', True), 'DENIED')
    command('stop')
    unload()
    is_equal(error_of(iotracer.Trace, 'fs', True), 'NO_MODULE')


@SUITE.test('a trace of all categories has the rows of export, and what metadata.json says')
def recorded():
    os.chdir('/mnt/disk')
    subprocess.run([TOOL, 'record', '-c', 'all', '-o', '/mnt/files/trace', '--', 'dd', 'if=/dev/zero', 'of=file',
                    'bs=4k', 'count=200', 'oflag=direct'], check=True, stderr=subprocess.DEVNULL)
    os.chdir('/')
    with iotracer.Trace('/mnt/files/trace') as trace:
        is_true(trace.state in ('COMPLETE', 'LOSSY') and not trace.is_damaged, trace.state)
        rows, ends = {name: [] for name in trace.categories}, []
        records = trace.records()
        for r in records:
            rows[r.category].append(r.csv())
            ends.append(r.end)
        is_equal(ends, sorted(ends))
        for name in trace.categories:
            exported = subprocess.run([TOOL, 'export', f'--category={name}', '/mnt/files/trace'], check=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
            is_equal(len(rows[name]), trace.counts(name).events)
            is_true(records.header(name) + ''.join(rows[name]) == exported, f'{name}: other rows than export has')
        is_equal(records.losses.events, sum(trace.counts(name).events for name in trace.categories))
