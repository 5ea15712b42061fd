# SPDX-License-Identifier: GPL-2.0
"""
What join.bats runs: iotracer join of traces whose requests and calls are known.

A World has a guest and its host. What happens is noted by the guest's clock; the host's is ahead by
an offset, and may drift. So it is known which call served which request, and when.
"""
import collections
import csv
import io
import itertools
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

from lib.categories import EVENTS
from lib.trace_file import FRAME, block, frame, seal_metadata

S = 10**9
US = 1000
REALTIME = 1500000000 * S  # time of day at 1 s of each monotonic clock
BOOT = REALTIME - S
IMAGE = '/srv/web.img'
CALLS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'FSYNC': 9, 'FDATASYNC': 10, 'FALLOCATE': 36}
OPS = {'READ': 0, 'WRITE': 1, 'FLUSH': 2, 'DISCARD': 3, 'WRITE_ZEROES': 5}
PREFLUSH, FLUSH_SEQ, EARLY, ASYNC = 1 << 10, 1 << 24, 1 << 25, 1 << 1


def is_equal(what, found, expected):
    assert found == expected, f'{what}: {found!r}, not {expected!r}'


def run(*argv, status=0, **options):
    done = subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
    assert done.returncode == status, (argv, done.returncode, done.stdout, done.stderr)
    return done


class World:
    def __init__(self, offset=5 * S + 123, drift=0.0, vm=True):
        self.offset, self.drift, self.vm = offset, drift, vm
        self.guest, self.host, self.below = [], [], []
        self.guest_paths, self.host_paths = ['/home/ann/db'], [IMAGE]
        self.layers = [{'file': IMAGE, 'format': 'raw'}]
        self.jumps = []  # times of the guest, and by how much the host's clock is ahead more from then on
        self.truth = {}  # begin of a request by the guest's clock: begin of its first call by the host's

    def at(self, time):
        """A time of the guest by the host's clock."""
        jumped = sum(by for since, by in self.jumps if time >= since)
        return time + self.offset + round((time - 10 * S) * self.drift) + jumped

    def request(self, op, offset, size, begin, end, queue=0, flags=0, path=0, disk='vda', device=None):
        """In the device from begin to end."""
        device = end - begin if device is None else device
        self.guest.append({
            'time': begin - queue, 'latency': 0 if flags & EARLY else end - begin + queue, 'queue_latency': queue,
            'device_latency': device, 'sector': offset // 512, 'requested': size, 'op': OPS[op], 'flags': flags,
            'path': path, 'inode': path, 'pid': 7, 'comm': 'fio', 'disk': disk, 'result': size})

    def call(self, op, offset, size, begin, end, tid=50, result=None, path=1, flags=0):
        """From begin to end by the guest's clock."""
        begin, end = self.at(begin), self.at(end)
        if result is None:
            result = size if 'READ' in op or 'WRITE' in op else 0
        self.host.append({
            'time': begin, 'latency': end - begin, 'offset': offset, 'requested': size, 'result': result,
            'inode': 100 + path, 'path': path, 'device': 0x800001, 'tid': tid, 'pid': 40, 'op': CALLS[op],
            'flags': flags, 'comm': 'worker'})
        return begin

    def disk(self, offset, size, begin, end, tid=50, inode=101):
        """A request of the host."""
        begin, end = self.at(begin), self.at(end)
        self.below.append({
            'time': begin, 'latency': end - begin, 'offset': offset, 'requested': size, 'inode': inode,
            'file_device': 0x800001, 'tid': tid, 'pid': 40, 'op': 1, 'disk': 'sda'})

    def write(self):
        trace('guest', {'block': self.guest}, self.guest_paths, 2, None)
        host = {'fs': self.host}
        if self.below is not None:
            host['block'] = self.below
        trace('host', host, self.host_paths, 1000, self.machine() if self.vm else None)

    def machine(self):
        return {'pid': 40, 'name': 'web', 'drives': [
            {'name': 'disk0', 'id': 'd0', 'layers': self.layers}, {'name': 'disk1', 'layers': []}]}


def stream(path, lines, *header):
    with open(path, 'w', encoding='ascii') as f:
        subprocess.run(['tool-stream', *header], check=True, text=True, input=''.join(lines), stdout=f)


