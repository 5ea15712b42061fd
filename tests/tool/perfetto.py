# SPDX-License-Identifier: GPL-2.0
"""
What perfetto.bats runs: traces whose events are known, as the reader in lib/perfetto.py sees them. A trace
begins at 1 s of the monotonic clock and lasts 999 s.
"""
import csv
import glob
import gzip
import io
import os
import pty
import random
import subprocess
import sys

from join import BOOT, S, is_equal, run
from lib.perfetto import MONOTONIC, REALTIME, Trace, unknown_fields
from stats import change, event, make

SDA, SDB = {'disk': 'sda', 'device': 0x800001}, {'disk': 'sdb', 'device': 0x800010}


def request(op, time, latency, **more):
    return {'op': op, 'time': time, 'latency': latency, 'requested': 4096, 'result': 4096, 'pid': 7, 'tid': 7,
            'comm': 'fio', 'cpu': 0, **SDA, **more}


def export(*options, status=0):
    """What is printed, and what is said."""
    done = subprocess.run(['iotracer', 'export', '-f', 'perfetto', *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode == status, done
    return done.stdout, done.stderr.decode()


def read(*options, status=0):
    data, said = export(*options, status=status)
    found = Trace(data)
    is_equal('fields that nobody knows', list(unknown_fields(found.trace)), [])
    found.said = said
    return found


def table(name, category, *options, status=0):
    text = run('iotracer', 'export', '--category', category, *options, name, status=status).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def records(found):
    """The slices that are of records: neither those of a request's thread nor what is missing."""
    return [s for s in found.slices if 'seq' in s.arguments or s.name not in ('submit', 'totals', 'events are missing')]


def monotonic(row):
    """When a row of CSV began."""
    day, fraction = row['timestamp'].split('.')
    seconds = int(subprocess.run(['date', '-u', '-d', day, '+%s'], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout)
    return seconds * S + int(fraction.rstrip('Z')) - BOOT


# --- the tests ----------------------------------------------------------------------

def by_hand():
    make('t', ['/srv/a.db', '/b'],
         fs=[event('READ', 10 * S, 1000, 4096, path=1, offset=512, requested=8192, inode=5),
             event('OPEN', 11 * S, 300, -2, path=2),
             event('FSYNC', 12 * S, 5000, 0, path=1, pid=8, tid=9, comm='db:2'),
             event('READ', 13 * S, 0, 1, pid=8, tid=8, comm='db')],
         block=[request(0, 10 * S + 100, 700, queue_latency=50, device_latency=650, path=1, sector=64),
                request(1, 12 * S + 10, 4000, pid=8, tid=9, comm='db:2', origin_pid=7, origin_comm='fio'),
                request(1, 12 * S + 20, 4000, pid=8, tid=9, comm='db:2', result=-5),
                request(0, 12 * S + 30, 4000, pid=3, tid=3, comm='kworker', **SDB)])
    found = read('t')
    shown = {}
    for one in found.slices:
        shown.setdefault(found.name(one.track), []).append((one.name, one.time, one.duration))
    missing = 'iotracer: what is missing',
    end = max(13 * S, 12 * S + 5000)
    is_equal('slices', shown, {
        ('fio', 'fio'): [('READ', 10 * S, 1000), ('submit', 10 * S + 100, 0), ('OPEN', 11 * S, 300)],
        ('db', 'db:2'): [('FSYNC', 12 * S, 5000), ('submit', 12 * S + 10, 0), ('submit', 12 * S + 20, 0)],
        ('db', 'db'): [('READ', 13 * S, 0)],
        ('kworker', 'kworker'): [('submit', 12 * S + 30, 0)],
        ('sda', 'block, slot 1'): [('READ', 10 * S + 100, 700), ('WRITE', 12 * S + 10, 4000)],
        ('sda', 'block, slot 2'): [('WRITE', 12 * S + 20, 4000)],
        ('sdb', 'block, slot 1'): [('READ', 12 * S + 30, 4000)],
        missing: [('totals', end, 0)] * 2})
    is_equal('threads', sorted(filter(None, {found.thread(s.track) for s in found.slices})),
             [(3, 3), (7, 7), (8, 8), (8, 9)])
    # each flow leads from a submit, inside the call, to the request that began then
    ends = {}
    for one in found.slices:
        for flow in one.flows:
            ends.setdefault(flow, []).append(one)
    is_equal('flows', [(a.name, a.parent and a.parent.name, found.thread(a.track), b.name, b.time)
                       for a, b in ends.values()],
             [('submit', 'READ', (7, 7), 'READ', 10 * S + 100), ('submit', 'FSYNC', (8, 9), 'WRITE', 12 * S + 10),
              ('submit', 'FSYNC', (8, 9), 'WRITE', 12 * S + 20), ('submit', None, (3, 3), 'READ', 12 * S + 30)])
    is_equal('counters', {found.name(track): values for track, values in found.counters.items()}, {
        ('sda', 'requests in queue and device'): [
            (10 * S + 100, 1), (10 * S + 800, 0), (12 * S + 10, 1), (12 * S + 20, 2), (12 * S + 4010, 1),
            (12 * S + 4020, 0)],
        ('sdb', 'requests in queue and device'): [(12 * S + 30, 1), (12 * S + 4030, 0)]})
    one, two = found.slices[0], ends[1][1]
    is_equal('call', one.arguments, {'seq': 0, 'cpu': 0, 'offset_bytes': 512, 'requested_bytes': 8192, 'result': 4096, 'inode': 5,
                                     'path': '/srv/a.db', 'sample': 0})
    is_equal('request', {k: two.arguments[k] for k in ('queue_latency_ns', 'device_latency_ns', 'path', 'sector', 'disk')},
             {'queue_latency_ns': 50, 'device_latency_ns': 650, 'path': '/srv/a.db', 'sector': 64, 'disk': 'sda'})
    is_equal('writeback', [ends[2][1].arguments[k] for k in ('origin_pid', 'origin_comm')], [7, 'fio'])
    is_equal('errors', [(s.name, s.arguments['errno'], s.arguments['result']) for s in found.slices
                        if 'errno' in s.arguments], [('OPEN', 'ENOENT', -2), ('WRITE', 'EIO', -5)])
    is_equal('totals', [(s.category, s.arguments) for s in found.slices if s.name == 'totals'],
             [(c, {'records': 4, 'sampled': 0, 'lost': 0, 'missed': 0, 'unreadable': 0}) for c in ('fs', 'block')])
    is_equal('kernel', found.system.utsname.release, os.uname().release)


def check_rows(found, category, rows):
    """Each row is a slice, and no other is there."""
    slices = {(s.arguments['cpu'], s.arguments['seq']): s for s in records(found) if s.category == category}
    is_equal('slices', len(slices), len(rows))
    for row in rows:
        one = slices[int(row['cpu']), int(row['seq'])]
        is_equal('times', (one.time, one.duration, one.name), (monotonic(row), int(row['latency_ns']), row['op']))
        if category != 'block':
            is_equal('thread', found.thread(one.track), (int(row['pid']), int(row['tid'])))
        for name, value in row.items():
            if name in ('timestamp', 'time_ns', 'latency_ns', 'op', 'pid', 'tid', 'comm', 'cmdline'):
                continue
            if name not in one.arguments:
                assert value in ('', '0', '0:0', 'none') or (name, value) == ('sample', '1'), (name, value, one.arguments)
            elif isinstance(one.arguments[name], int) and value.startswith('0x'):
                is_equal(name, one.arguments[name], int(value, 16))
            else:
                is_equal(name, str(one.arguments[name]), value)


def rows():
    rng = random.Random(1)
    paths = [f'/srv/d{i % 7}/f{i}' for i in range(40)]

    def many(nr, ops, **more):
        for i in range(nr):
            tid = rng.randrange(1, 6)
            yield {'op': rng.choice(ops), 'time': 2 * S + i * 1000000, 'latency': rng.choice((0, 5000, 900000)),
                   'result': rng.choice((-5, 0, 512)), 'path': rng.randrange(42), 'pid': tid, 'tid': tid,
                   'inode': rng.randrange(3), 'device': 0x800001, 'sample': rng.choice((1, 4)),
                   'comm': f'proc{tid}', **more}
    make('t', paths, fs=list(many(150, (0, 1, 2, 4, 9), flags=0x42, address=0x7fff12345678)),
         block=[{**r, 'disk': rng.choice(('sda', 'vdb'))} for r in many(100, (0, 1, 2))],
         fault=list(many(40, (0, 1))), net=list({k: v for k, v in n.items() if k not in ('path', 'device')}
                               for n in many(50, (0, 1), local='192.0.2.1', local_port=80, family=2)),
         uring=list(many(60, (3,), opcode=22, user_data=2**63)))
    found = read('t')
    for category in 'fs', 'block', 'fault', 'net', 'uring':
        check_rows(found, category, table('t', category))
    is_equal('categories', {s.category for s in found.slices}, {'fs', 'block', 'fault', 'net', 'uring'})


def nests():
    """[10, 20] lies in [5, 30]; [25, 40] crosses that; one that begins with another one is no part of it."""
    calls = [(10, 20), (5, 30), (25, 40), (50, 60), (50, 70), (85, 90), (80, 90), (95, 95), (95, 99)]
    make('t', fs=[event('READ', S * 2 + a, b - a, 0) for a, b in calls])
    found = read('t')
    is_equal('times', sorted((s.time - 2 * S, s.time + s.duration - 2 * S) for s in records(found)), sorted(calls))
    inner = {(s.time - 2 * S, s.duration): s.parent and s.parent.time - 2 * S for s in records(found)}
    is_equal('inside', {k: v for k, v in inner.items() if v is not None}, {(10, 10): 5, (85, 5): 80})
    is_equal('lanes', sorted((found.name(s.track)[-1], s.time - 2 * S, s.duration) for s in records(found)
                             if found.name(s.track)[-1] != 'fio'), [('fs, slot 1', 25, 15), ('fs, slot 1', 50, 20)])
    # more of them than are known, inside a call that begins among those
    calls = [(i * 10, i * 10 + 5) for i in range(20)] + [(12, 300)]
    make('t', fs=[event('READ', S * 2 + a, b - a, 0) for a, b in calls])
    found = read('t')
    is_equal('times', sorted((s.time - 2 * S, s.time + s.duration - 2 * S) for s in records(found)), sorted(calls))
    rng = random.Random(2)
    calls = []
    for tid in range(1, 5):
        for _ in range(200):
            begin = rng.randrange(3000)
            calls.append(event('READ', 2 * S + begin, rng.choice((0, 1, 50, 400)), 0, pid=tid, tid=tid, comm=f't{tid}'))
    make('t', fs=calls)
    is_equal('any', sorted((found.thread(s.track)[1], s.time, s.duration) for found in [read('t')] for s in records(found)),
             sorted((c['tid'], c['time'], c['latency']) for c in calls))


def renamed():
    """A thread has its last name, a process that of its first thread."""
    make('t', fs=[event('READ', (2 + i) * S, 5, 1, pid=7, tid=tid, comm=comm)
                  for i, (tid, comm) in enumerate(((8, 'worker'), (7, 'bash'), (7, 'fio'), (8, 'io')))])
    found = read('t')
    is_equal('names', [found.name(s.track) for s in records(found)],
             [('fio', 'io'), ('fio', 'fio'), ('fio', 'fio'), ('fio', 'io')])


def depths(intervals):
    """Every change of the number of intervals, from the list of all."""
    changes = sorted([(a, 1) for a, b in intervals if b > a] + [(b, -1) for a, b in intervals if b > a])
    value, found = 0, []
    for time, by in changes:
        value += by
        found.append((time, value))
    return found


def lanes():
    rng = random.Random(3)
    for most in 1, 20, 3000:
        requests = []
        for disk in SDA, SDB:
            requests += [request(0, 2 * S + rng.randrange(5000), rng.randrange(most), **disk) for _ in range(400)]
        make('t', block=requests)
        found = read('t')
        for disk in SDA, SDB:
            mine = [(r['time'], r['time'] + r['latency']) for r in requests if r['disk'] == disk['disk']]
            expected = depths(mine)
            counter, = [v for track, v in found.counters.items() if found.name(track)[0] == disk['disk']] or [[]]
            is_equal('counter', counter, expected)
            tracks = {found.name(s.track) for s in records(found) if s.duration and found.name(s.track)[0] == disk['disk']}
            is_equal('lanes', len(tracks), max([value for _, value in expected], default=0))
        assert not any(s.parent for s in records(found))
        is_equal('requests', sorted((s.time, s.duration) for s in records(found)),
                 sorted((r['time'], r['latency']) for r in requests))


def outlasts():
    """Once 65536 changes wait, the number is written: the request that is still there is counted from then on."""
    others = [request(0, 3 * S + i * 100, 50) for i in range(40000)]
    make('t', block=[request(1, 2 * S, 100 * S)] + others)
    counter, = read('t').counters.values()
    times = [time for time, _ in counter]
    is_equal('order', times, sorted(times))
    is_equal('values', {value for _, value in counter}, {0, 1, 2})
    is_equal('end', counter[-1], (102 * S, 0))
    is_equal('changes', len(counter), 2 * 40001)
    # at most what waited is without it
    first = next(i for i, (_, value) in enumerate(counter) if value == 2)
    is_equal('from', first, 80000 - 65536 + 1)


def missing():
    events = [event('READ', (2 + i) * S, 5, 1) for i in range(6)]
    for i, one in enumerate(events):
        one.update(seq=i + 3 * (i >= 4), gap=3 * (i == 4))
    make('t', fs=events)
    change('t', missed=7)
    found = read('t')
    gap, = [s for s in found.slices if s.name == 'events are missing']
    is_equal('gap', (gap.time, gap.arguments), (6 * S + 5, {'cpu': 0, 'count': 3}))
    totals, = [s for s in found.slices if s.name == 'totals']
    is_equal('totals', totals.arguments, {'records': 6, 'sampled': 0, 'lost': 3, 'missed': 7, 'unreadable': 0})
    assert '3 events (33.33 %) are missing' in found.said and '7 calls are missing' in found.said, found.said
    change('t', events=16)
    export('t', status=1)
    found = read('--partial', 't')
    totals, = [s for s in found.slices if s.name == 'totals']
    is_equal('unreadable', totals.arguments['unreadable'], 10)


def selected():
    rng = random.Random(4)
    make('t', ['/srv/a', '/srv/b'],
         fs=[event(rng.choice(('READ', 'WRITE')), (2 + i) * S, 5, 9, path=1 + i % 2, pid=i % 3 + 1, tid=i % 3 + 1, comm='x')
             for i in range(60)], block=[request(i % 2, (2 + i) * S, 5, path=1) for i in range(30)])
    for options in (('--filter', 'path=/srv/a'), ('--from', '+9', '--to', '+20'), ('--filter', 'op=write pid=1')):
        found = read(*options, 't')
        for category in 'fs', 'block':
            check_rows(found, category, table('t', category, *options))
        # what is not selected is not missing
        assert not any(s.name == 'events are missing' for s in found.slices)
    found = read('--category', 'block', 't')
    is_equal('category', ({s.category for s in found.slices}, len(records(found))), ({'block'}, 30))


def anonymized():
    make('t', ['/srv/secret.db'], fs=[event('READ', 2 * S, 5, 1, path=1, comm='secret')],
         block=[request(1, 3 * S, 5, path=1, comm='secret', origin_comm='secret', origin_pid=3)])
    change('t', host='secret')
    assert b'secret' in export('t')[0]
    with open('key', 'wb') as f:
        f.write(bytes(range(32)))
    hidden = '--anonymize', '--key-file', 'key'
    data, _ = export(*hidden, 't')
    assert b'secret' not in data
    found = read(*hidden, 't')
    for category in 'fs', 'block':
        rows_ = table('t', category, *hidden)
        check_rows(found, category, rows_)
        is_equal('names', {found.name(s.track)[-1] for s in found.slices if found.thread(s.track)}, {rows_[0]['comm']})


def hostile():
    """Names that are no text, ids that no process has, times that overflow, and more of them than a queue has."""
    most = 2**64 - 1
    make('t', ['/x\\033[31m\\377', '/' + 'p' * 4000],
         fs=[event('READ', 2 * S, most, -2**63, path=1, comm='\\033[2J\\377', pid=2**32 - 1, tid=2**32 - 1),
             event('READ', 3 * S, 2**63, most // 2, path=10**18, comm='', offset=most), event('READ', 0, 0, 1, tid=0),
             event('READ', 4 * S, 5, 0, path=2, device=2**32 - 1)],
         block=[request(0xffff, 2 * S, 5, disk='\\033[0m\\200', queue_latency=most, device_latency=most, depth=2**32 - 1),
                request(1, 3 * S, 5, disk='', device=7)])
    found = read('t')
    is_equal('records', len(records(found)), 6)
    names = {found.name(s.track)[0] for s in found.slices}
    assert {'\\033[2J\\377', '\\033[0m\\200', 'unknown disk', 'no thread'} <= names, names
    paths = [s.arguments.get('path') for s in found.slices if s.category == 'fs' and 'result' in s.arguments]
    assert {'/x\\033[31m\\377', '/' + 'p' * 4000, '?'} <= set(paths), paths
    assert any(s.name == 'operation 65535' for s in found.slices)


def clocks():
    make('t', fs=[event('READ', (2 + i) * 100 * S, 5, 1) for i in range(5)])
    found = read('t')
    (begin, end), row = found.clocks, table('t', 'fs')[3]
    is_equal('monotonic', (begin[MONOTONIC], end[MONOTONIC]), (S, 1000 * S))
    is_equal('time of day', (begin[REALTIME], end[REALTIME]), (BOOT + S, BOOT + 1000 * S))
    time = records(found)[3].time
    is_equal('event', begin[REALTIME] + time - begin[MONOTONIC], monotonic(row) + BOOT)


def files():
    make('t', fs=[event('READ', 2 * S, 5, 1)], block=[request(0, 2 * S, 5)])
    plain, _ = export('t')
    is_equal('printed', export('-o', 'out', 't'), (b'', ''))
    name, = glob.glob('out/*/*')
    is_equal('name', name, 'out/perfetto/perfetto_20170714_024000_000.pftrace')
    with open(name, 'rb') as f:
        assert f.read() == plain
    export('-z', '-o', 'packed', 't')
    with gzip.open(glob.glob('packed/*/*.pftrace.gz')[0], 'rb') as f:
        assert f.read() == plain
    assert gzip.decompress(export('-z', 't')[0]) == plain


def mistakes():
    make('one', fs=[event('READ', 2 * S, 5, 10)])
    make('two', fs=[event('READ', 2 * S, 5, 400)])
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')

    def one_line(status, part, *options):
        data, said = export(*options, status=status)
        is_equal('output', data, b'')
        lines = [line for line in said.splitlines() if not line.startswith(('Try ', 'information'))]
        assert len(lines) == 1 and part in lines[0], (part, said)
    one_line(1, 'both: is a merged trace', 'both')
    one_line(2, 'goes without --columns', '--columns=io-tracer', 'one')
    one_line(2, 'goes without --per-category', '--per-category', 'one')
    one_line(2, 'goes without --rotate', '--rotate=5', 'one')
    one_line(1, 'has no category block', '--category=block', 'one')
    side, terminal = pty.openpty()
    done = subprocess.run(['iotracer', 'export', '-f', 'perfetto', 'one'], stdout=terminal, stderr=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == 2 and 'is not for a terminal: redirect it' in done.stderr, done
    os.close(side)
    with open('/dev/full', 'wb') as full:
        done = subprocess.run(['iotracer', 'export', '-f', 'perfetto', 'one'], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False)
    assert done.returncode == 1 and 'could not be written: No space left on device' in done.stderr, done


if __name__ == '__main__':
    globals()[sys.argv[1]]()