def trace(name, categories, paths, inode, vm):
    """Record a trace of these records, whose clock is known."""
    shutil.rmtree(name, ignore_errors=True)
    stream('proc/paths', [f'id={i + 1} inode={inode + i} text={path}\n' for i, path in enumerate(paths)], 'layout=2')
    for category, records in categories.items():
        # what record leaves of a file that is no real one would be more each time
        with open(f'proc/{category}/control', 'w', encoding='ascii') as f:
            f.write('stop\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
        # records come in the order in which they end
        records = sorted(records, key=lambda r: r['time'] + r['latency'])
        seqs = collections.defaultdict(itertools.count)  # of each CPU
        lines = (' '.join(f'{k}={v}' for k, v in {'seq': next(seqs[r.get('cpu', 0)]), **r}.items()) + '\n'
                 for r in records)
        stream(f'proc/{category}/stream', lines, 'layout=1', f'event={EVENTS[category]}')
    run('iotracer', 'record', '--compress=never', '-o', name, '-c', ','.join(categories), '--', 'true')
    change(name, vm)


def change(name, vm):
    file = name + '/metadata.json'
    with open(file, encoding='utf-8') as f:
        metadata = json.load(f)
    metadata['begin'].update(monotonic_ns=S, realtime_ns=REALTIME)
    metadata['end'].update(monotonic_ns=1000 * S, realtime_ns=REALTIME + 999 * S)
    metadata['vm'] = vm
    with open(file, 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata(file)


def join(*options, drive='disk0', status=0):
    return run('iotracer', 'join', 'guest', 'host', '--disk', 'vda=' + drive, *options, status=status)


def rows(*options, **more):
    found = list(csv.DictReader(io.StringIO(join('-f', 'csv', *options, **more).stdout, newline='')))
    for row in found:
        check_sum(row)
    return found


def check_sum(row):
    """The parts of a request are all of its time in the device, whatever the offset."""
    if not row['host_ns']:
        return
    parts = sum(int(row[name]) for name in ('qemu_before_ns', 'host_ns', 'qemu_after_ns'))
    is_equal('sum of parts', parts, int(row['device_latency_ns']))
    assert min(int(row[name]) for name in ('qemu_before_ns', 'host_ns', 'qemu_after_ns')) >= 0, row
    assert int(row['clock_lo_ns']) <= int(row['clock_hi_ns']), row
    assert int(row['host_call_ns']) <= int(row['host_ns']), row
    assert int(row['host_request_ns'] or 0) <= int(row['host_ns']), row


def ns(timestamp):
    """2017-07-14T02:40:00.000000123Z as a time of the monotonic clock."""
    hours, minutes, seconds = timestamp[11:-1].split(':')
    of_day = (int(hours) * 3600 + int(minutes) * 60) * S + round(float(seconds[:2])) * S + int(seconds[3:])
    return of_day - (2 * 3600 + 40 * 60) * S + S


def columns(row, *names):
    return [row[name] for name in names]


SAME = 'timestamp', 'sector', 'match', 'host_timestamp', 'host_ns'
COUNTS = 'match', 'calls', 'other_calls', 'requests'


# --- the tests ----------------------------------------------------------------------

def parts():
    """Each column of one write of a raw image, and of a flush after it, in each format."""
    w = World(offset=5 * S)
    w.request('WRITE', 1 << 20, 8192, 10 * S, 10 * S + 900 * US, queue=70 * US, path=1)
    w.call('DIO_WRITE', 1 << 20, 8192, 10 * S + 100 * US, 10 * S + 800 * US)
    w.disk(1 << 20, 4096, 10 * S + 110 * US, 10 * S + 500 * US)
    w.disk(1 << 20, 4096, 10 * S + 120 * US, 10 * S + 790 * US)
    w.disk(1 << 20, 4096, 10 * S + 150 * US, 10 * S + 160 * US, tid=51, inode=999)  # of another file
    w.request('FLUSH', 0, 0, 11 * S, 11 * S + 500 * US)
    # what asks for the flush, and has no data: the device gets the flush only
    w.request('WRITE', 0, 0, 11 * S, 11 * S + 510 * US, flags=FLUSH_SEQ, device=0)
    w.call('FDATASYNC', 0, 0, 11 * S + 50 * US, 11 * S + 450 * US, tid=52)
    w.disk(0, 0, 11 * S + 60 * US, 11 * S + 440 * US, tid=52, inode=0)
    w.write()
    first, second = rows()
    # the call allows 100 us less and more; the flush, a window later, is not asked: it drifts 101 us more
    is_equal('row', first, {
        'timestamp': '2017-07-14T02:40:08.999930000Z', 'op': 'WRITE', 'sector': '2048',
        'offset_bytes': '1048576', 'requested_bytes': '8192', 'path': '/home/ann/db', 'pid': '7', 'comm': 'fio',
        'latency_ns': '970000', 'queue_latency_ns': '70000', 'device_latency_ns': '900000',
        'qemu_before_ns': '100000', 'host_ns': '700000', 'qemu_after_ns': '100000', 'host_call_ns': '700000',
        'host_request_ns': '680000', 'calls': '1', 'other_calls': '0', 'requests': '2', 'match': 'offset',
        'reason': '', 'clock_lo_ns': str(5 * S - 100000), 'clock_hi_ns': str(5 * S + 100000),
        'host_timestamp': '2017-07-14T02:40:14.000100000Z'})
    is_equal('flush', columns(second, 'op', *COUNTS, 'host_ns', 'host_request_ns', 'path'),
             ['FLUSH', 'order', '1', '0', '1', '400000', '380000', ''])
    objects = [json.loads(line) for line in join('--json').stdout.splitlines()]
    is_equal('JSON', [{k: '' if v is None else str(v) for k, v in o.items()} for o in objects], [first, second])
    join('-f', 'csv', '-o', 'out', '-z')
    file = run('sh', '-c', 'zcat out/join/join_20170714_024008_999.csv.gz').stdout
    is_equal('file', file, join('-f', 'csv').stdout)
    summary = json.loads(join('--json', '--summary').stdout)
    is_equal('summary', summary['write'], {
        'requests': 1, 'matched': 1, 'not_needed': 0, 'not_matched': 0, 'reasons': {},
        **{name: {**dict.fromkeys(('p50', 'p90', 'p99', 'max'), int(first[name])), 'mean': float(first[name])}
           for name in ('latency_ns', 'queue_latency_ns', 'qemu_before_ns', 'host_ns', 'qemu_after_ns',
                        'host_call_ns', 'host_request_ns')}})
    is_equal('clock', columns(summary['clock']['first'], 'lo_ns', 'hi_ns'), [5 * S - 105001, 5 * S + 105001])
    text = join().stdout
    for line in ('guest       guest: disk vda, 2 requests', 'write                1           1           0               0',
                 'QEMU, before               100.0       100.0       100.0       100.0       100.0'):
        assert line in text, (line, text)
    assert '1048576     8192      970.0       70.0      100.0      700.0      100.0     1  /home/ann/db' in text, text
    # the flush was quicker
    shorter = join('-n', '1').stdout
    is_equal('lines less', len(text.splitlines()) - len(shorter.splitlines()), 1)
    assert '/home/ann/db' in shorter, shorter


def work(w, rng, seconds, rate, time=10 * S):
    """Requests of random places, some at a time; notes when each began and its first call did."""
    until = time + seconds * S
    while time < until:
        time += rng.randrange(1, 2 * S // rate)
        size = 4096 * rng.choice((1, 1, 2, 16))
        offset = 4096 * rng.randrange(4000)
        op = rng.choice(('READ', 'WRITE'))
        before, took, after = (rng.randrange(20, 400) * US for _ in range(3))
        w.request(op, offset, size, time, time + before + took + after, queue=rng.randrange(0, 50) * US)
        w.truth[time] = w.call('DIO_' + op, offset, size, time + before, time + before + took)


def clocks():
    """The spans have the true offset at each request, which drifts; each request has its own call."""
    for seed, offset, drift in ((1, -8 * S, 50e-6), (2, 500 * S, -80e-6), (3, 123456, 0)):
        w = World(offset, drift)
        rng = random.Random(seed)
        work(w, rng, 8, 150)
        w.below = []
        w.write()
        found = rows()
        is_equal('rows', len(found), len(w.truth))
        wrong = 0
        for row in found:
            begin = ns(row['timestamp']) + int(row['queue_latency_ns'])
            is_equal('match', row['match'], 'offset')
            true = w.at(begin) - begin
            assert int(row['clock_lo_ns']) <= true <= int(row['clock_hi_ns']), (row, true)
            assert int(row['clock_hi_ns']) - int(row['clock_lo_ns']) <= 420000 * 2, row
            wrong += ns(row['host_timestamp']) != w.truth[begin]
        is_equal('requests with the call of another', wrong, 0)
        clock = json.loads(join('--json', '--summary').stdout)['clock']
        error = 1e6 * 2 * (clock['first']['hi_ns'] - clock['first']['lo_ns']) / (7 * S)
        assert abs(clock['drift_ppm'] - drift * 1e6) <= error, (clock, drift)


def check_steps(w, expected):
    """Each request has its own call, its span the true offset, and the steps are where they were."""
    found = rows()
    is_equal('rows', len(found), len(w.truth))
    missing = [row for row in found if row['match'] != 'offset']
    is_equal('requests without a call', missing, [])
    for row in found:
        begin = ns(row['timestamp']) + int(row['queue_latency_ns'])
        assert int(row['clock_lo_ns']) <= w.at(begin) - begin <= int(row['clock_hi_ns']), row
        is_equal('call', ns(row['host_timestamp']), w.truth[begin])
    clock = json.loads(join('--json', '--summary').stdout)['clock']
    steps = [segment for segment in clock['segments'] if 'step_ns' in segment]
    is_equal('steps', len(steps), len(expected))
    for step, (when, by) in zip(steps, expected):
        assert abs(step['step_ns'] - by) < 10**6, (step, by)
        assert ns(step['step_after']) < when <= ns(step['step_before']), (step, when)
        # which is where some calls could be of either side
        assert ns(step['step_before']) - ns(step['step_after']) < 4 * S, step
    text = join().stdout
    is_equal('lines of steps', len(re.findall(r'^ +then it steps by [+-]\d+ ns: ', text, re.M)), len(expected))
    is_equal('drift', clock['drift_ppm'] is None, bool(expected))


def steps():
    """A guest that is paused, whose clock stands meanwhile, or is set: also more than once."""
    for seed, drift, jumps in (
            (11, 0, [(12 * S, 8 * S)]), (12, 60e-6, [(14 * S + S // 2, 8 * S)]), (13, -40e-6, [(16 * S + 1, 30 * US * 1000)]),
            (14, 0, [(12 * S, 8 * S), (13 * S, 500 * S), (15 * S, -S)]), (15, 0, [])):
        w = World(offset=-3 * S, drift=drift)
        w.jumps, at, rng = jumps, 10 * S, random.Random(seed)
        for when, by in jumps:
            work(w, rng, (when - at) / S, 40, at)
            # what is in the device when it is paused is done before; a clock that goes back stands still as long
            w.guest = [r for r in w.guest if r['time'] + r['latency'] < when]
            w.host = w.host[:len(w.guest)]
            kept = {r['time'] + r['queue_latency'] for r in w.guest}
            w.truth = {begin: call for begin, call in w.truth.items() if begin in kept}
            at = when - min(by, 0)
        work(w, rng, 18 - at / S, 40, at)
        w.below = []
        w.write()
        check_steps(w, jumps)


def steps_unknown():
    """What has its calls at another time, and too few of them: the reason names that, also for one in between."""
    w = World()
    w.jumps = [(12 * S, 8 * S)]
    work(w, random.Random(16), 2, 40)
    w.guest = [r for r in w.guest if r['time'] + r['latency'] < 12 * S]
    w.host = w.host[:len(w.guest)]
    known = len(w.guest)
    for i in range(5):
        t = 12 * S + i * S // 10
        w.request('WRITE', (64 + i) << 20, 4096, t, t + 500 * US)
        w.call('DIO_WRITE', (64 + i) << 20, 4096, t + 100 * US, t + 300 * US)
    w.below = []
    w.write()
    found = rows()
    is_equal('matched', {row['match'] for row in found[:known]}, {'offset'})
    reason = 'calls on its bytes happened only at other times: was a clock set, or the guest paused?'
    is_equal('reasons', [row['reason'] for row in found[known:]], 5 * [reason])
    assert f'not matched: 5 of write: {reason}\n' in join().stdout
    # the pause is within one request, whose call is on both sides
    w = World()
    w.jumps = [(12 * S, 8 * S)]
    work(w, random.Random(17), 2, 40)
    w.guest = [r for r in w.guest if r['time'] + r['latency'] < 12 * S - S // 100]
    w.host = w.host[:len(w.guest)]
    known = len(w.guest)
    w.request('WRITE', 64 << 20, 4096, 12 * S - 200 * US, 12 * S + 300 * US)
    w.call('DIO_WRITE', 64 << 20, 4096, 12 * S - 100 * US, 12 * S + 100 * US)
    work(w, random.Random(18), 2, 40, 12 * S + S // 100)
    w.below = []
    w.write()
    found = rows()
    is_equal('one request', [(row['match'], row['reason']) for row in found if row['match'] != 'offset'], [('no', reason)])
    is_equal('it', found[known]['sector'], str((64 << 20) // 512))


def steps_order():
    """Calls that are missing of what is done twice are not those of the other time, before or after."""
    for other in (2, 4):
        w = World()
        for second in range(6):
            for i in range(10):
                t, place = (10 + second) * S + i * S // 10 + i * i * US, 10 * (other if second == 3 else second) + i
                w.request('WRITE', place << 20, 4096, t, t + 500 * US)
                if second != 3:
                    w.truth[t] = w.call('DIO_WRITE', place << 20, 4096, t + 100 * US, t + 300 * US)
        w.below = []
        w.write()
        found = rows()
        for row in found:
            begin = ns(row['timestamp'])
            is_equal('match', row['match'], 'offset' if begin in w.truth else 'no')
            if begin in w.truth:
                is_equal('call', ns(row['host_timestamp']), w.truth[begin])
        is_equal('requests without a call', sum(row['match'] == 'no' for row in found), 10)
        is_equal('segments', len(json.loads(join('--json', '--summary').stdout)['clock']['segments']), 1)


def pieces():
    """Calls that QEMU splits and joins, and that have more bytes than the request."""
    w, t = World(), 10 * S
    w.request('WRITE', 0, 1 << 20, t, t + 900 * US)
    for i in range(4):
        w.call('DIO_WRITE', i << 18, 1 << 18, t + (100 + 150 * i) * US, t + (300 + 150 * i) * US)
        w.disk(i << 18, 1 << 18, t + (110 + 150 * i) * US, t + (210 + 150 * i) * US)
    t += S
    for i in range(3):
        w.request('READ', 8 << 20 | i << 12, 4096, t + i * US, t + (700 + i) * US)
    w.call('READ', 8 << 20, 3 << 12, t + 100 * US, t + 600 * US)
    t += S
    w.request('READ', (9 << 20) + 512, 1024, t, t + 700 * US)
    w.call('DIO_READ', 9 << 20, 4096, t + 100 * US, t + 600 * US)
    t += S  # a read that is answered in two, of which the first is short
    w.request('READ', 10 << 20, 8192, t, t + 700 * US)
    w.call('READ', 10 << 20, 8192, t + 100 * US, t + 200 * US, result=4096)
    w.call('READ', (10 << 20) + 4096, 4096, t + 300 * US, t + 600 * US)
    w.write()
    found = rows()
    # what is not the host's is a half before and a half after: the clocks allow 100 us and 150 us
    is_equal('split', columns(found[0], *COUNTS, 'host_ns', 'host_call_ns', 'host_request_ns', 'qemu_after_ns'),
             ['offset', '4', '0', '4', '650000', '650000', '400000', '125000'])
    for i, row in enumerate(found[1:4]):
        is_equal('joined', columns(row, 'sector', *COUNTS, 'host_ns'),
                 [str((8 << 20 | i << 12) // 512), 'offset', '1', '0', '0', '500000'])
    is_equal('aligned', columns(found[4], *COUNTS, 'host_ns'), ['offset', '1', '0', '0', '500000'])
    is_equal('short', columns(found[5], *COUNTS, 'host_ns', 'host_call_ns'),
             ['offset', '2', '0', '0', '500000', '400000'])


def repeated():
    """The same sector again and again, one after the other and at the same time."""
    w, expected = World(), []
    rng = random.Random(4)
    time = 10 * S
    for i in range(300):
        time += rng.randrange(400, 4000) * US
        w.request('WRITE', 4096, 4096, time, time + 350 * US)
        expected.append(w.call('DIO_WRITE', 4096, 4096, time + 30 * US, time + 320 * US))
    time += S
    for i in range(4):  # all four in the device at once
        w.request('WRITE', 4096, 4096, time + i * US, time + (900 + i) * US)
        expected.append(w.call('DIO_WRITE', 4096, 4096, time + (100 + 150 * i) * US, time + (200 + 150 * i) * US))
    time += S
    for size, begin in ((65536, 300), (4096, 100)):  # two sizes at once, the call of the second one is the first
        w.request('WRITE', 4096, size, time, time + 900 * US)
        expected.append(w.call('DIO_WRITE', 4096, size, time + begin * US, time + (begin + 100) * US))
        time += US
    w.write()
    found = rows()
    is_equal('calls', [ns(row['host_timestamp']) for row in found], expected)
    is_equal('how', {tuple(columns(row, *COUNTS)) for row in found}, {('offset', '1', '0', '0')})


def unmatched():
    """A call that is missing, or too late, or of another place: its request is listed, no other is used."""
    w = World()
    work(w, random.Random(5), 1, 200)
    t = 12 * S
    w.request('WRITE', 64 << 20, 4096, t, t + 500 * US)  # none
    t += S // 10
    w.request('WRITE', 65 << 20, 4096, t, t + 500 * US)  # too late
    w.call('DIO_WRITE', 65 << 20, 4096, t + 100 * US, t + 2000 * US)
    t += S // 10
    w.request('WRITE', 66 << 20, 4096, t, t + 500 * US)  # another place, another operation
    w.call('DIO_WRITE', 67 << 20, 4096, t + 100 * US, t + 300 * US)
    w.call('DIO_READ', 66 << 20, 4096, t + 100 * US, t + 300 * US)
    t += S // 10
    w.request('WRITE', 68 << 20, 8192, t, t + 500 * US)  # a half
    w.call('DIO_WRITE', 68 << 20, 4096, t + 100 * US, t + 300 * US)
    t += S // 10
    w.request('WRITE', 69 << 20, 4096, t, t + 500 * US, flags=EARLY)
    w.request('WRITE', 70 << 20, 4096, 1010 * S, 1010 * S + 500 * US)  # after the host's trace
    w.write()
    found = rows()
    known = len(w.truth)
    is_equal('matched', {row['match'] for row in found[:known]}, {'offset'})
    is_equal('reasons', [columns(row, 'match', 'reason', 'host_ns', 'calls') for row in found[known:]], [
        ['no', reason, '', '0'] for reason in (
            'no call on its bytes happened during its time', 'no call on its bytes happened during its time',
            'no call on its bytes happened during its time', 'calls cover only 4096 of its bytes',
            "it began before the guest's trace", "the host's trace does not cover its time")])
    text = join().stdout
    assert 'not matched: 3 of write: no call on its bytes happened during its time\n' in text, text


def flushes():
    """Flushes by order; syncs and other calls that only one request can have."""
    w, t = World(), 10 * S
    w.request('WRITE', 0, 4096, t, t + 900 * US)
    w.call('DIO_WRITE', 0, 4096, t + 100 * US, t + 300 * US)
    w.call('FDATASYNC', 0, 0, t + 400 * US, t + 800 * US)  # write-through
    t += S // 20
    for i in range(2):  # two flushes at once, in the order of their begin
        w.request('FLUSH', 0, 0, t + i * 10 * US, t + (900 + i) * US)
        w.call('FDATASYNC', 0, 0, t + (100 + 300 * i) * US, t + (350 + 300 * i) * US)
    t += S // 20
    for i in range(2):  # one sync for both
        w.request('FLUSH', 0, 0, t + i * 10 * US, t + (900 + i) * US)
    w.call('FDATASYNC', 0, 0, t + 100 * US, t + 400 * US)
    t += S // 20
    w.request('FLUSH', 0, 0, t, t + 50 * US)  # QEMU has nothing to sync
    t += S // 20
    w.request('FLUSH', 0, 0, t, t + 900 * US)  # two syncs, one after the other
    w.call('FSYNC', 0, 0, t + 100 * US, t + 350 * US)
    w.call('WRITE', 1 << 30, 65536, t + 360 * US, t + 390 * US)
    w.call('FSYNC', 0, 0, t + 400 * US, t + 800 * US)
    t += S // 20
    w.request('WRITE', 8192, 4096, t, t + 900 * US, queue=300 * US, flags=FLUSH_SEQ, device=400 * US)
    w.call('DIO_WRITE', 8192, 4096, t + 100 * US, t + 300 * US)
    t += S // 20
    # as a journal commits: the device gets a flush, the data, and another flush
    w.request('WRITE', 16384, 4096, t, t + 900 * US, queue=100 * US, flags=FLUSH_SEQ | PREFLUSH, device=300 * US)
    w.call('DIO_WRITE', 16384, 4096, t + 450 * US, t + 650 * US)
    t += S // 20
    for i in range(2):  # one sync that both could have caused
        w.request('WRITE', (10 + i) << 20, 4096, t + i * US, t + 900 * US)
        w.call('DIO_WRITE', (10 + i) << 20, 4096, t + 100 * US, t + (300 + i) * US)
    w.call('FDATASYNC', 0, 0, t + 400 * US, t + 800 * US)
    w.write()
    found = rows()
    is_equal('of either', [columns(row, *COUNTS, 'host_ns') for row in found[9:]],
             [['offset', '1', '0', '0', '200000'], ['offset', '1', '0', '0', '201000']])
    is_equal('write-through', columns(found[0], *COUNTS, 'host_ns', 'host_call_ns'),
             ['offset', '1', '1', '0', '700000', '600000'])
    is_equal('flushes', [columns(row, *COUNTS, 'host_ns', 'reason') for row in found[1:7]], [
        ['order', '1', '0', '0', '250000', ''], ['order', '1', '0', '0', '250000', ''],
        ['order', '1', '0', '0', '300000', ''], ['order', '1', '0', '0', '300000', ''],
        ['no', '0', '0', '0', '', 'no sync happened during its time'],
        ['order', '1', '2', '0', '700000', '']])
    assert ns(found[1]['host_timestamp']) < ns(found[2]['host_timestamp'])
    is_equal('a write with a flush after it', columns(found[7], 'match', 'latency_ns', 'queue_latency_ns',
             'device_latency_ns', 'host_ns'), ['offset', '1200000', '300000', '400000', '200000'])
    is_equal('a write between two flushes', columns(found[8], 'match', 'latency_ns', 'queue_latency_ns',
             'device_latency_ns', 'host_ns'), ['offset', '1000000', '100000', '900000', '200000'])


def asynchronous():
    """A call that has returned before its requests are done lasts until they are."""
    w, t = World(), 10 * S
    w.request('WRITE', 0, 4096, t, t + 900 * US)
    w.request('WRITE', 4096, 4096, t + US, t + 900 * US)
    w.call('DIO_WRITE', 0, 4096, t + 100 * US, t + 120 * US, flags=ASYNC)
    w.call('DIO_WRITE', 4096, 4096, t + 130 * US, t + 150 * US, flags=ASYNC)  # is merged into the first one's request
    w.disk(0, 8192, t + 110 * US, t + 700 * US)
    t += S
    w.request('READ', 0, 4096, t, t + 900 * US)
    w.call('DIO_READ', 0, 4096, t + 90 * US, t + 95 * US, result=-11)  # EAGAIN: it is asked for again
    w.call('DIO_READ', 0, 4096, t + 100 * US, t + 800 * US)
    t += S
    w.request('READ', 4096, 4096, t, t + 900 * US)
    w.call('DIO_READ', 4096, 4096, t + 100 * US, t + 800 * US, result=-5)  # it failed
    w.write()
    found = rows()
    is_equal('async', [columns(row, *COUNTS, 'host_ns', 'host_request_ns') for row in found[:2]],
             [['offset', '1', '0', '1', '600000', '590000'], ['offset', '1', '0', '1', '570000', '570000']])
    for row in found[2:]:
        is_equal('errors', columns(row, *COUNTS, 'host_ns'), ['offset', '1', '0', '0', '700000'])


def shift():
    """A raw image of which the drive is a part."""
    w, t = World(), 10 * S
    w.layers[0]['offset'] = 1 << 20
    w.request('WRITE', 4096, 4096, t, t + 900 * US)
    w.call('DIO_WRITE', (1 << 20) + 4096, 4096, t + 100 * US, t + 300 * US)
    w.request('DISCARD', 1 << 16, 65536, t + S, t + S + 900 * US)
    w.call('FALLOCATE', (1 << 20) + (1 << 16), 65536, t + S + 100 * US, t + S + 300 * US)
    w.request('WRITE_ZEROES', 1 << 17, 65536, t + 2 * S, t + 2 * S + 900 * US)
    w.call('WRITE', (1 << 20) + (1 << 17), 65536, t + 2 * S + 100 * US, t + 2 * S + 300 * US)
    w.write()
    is_equal('rows', [columns(row, 'op', *COUNTS) for row in rows()],
             [[op, 'offset', '1', '0', '0'] for op in ('WRITE', 'DISCARD', 'WRITE_ZEROES')])


def qemu_map(image, at):
    """The layer (0: the top) and the offset of a byte of a disk, as qemu-img says."""
    for piece in json.loads(run('qemu-img', 'map', '--output=json', image).stdout):
        if piece['start'] <= at < piece['start'] + piece['length']:
            return piece['depth'], piece['offset'] + at - piece['start']
    raise AssertionError(at)


def make_chain():
    for command in ('create -q -f raw base.img 4M', 'create -q -f qcow2 -b base.img -F raw top.qcow2 8M'):
        run('qemu-img', *command.split())
    run('qemu-io', '-f', 'raw', '-c', 'write -P 1 0 4M', 'base.img')
    # clusters whose order in the file is another one than on the disk
    for place in ('3M 64k', '1M 192k', '512k 64k', '5M 128k'):
        run('qemu-io', '-f', 'qcow2', '-c', 'write -P 2 ' + place, 'top.qcow2')
    run('qemu-io', '-f', 'qcow2', '-c', 'write -z 2M 64k', 'top.qcow2')


def chain_world():
    """Work on a chain of qcow2 and raw, whose calls are where qemu-img says. Also returns what is expected."""
    w, t, here = World(), 10 * S, os.getcwd()
    w.host_paths = [here + '/top.qcow2', here + '/base.img']
    w.layers = [{'file': here + '/top.qcow2', 'format': 'qcow2'}, {'file': here + '/base.img', 'format': 'raw'}]
    expected = []
    for i, (op, at, size) in enumerate((
            ('WRITE', 3 << 20, 4096), ('READ', (1 << 20) + 65536, 4096), ('READ', 512 << 10, 65536),
            ('READ', 100 << 10, 8192), ('WRITE', 5 << 20, 65536), ('READ', (3 << 20) + 8192, 4096))):
        layer, host = qemu_map('top.qcow2', at)
        begin = t + i * S // 50
        w.request(op, at, size, begin, begin + 900 * US)
        w.call('DIO_' + op, host, size, begin + 100 * US, begin + 700 * US, path=1 + layer)
        expected.append([op, 'offset', '1', '0', '0', '600000'])
    t += S
    # two clusters, which are in the file in another order; and a table before
    w.request('READ', (512 << 10) + 61440, 8192, t, t + 900 * US)
    w.call('DIO_READ', 0x20000, 65536, t + 20 * US, t + 50 * US)
    w.call('DIO_READ', qemu_map('top.qcow2', (512 << 10) + 61440)[1], 4096, t + 100 * US, t + 300 * US)
    w.call('DIO_READ', 576 << 10, 4096, t + 150 * US, t + 700 * US, path=2)
    expected.append(['READ', 'offset', '2', '1', '0', '680000'])
    t += S
    # a part of a cluster that is allocated for it: QEMU writes all of it
    w.request('WRITE', (5 << 20) + 65536 + 4096, 4096, t, t + 900 * US)
    w.call('DIO_WRITE', qemu_map('top.qcow2', (5 << 20) + 65536)[1], 65536, t + 100 * US, t + 700 * US)
    expected.append(['WRITE', 'offset', '1', '0', '0', '600000'])
    t += S
    # the same, and beside it a part of that cluster by itself: not the old data that the first one writes there
    host = qemu_map('top.qcow2', 5 << 20)[1]
    w.request('WRITE', 5 << 20, 4096, t, t + 900 * US)
    w.request('WRITE', (5 << 20) + 8192, 8192, t + US, t + 900 * US)
    w.call('DIO_WRITE', host, 65536, t + 100 * US, t + 300 * US)
    w.call('DIO_WRITE', host + 8192, 4096, t + 400 * US, t + 600 * US)
    w.call('DIO_WRITE', host + 12288, 4096, t + 500 * US, t + 700 * US)
    expected += [['WRITE', 'offset', '1', '0', '0', '200000'], ['WRITE', 'offset', '2', '0', '0', '300000']]
    t += S
    # it is in the top now, and was in the backing file when it was read
    w.request('READ', (1 << 20) + 131072, 4096, t, t + 900 * US)
    w.call('DIO_READ', (1 << 20) + 131072, 4096, t + 100 * US, t + 700 * US, path=2)
    expected.append(['READ', 'offset', '1', '0', '0', '600000'])
    t += S
    for at in 2 << 20, 7 << 20:  # zeros, and what no layer has
        w.request('READ', at, 4096, t, t + 30 * US)
        expected.append(['READ', 'zero', '0', '0', '0', ''])
        t += S // 50
    w.request('WRITE', 7 << 20, 4096, t, t + 900 * US)
    expected.append(['WRITE', 'no', '0', '0', '0', ''])
    return w, expected


def chain():
    """A chain of a qcow2 image and a raw backing file; by the drive's name and by that of the image."""
    make_chain()
    w, expected = chain_world()
    w.write()
    for drive in 'disk0', 'top.qcow2':
        found = rows(drive=drive)
        is_equal(drive, [columns(row, 'op', *COUNTS, 'host_ns') for row in found], expected)
        is_equal('reason', found[-1]['reason'], 'the image does not store its bytes now')


def gone():
    """Images that are gone: raw ones need none, others are matched by size and time where only one fits."""
    w, t = World(), 10 * S
    w.layers[0]['format'] = 'qcow2'
    for i in range(6):
        begin = t + i * S // 50
        w.request('WRITE', i << 22, 4096 << (i % 3), begin, begin + 500 * US)
        w.call('DIO_WRITE', (77 + i) << 16, 4096 << (i % 3), begin + 50 * US, begin + 450 * US)
    t += S
    for i in range(2):  # each could be the other's
        w.request('WRITE', (50 + i) << 22, 4096, t + i * US, t + 900 * US)
        w.call('DIO_WRITE', (99 + i) << 16, 4096, t + (100 + i) * US, t + 600 * US)
    t += S
    # one call fits the first request, and both fit the second
    for i, end in enumerate((400, 900)):
        w.request('WRITE', (55 + i) << 22, 4096, t + i * US, t + end * US)
        w.call('DIO_WRITE', (120 + i) << 16, 4096, t + (100 + 400 * i) * US, t + (300 + 400 * i) * US)
    t += S
    w.request('WRITE', 60 << 22, 4096, t, t + 900 * US)
    w.call('DIO_WRITE', 60 << 16, 8192, t + 100 * US, t + 600 * US)
    w.write()
    done = join('-f', 'csv')
    is_equal('message', done.stderr, f'iotracer: {IMAGE}: cannot be opened: No such file or directory: requests are '
             'matched by size and time, and only if a single call fits\n')
    found = rows()
    is_equal('rows', [columns(row, *COUNTS, 'reason') for row in found],
             6 * [['size', '1', '0', '0', '']] +
             4 * [['no', '0', '0', '0', 'without the image, other calls or requests fit as well']] +
             [['no', '0', '0', '0', 'no call on its bytes happened during its time']])
    for drive, options in (('d0', []), (IMAGE, ['--image-format=raw'])):
        w.layers[0]['format'] = 'raw'
        w.host[0]['offset'] = 0
        w.write()
        is_equal('raw', rows(*options, drive=drive)[0]['match'], 'offset')


def one_line(done, *parts):
    is_equal('lines', done.stderr.count('\n'), 1)
    for part in parts:
        assert part in done.stderr, (part, done.stderr)
    is_equal('output', done.stdout, '')


def mistakes():
    w, t = World(), 10 * S
    for i in range(3):
        w.request('WRITE', i << 20, 4096, t + i * S, t + i * S + 500 * US)
        w.call('DIO_WRITE', i << 20, 4096, t + i * S + 100 * US, t + i * S + 300 * US)
    w.write()
    one_line(join(drive='disk7', status=1), 'host: its VM has no drive disk7: it has disk0, disk1')
    one_line(join(drive='disk1', status=1), 'host: drive disk1 has no image')
    one_line(join(drive='./none', status=1), './none: cannot be opened: No such file', '--image-format')
    with open('other', 'wb') as f:
        f.write(bytes(4096))
    one_line(join(drive='./other', status=1), 'host: has no read, write or sync of ', '/other, ')
    one_line(run('iotracer', 'join', 'guest', 'host', '--disk=vdb=disk0', status=1),
             'guest: has no requests of disk vdb: it has those of vda')
    one_line(run('iotracer', 'join', 'guest', 'nowhere/host', '--disk=vda=disk0', status=1), 'nowhere/host')
    one_line(run('iotracer', 'join', 'host', 'guest', '--disk=sda=disk0', status=1),
             'guest: was recorded without --vm', '--disk sda=IMAGE')
    one_line(run('iotracer', 'join', 'guest', 'guest', '--disk=vda=./other', status=1), 'guest: has no category fs')
    for words in (['guest'], ['guest', 'host'], ['guest', 'host', '--disk=vda'], ['guest', 'host', '--disk==d'],
                  ['guest', 'host', 'third', '--disk=vda=d'], ['guest', 'host', '--disk=vda=d', '--disk=vdb=d'],
                  ['guest', 'host', '--disk=vda=d', '-o', 'x'], ['guest', 'host', '--disk=vda=d', '--drift=x'],
                  ['guest', 'host', '--disk=vda=d', '--image-format=vmdk'],
                  ['guest', 'host', '--disk=vda=d', '-f', 'fuse']):
        run('iotracer', 'join', *words, status=2)
    without_block(w)


def without_block(w):
    guest, below, w.below = w.guest, w.below, None
    w.write()
    done = join('-f', 'csv')
    is_equal('message', done.stderr, 'iotracer: host: has no category block, so the requests of the host are not shown\n')
    is_equal('columns', {tuple(columns(row, 'host_request_ns', 'requests')) for row in rows()}, {('', '')})
    w.below = below
    trace('guest', {'fs': []}, [], 2, None)
    one_line(join(status=1), 'guest: has no category block: record it in the guest with -c block')
    w.guest = guest


def misfits():
    """Traces that are not of the same time, or whose clocks could be either way: nothing is guessed."""
    w = World()
    w.request('WRITE', 0, 4096, 10 * S, 10 * S + 500 * US)
    for i in range(2):
        w.call('DIO_WRITE', 0, 4096, (10 + i) * S, (10 + i) * S + 300 * US)
    w.write()
    one_line(join(status=1), 'guest: its clock cannot be determined', 'fit the same number of requests')
    w = World()
    for i in range(20):
        w.request('WRITE', i << 20, 4096, (10 + i % 7) * S + i, (10 + i % 7) * S + 500 * US + i)
        w.call('DIO_WRITE', i << 20, 4096, (10 + i * i % 23) * S, (10 + i * i % 23) * S + 300 * US)
    w.write()
    one_line(join(status=1), 'guest: its clock cannot be determined', 'requests agree')
    w.host = [{**call, 'offset': call['offset'] + (1 << 30)} for call in w.host]
    w.write()
    one_line(join(status=1), 'guest: no call in host has the bytes of a request')


def in_two_frames(name, category):
    """Make the only frame of a category's file two, each with one block."""
    file = f'{name}/{category}.iot'
    with open(file, 'r+b') as f:
        size = struct.unpack_from('<I', f.read(4096), 28)[0]
        events = struct.unpack_from('<Q', f.read(FRAME), 16)[0]
        head, half = f.read(len(block(0, 0, 0, 0))), events // 2
        is_equal('one block', struct.unpack_from('<I', head, 12)[0], events)
        records = f.read(events * size)
        f.seek(4096)
        for number, (first, count) in enumerate(((0, half), (half, events - half))):
            content = block(0, EVENTS[category], count, first) + records[first * size:(first + count) * size]
            f.write(frame(content, count, number=number))
        f.truncate()
        length = f.tell()
    with open(name + '/metadata.json', encoding='utf-8') as f:
        metadata = json.load(f)
    for entry in metadata['categories']:
        if entry['name'] == category:
            entry.update(frames=2, bytes=length)
    with open(name + '/metadata.json', 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata(name + '/metadata.json')


def cut():
    """What can be read of traces that are cut off is joined, and they are not called whole."""
    w = World()
    work(w, random.Random(6), 2, 150)
    w.write()
    whole = rows()
    for name in 'guest/block.iot', 'host/fs.iot':
        w.write()
        in_two_frames(*name[:-4].split('/'))
        is_equal('rows of two frames', rows(), whole)
        os.truncate(name, os.path.getsize(name) - 4096)
        assert 'is incomplete, so the exit status is 1' in join('-f', 'csv', status=1).stderr
        found = rows('--partial')
        if 'guest' in name:
            # records are in the order in which they end
            assert len(whole) // 2 == len(found), len(found)
            of_whole = [columns(row, *SAME) for row in whole]
            assert all(columns(row, *SAME) in of_whole for row in found)
        else:
            is_equal('requests', len(found), len(whole))
            is_equal('matched', sum(row['match'] != 'no' for row in found), len(whole) // 2)
            is_equal('reasons', {row['reason'] for row in found} - {''}, {'no call on its bytes happened during its time'})
    w.write()
    with open('guest/metadata.json', encoding='utf-8') as f:
        metadata = json.load(f)
    metadata['state'] = 'RUNNING'
    with open('guest/metadata.json', 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata('guest/metadata.json')
    assert 'guest: has no end: its recorder was killed' in join(status=1).stderr
    is_equal('rows', rows('--partial'), whole)


# --- QEMU's block layer ---------------------------------------------------------------

CALL = re.compile(r'(\w+)\(\d+<([^>]*)>(.*)\) += (-?\d+).* <([\d.]+)>$')


def seconds(text):
    whole, part = text.split('.')
    return int(whole) * S + int(part.ljust(9, '0'))


def calls_of(log):
    """The calls in a log of strace: time, thread, name, file, rest of the arguments, result, duration."""
    begun = {}
    with open(log, encoding='ascii', errors='replace') as f:
        for line in f:
            tid, time, text = line.rstrip('\n').split(None, 2)
            if text.endswith(' <unfinished ...>'):
                begun[tid] = time, text[:-len(' <unfinished ...>')]
                continue
            if text.startswith('<... '):
                time, first = begun.pop(tid)
                text = first + text.split(' resumed>', 1)[1]
            found = CALL.match(text)
            if found:
                name, file, rest, result, took = found.groups()
                yield seconds(time), int(tid), name, file, rest, int(result), seconds(took)


def add_call(w, base, entry):
    time, tid, name, file, rest, result, took = entry
    if file not in w.host_paths:
        return
    numbers = [int(n) for n in re.findall(r'(?<= )\d+(?=,|$)', re.sub(r'\[.*\]', '', rest))]
    where = {'path': w.host_paths.index(file) + 1, 'tid': tid}
    begin, end = time - base, time + took - base
    if name in ('fsync', 'fdatasync'):
        w.call(name.upper(), 0, 0, begin, end, result=result, **where)
    elif name == 'fallocate':
        w.call('FALLOCATE', numbers[-2], numbers[-1], begin, end, result=result, **where)
    else:
        size = numbers[0] if name in ('pread64', 'pwrite64') else sum(map(int, re.findall(r'iov_len=(\d+)', rest)))
        op = 'DIO_READ' if 'read' in name else 'DIO_WRITE'
        w.call(op, numbers[-1], size, begin, end, result=result, **where)


class Disk:
    """A disk that qemu-nbd serves: requests are sent by number, and answered in any order."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(path)
        self.get(18)
        self.socket.sendall(struct.pack('>I8sII', 3, b'IHAVEOPT', 1, 0))
        self.size, _ = struct.unpack('>QH', self.get(10))
        self.sent = {}

    def get(self, length):
        got = b''
        while len(got) < length:
            more = self.socket.recv(length - len(got))
            assert more, 'qemu-nbd has ended'
            got += more
        return got

    def send(self, number, op, offset, size):
        head = struct.pack('>IHHQQI', 0x25609513, 0, ('READ', 'WRITE', None, 'FLUSH').index(op), number, offset, size)
        self.sent[number] = time.time_ns(), op, offset, size
        self.socket.sendall(head + (bytes([number % 251 + 1]) * size if op == 'WRITE' else b''))

    def answer(self):
        _, error, number = struct.unpack('>IIQ', self.get(16))
        begin, op, offset, size = self.sent.pop(number)
        is_equal('error', error, 0)
        if op == 'READ':
            self.get(size)
        return op, offset, size, begin, time.time_ns()


def serve(name, *options):
    command = ['strace', '-f', '-y', '-s', '0', '--absolute-timestamps=format:unix,precision:ns', '--syscall-times=ns',
               '-e', 'trace=pread64,pwrite64,preadv,pwritev,fdatasync,fsync,fallocate', '-o', 'log',
               'qemu-nbd', '-k', os.path.abspath('socket'), '--aio=threads', *options, name]
    return subprocess.Popen(command)


def load(disk, seed, done):
    """
    Random requests, four at a time, and flushes. As of a kernel, no two of them are of the same bytes, or are
    flushes.
    """
    rng = random.Random(seed)
    for number in range(400):
        size = 4096 * rng.choice((1, 2, 4, 16, 40))
        offset = 4096 * rng.randrange((disk.size - size) // 4096)
        op = 'FLUSH' if number % 25 == 24 else rng.choice(('READ', 'WRITE'))
        while len(disk.sent) >= 4 or any(
                at < offset + size and offset < at + length or op == other == 'FLUSH'
                for _, other, at, length in disk.sent.values()):
            done.append(disk.answer())
        disk.send(number, op, *((0, 0) if op == 'FLUSH' else (offset, size)))
    while disk.sent:
        done.append(disk.answer())


def connect(server):
    """Wait until qemu-nbd listens: the socket is there before."""
    while server.poll() is None:
        try:
            return Disk('socket')
        except (FileNotFoundError, ConnectionRefusedError):
            time.sleep(0.01)
    raise AssertionError('qemu-nbd has ended')


def serve_and_load(w, base, seed, *options):
    server, done = serve(w.host_paths[0], *options), []
    try:
        disk = connect(server)
        load(disk, seed, done)
        disk.socket.close()
        is_equal('qemu-nbd', server.wait(120), 0)
    finally:
        server.kill()
    for op, offset, size, begin, end in done:
        w.request(op, offset, size, begin - base, end - base)
    for entry in calls_of('log'):
        add_call(w, base, entry)


def check_qemu(w):
    """99 % of the data are matched, each flush, and the spans have the true offset."""
    found = rows()
    data = [row for row in found if row['op'] != 'FLUSH']
    missing = [row for row in data if row['match'] == 'no']
    assert len(missing) <= len(data) // 100, (len(missing), len(data), missing)
    is_equal('flushes', {row['match'] for row in found if row['op'] == 'FLUSH'}, {'order'})
    for row in found:
        assert not row['host_ns'] or int(row['clock_lo_ns']) <= w.offset <= int(row['clock_hi_ns']), row
    print(len(data), len(missing), sum(int(row['other_calls']) for row in found))
    return found


def qemu_raw():
    """A raw image: the first call of each request is one of its bytes."""
    run('qemu-img', 'create', '-q', '-f', 'raw', 'disk.img', '8M')
    w, base = World(), time.time_ns() - 10 * S
    w.host_paths = [os.path.abspath('disk.img')]
    w.layers = [{'file': w.host_paths[0], 'format': 'raw'}]
    serve_and_load(w, base, 1, '-f', 'raw', '--cache=none')
    w.below = []
    w.write()
    places = {call['time']: (call['offset'], call['offset'] + call['requested']) for call in w.host}
    for row in check_qemu(w):
        if row['match'] == 'offset':
            begin, end = places[ns(row['host_timestamp'])]
            assert begin <= int(row['offset_bytes']) < end, (row, begin, end)


def qemu_qcow2():
    """A qcow2 image on a raw one, which writes allocate clusters in."""
    run('qemu-img', 'create', '-q', '-f', 'raw', 'base.img', '8M')
    run('qemu-io', '-f', 'raw', '-c', 'write -P 1 0 8M', 'base.img')
    run('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', 'base.img', '-F', 'raw', 'top.qcow2')
    w, base = World(), time.time_ns() - 10 * S
    w.host_paths = [os.path.abspath('top.qcow2'), os.path.abspath('base.img')]
    w.layers = [{'file': w.host_paths[0], 'format': 'qcow2'}, {'file': w.host_paths[1], 'format': 'raw'}]
    serve_and_load(w, base, 2, '-f', 'qcow2', '--cache=writeback')
    w.below = []
    w.write()
    found = check_qemu(w)
    assert {'READ', 'WRITE'} == {row['op'] for row in found if row['other_calls'] != '0' or row['calls'] != '1'} - {'FLUSH'}


def real():
    """A load whose requests and calls have one clock: 99 % of the data are matched, and each span has 0."""
    with open('rows', newline='', encoding='utf-8') as f:
        found = list(csv.DictReader(f))
    data = [row for row in found if row['op'] != 'FLUSH']
    missing = [row for row in data if row['match'] == 'no']
    print(len(data), missing)
    assert len(data) > 100 and len(missing) <= len(data) // 100
    for row in found:
        check_sum(row)
        assert not row['host_ns'] or int(row['clock_lo_ns']) <= 0 <= int(row['clock_hi_ns']), row
    # most requests went to the disk while the guest waited: they are direct
    assert 2 * sum(row['requests'] != '0' for row in data) > sum(row['op'] == 'WRITE' for row in data)
    assert 'order' in {row['match'] for row in found if row['op'] == 'FLUSH'}


if __name__ == '__main__':
    globals()[sys.argv[1]]()
