# SPDX-License-Identifier: GPL-2.0
"""
What top.bats runs: iotracer top of traces whose events are known. A trace begins at 1 s of the monotonic
clock, and lasts 999 s; --at=+9 is 10 s of it.
"""
import collections
import csv
import io
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time

from join import REALTIME, S, US, is_equal, run, stream, trace
from lib.categories import EVENTS
from stats import change

FS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'OPEN': 4, 'FSYNC': 9}
BLOCK = {'READ': 0, 'WRITE': 1, 'FLUSH': 2}
CACHE = {'HIT': 0, 'MISS': 1}
NET = {'SEND': 0, 'RECV': 1}
T = 10 * S
DB, LOG = 1, 2
PATHS = ['/srv/db', '/srv/log/app']
MIB = 1 << 20


def call(op, at, latency, result=0, path=DB, pid=7, **more):
    """An event of fs. @at, latency: microseconds"""
    return {'op': FS[op], 'time': T + at * US, 'latency': latency * US, 'result': result, 'path': path, 'pid': pid,
            'tid': pid, 'comm': f'p{pid}', 'cgroup': 100 + pid, 'device': 0x800000, **more}


def request(op, at, latency, device_latency, size=4096, path=DB, pid=7, **more):
    return {'op': BLOCK[op], 'time': T + at * US, 'latency': latency * US, 'device_latency': device_latency * US,
            'result': size, 'path': path, 'pid': pid, 'tid': pid, 'comm': f'p{pid}', 'cgroup': 100 + pid,
            'device': 0x800000, 'disk': 'sda', **more}


def page(op, at, pages=1, path=DB, pid=7, **more):
    return {'op': CACHE[op], 'time': T + at * US, 'latency': 0, 'pages': pages, 'path': path, 'pid': pid, 'tid': pid,
            'comm': f'p{pid}', 'cgroup': 100 + pid, 'device': 0x800000, **more}


def make(name='t', paths=tuple(PATHS), **categories):
    trace(name, categories, list(paths), 5, None)


def top(*options, status=0, **more):
    return run('iotracer', 'top', *options, status=status, **more)


def document(*options):
    return json.loads(top('--once', '-f', 'json', *options).stdout)


def rows(*options):
    return document(*options)['rows']


def table(*options):
    return list(csv.DictReader(io.StringIO(top('--once', '-f', 'csv', *options).stdout, newline='')))


def few():
    """
    From 10 s to 11 s: three reads of /srv/db, of 10, 20 and 30 us, a write of 40 us and a failed open by another
    process of /srv/log/app, requests of both, and two pages of the one that were not in memory. A microsecond
    earlier, and at 11 s, there is one event each, which are not in it.
    """
    make(fs=[call('READ', -1, 5, 7777), call('READ', 0, 10, 4096), call('READ', 100, 20, 4096),
             call('DIO_READ', 200, 30, 512), call('WRITE', 300, 40, MIB, path=LOG, pid=8),
             call('OPEN', 999999, 5, -2, path=LOG, pid=8), call('READ', 10**6, 5, 8888)],
         block=[request('READ', 0, 300, 300), request('READ', 200, 200, 100),
                request('WRITE', 500, 500, 400, MIB, path=LOG, pid=99, origin_pid=8, origin_comm='p8')],
         cache=[page('MISS', 0, 2), page('HIT', 100, 5), page('MISS', 500, 1, path=LOG, pid=8)])


# --- tables -------------------------------------------------------------------------

def by_hand():
    few()
    found = document('--at=+9', 't')
    table_rows = found.pop('rows')
    is_equal('document', found, {
        'trace': 't', 'begin_ns': REALTIME + 9 * S, 'duration_s': 1.0, 'note': None, 'by': 'file', 'category': 'fs',
        'categories': [
            {'category': name, 'records': n, 'sampled': 0, 'lost': 0, 'missed': 0, 'unreadable': 0}
            for name, n in (('fs', 5), ('block', 3), ('cache', 3))],
        'total': {'operations': 5, 'operations_per_s': 5.0, 'errors': 1, 'read_bytes': 8704,
                  'read_bytes_per_s': 8704.0, 'written_bytes': MIB, 'written_bytes_per_s': float(MIB),
                  'missed_pages': 3, 'device_time_ns': 800 * US},
        'others': 0, 'rest': None})
    is_equal('rows', table_rows, [
        {'file': '/srv/log/app', 'operations': 2, 'operations_per_s': 2.0, 'errors': 1, 'read_bytes': 0,
         'read_bytes_per_s': 0.0, 'written_bytes': MIB, 'written_bytes_per_s': float(MIB), 'missed_pages': 1,
         'device_time_ns': 400 * US, 'device_percent': 50.0, 'latency_p50_ns': 5 * US, 'latency_p99_ns': 40 * US},
        {'file': '/srv/db', 'operations': 3, 'operations_per_s': 3.0, 'errors': 0, 'read_bytes': 8704,
         'read_bytes_per_s': 8704.0, 'written_bytes': 0, 'written_bytes_per_s': 0.0, 'missed_pages': 2,
         'device_time_ns': 400 * US, 'device_percent': 50.0, 'latency_p50_ns': 20 * US, 'latency_p99_ns': 30 * US}])
    for row, line in zip(table_rows, table('--at=+9', 't'), strict=True):
        flat = {k: f'{v:.3f}' if isinstance(v, float) else str(v) for k, v in row.items()}
        is_equal('CSV', line, {'begin_ns': str(REALTIME + 9 * S), **flat, 'lost': '0', 'missed': '0', 'unreadable': '0',
                               'sampled': '0'})
    is_equal('text', top('--once', '--at=+9', 't').stdout.splitlines(), [
        'files of fs until 02:40:10Z, 1.00s: 5/s, read 8.50KiB/s, write 1.00MiB/s',
        '',
        '  OPS/s   READ/s  WRITE/s    P50    P99 MISS/s  DEV%  FILE',
        '      2       0B  1.00MiB 5.00us 40.0us      1  50.0  /srv/log/app',
        '      3  8.50KiB       0B 20.0us 30.0us      2  50.0  /srv/db'])
    # half a second has half of it, at the same rates
    half = rows('--at=+9', '--interval=0.5', 't')
    is_equal('half', [(r['file'], r['operations'], r['operations_per_s']) for r in half],
             [('/srv/log/app', 1, 2.0), ('/srv/db', 3, 6.0)])


def views():
    few()
    found = {by: {row[by]: row for row in rows('--at=+9', f'--by={by}', 't')}
             for by in ('directory', 'process', 'cgroup', 'device')}
    is_equal('directories', {k: (r['operations'], r['missed_pages'], r['device_time_ns'] // US)
                             for k, r in found['directory'].items()}, {'/srv/log': (2, 1, 400), '/srv': (3, 2, 400)})
    # what is written back is of the process that made it dirty; a cgroup is that of the submitter
    is_equal('processes', {k: (r['command'], r['operations'], r['missed_pages'], r['device_time_ns'] // US)
                           for k, r in found['process'].items()}, {'8': ('p8', 2, 1, 400), '7': ('p7', 3, 2, 400)})
    is_equal('cgroups', {k: (r['path'], r['operations'], r['missed_pages'], r['device_time_ns'] // US)
                         for k, r in found['cgroup'].items()},
             {'108': (None, 2, 1, 0), '107': (None, 3, 2, 400), '199': (None, 0, 0, 400)})
    # requests are in the device from 0 to 300, 300 to 400, and 600 to 1000
    device, = found['device'].values()
    is_equal('device', (device['device'], device['disk'], device['operations'], device['read_bytes'],
                        device['written_bytes'], device['missed_pages'], device['device_time_ns'] // US,
                        device['device_percent']), ('8:0', None, 3, 8192, MIB, 3, 800, 0.08))
    # where there are no calls, requests are the operations; without cache nothing is known of misses
    make('blocks', block=[request('READ', 0, 300, 200)])
    row, = rows('--at=+9', 'blocks')
    is_equal('blocks', (row['file'], row['operations'], row['latency_p99_ns'], row['missed_pages'], row['device_percent']),
             ('/srv/db', 1, 300 * US, None, 100.0))
    make('net', net=[{'op': NET[op], 'time': T, 'latency': 9 * US, 'moved': n, 'result': n, 'family': 2, 'protocol': 6,
                      'local_port': 80, 'remote_port': port} for op, n, port in
                     (('SEND', 100, 1), ('RECV', 20, 1), ('SEND', 3, 2))])
    is_equal('connections', [(r['connection'], r['operations'], r['read_bytes'], r['written_bytes'])
                             for r in rows('--at=+9', '--by=connection', 'net')],
             [('TCP *:80 *:1', 2, 20, 100), ('TCP *:80 *:2', 1, 0, 3)])
    text = top('--once', '--at=+9', '--by=connection', 'net').stdout
    assert 'RECV/s   SEND/s' in text and ' recv 20B/s, send 103B/s' in text, text
    # no category of the view is there: no figure is made up
    is_equal('nothing', top('--once', '--at=+9', '--by=connection', 't').stdout.splitlines()[0],
             'connections at 02:40:10Z: nothing is traced that has them')


def as_stats():
    rng = random.Random(1)
    make(fs=[call(rng.choice(list(FS)), rng.randrange(3 * 10**6), rng.randrange(1, 50000),
                  rng.choice((-5, 0, 512, 4096)), path=rng.randrange(1, 3), pid=rng.randrange(1, 9))
             for _ in range(2000)])
    for by in 'file', 'process', 'cgroup', 'directory':
        for at in 9, 10.5:
            text = run('iotracer', 'stats', '-f', 'csv', f'--by={by}', f'--from=+{at}', f'--to=+{at + 1}', '--top=0', 't')
            expected = {row[by]: row for row in csv.DictReader(io.StringIO(text.stdout, newline=''))}
            found = {row[by]: row for row in table(f'--at=+{at}', f'--by={by}', '--top=0', 't')}
            is_equal('keys', set(found), set(expected))
            assert len(found) > 1, found
            for key, row in found.items():
                other = expected[key]
                is_equal(f'{by} {key}', [int(row['operations']), int(row['errors']),
                                         int(row['read_bytes']) + int(row['written_bytes']), row['latency_p50_ns'],
                                         row['latency_p99_ns'], row['operations_per_s']],
                         [int(other['count']), int(other['errors']), int(other['bytes']), other['latency_p50_ns'],
                          other['latency_p99_ns'], other['iops']])


def sorted_rows():
    few()
    make('many', [f'/f{i}' for i in range(5)], fs=[
        call('READ', 0, 50, 100, path=1), call('WRITE', 0, 10, 300, path=2), call('READ', 0, 30, 200, path=3),
        call('READ', 0, 1, 0, path=4), call('READ', 0, 2, 0, path=4), call('OPEN', 0, 5, path=5)],
         cache=[page('MISS', 0, 3, path=5)], block=[request('READ', 0, 9, 9, path=1)])
    # those that are equal are in the order of operations, device time and name
    for how, expected in (('bytes', '12034'), ('ops', '30124'), ('read', '20314'), ('write', '13024'), ('p50', '02143'),
                          ('p99', '02143'), ('misses', '43012'), ('device', '03124'), ('name', '01234')):
        found = [row['file'][2:] for row in rows('--at=+9', f'--sort={how}', 'many')]
        is_equal(how, ''.join(found), expected)
    cut = document('--at=+9', '--top=2', 'many')
    is_equal('others', ([row['file'] for row in cut['rows']], cut['others'], cut['total']['operations']),
             (['/f1', '/f2'], 3, 6))
    assert top('--once', '--at=+9', '--top=2', 'many').stdout.endswith(' 3 others\n')


def intervals():
    rng = random.Random(2)
    times = sorted(rng.randrange(5 * 10**6) for _ in range(500))
    make(fs=[call('READ', at, 1, 1) for at in times])
    change('t', killed=True)
    lines = top('--at=+9', '--interval=0.25', '--partial', '-f', 'json', 't', timeout=60).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    expected = collections.Counter(at // 250000 for at in times)
    is_equal('counts', [d['total']['operations'] for d in found], [expected[i] for i in range(len(found))])
    is_equal('all', sum(d['total']['operations'] for d in found), len(times))
    is_equal('begins', [d['begin_ns'] for d in found], [REALTIME + 9 * S + i * S // 4 for i in range(len(found))])
    # CSV has one line of names
    text = top('--at=+9', '--interval=0.25', '--partial', '-f', 'csv', 't').stdout.splitlines()
    is_equal('CSV', sum(line.startswith('begin_ns,') for line in text), 1)


def basis():
    make(fs=[call('READ', 0, 10, 100, sample=10), call('READ', 5, 20, 100, sample=10), call('READ', 6, 30, 1)])
    change('t', missed=3)
    found = document('--at=+9', 't')
    is_equal('row', (found['rows'][0]['operations'], found['rows'][0]['read_bytes'], found['rows'][0]['latency_p50_ns']),
             (21, 2001, 20 * US))
    is_equal('basis', found['categories'], [
        {'category': 'fs', 'records': 3, 'sampled': 2, 'lost': 0, 'missed': 3, 'unreadable': 0}])
    text = top('--once', '--at=+9', 't').stdout
    assert 'missed 3: ' in text and '3 records are counted as 21 events' in text, text


def hostile():
    name = '/d/\\033[2J\\011evil'
    make('t', [name, '/x/' + 'long' * 900], fs=[
        call('READ', 0, 10, 100, path=1, comm='\\033[31m'), call('READ', 1, 10, 5, path=2), call('WRITE', 2, 1, 7, path=0),
        call('READ', 3, 1, 9, path=12345), call('READ', 4, 2**63 // US, 2**62), call('READ', 5, 1, 2**62),
        {**call('READ', 6, 0), 'op': 65535}],
         block=[{**request('READ', 0, 1, 2**63 // US), 'op': 999, 'device': 0xffffffff}])
    for by in 'file', 'directory', 'process', 'cgroup', 'device':
        for form in 'text', 'json', 'csv':
            text = top('--once', '--at=+9', '-f', form, f'--by={by}', 't').stdout
            assert '\033' not in text and '\t' not in text, text
            if form == 'text':
                assert all(len(line) <= 80 for line in text.splitlines()), text
    found = {row['file']: row['operations'] for row in rows('--at=+9', 't')}
    is_equal('no file, and one that is not known', (found[''], found['?']), (1, 1))
    # times beyond the trace, and beyond what there is of numbers
    for at in '+0', '+998.5', '+100000', '+9999999999', '1970-01-01T00:00:00', '2261-01-01T00:00:00':
        is_equal(at, rows(f'--at={at}', 't'), [])
    rows('--interval=40000d', 't')


def marks():
    """U+202E writes what follows from right to left, U+200B has no width: both are "?" for people only."""
    name, shown = '/d/a\u202etxt.exe\u200b\u2066\ufeff\u061c', '/d/a?txt.exe????'
    make('t', [name, '/d/e\u0301'], fs=[call('READ', 0, 10, 100, path=1, comm='x\u202ey'), call('READ', 1, 10, 5, path=2)])
    is_equal('JSON', [row['file'] for row in rows('--at=+9', 't')], [name, '/d/e\u0301'])
    is_equal('CSV', [row['file'] for row in table('--at=+9', 't')], [name, '/d/e\u0301'])
    text = top('--once', '--at=+9', 't').stdout
    assert f'  {shown}\n' in text and '/d/e\u0301\n' in text, text
    assert '  7 x?y\n' in top('--once', '--at=+9', '--by=process', 't').stdout
    with screen() as s:
        s.wait('1 of 2: ' + shown)
        s.keys('Enter')
        text = s.wait('file ' + shown, 'x?y/7 ' + shown)
        assert not any(mark in text for mark in '\u202e\u200b\u2066\ufeff\u061c'), text
        s.keys('q')
        s.wait('status 0')


ROWS = 65536    # TOP_ROWS


def many_files():
    """The first 65536 have a call each, the others two, of 1 and 2 bytes."""
    n = 70000
    make('t', [f'/f/{i}' for i in range(n)], fs=[
        call('READ', i, 1 + (i >= ROWS), 1, path=i + 1) for i in range(n)] + [
        call('READ', n + i, 3, 2, path=i + 1) for i in range(ROWS, n)] + [call('WRITE', 3 * n, 1, 9, path=1)])
    found = document('--at=+9', '--top=1', 't')
    others = n - ROWS
    is_equal('sums', (found['total']['operations'], found['total']['read_bytes'], found['total']['written_bytes']),
             (n + others + 1, n + 2 * others, 9))
    is_equal('rows', ([row['file'] for row in found['rows']], found['others']), (['/f/0'], ROWS - 1))
    is_equal('rest', {k: found['rest'][k] for k in ('file', 'operations', 'read_bytes', 'latency_p50_ns', 'latency_p99_ns')},
             {'file': '*', 'operations': 2 * others, 'read_bytes': 3 * others, 'latency_p50_ns': 2 * US,
              'latency_p99_ns': 3 * US})
    is_equal('CSV', [(row['file'], row['operations']) for row in table('--at=+9', '--top=1', 't')],
             [('/f/0', '2'), ('*', str(2 * others))])
    text = top('--once', '--at=+9', '--top=1', 't').stdout.splitlines()
    is_equal('text', (text[4].split(), text[5].split()[0], text[5].split('  ')[-1]),
             ([str(ROWS - 1), 'others'], '8928', 'those beyond 65536'))
    # directories are few
    is_equal('directories', [(row['directory'], row['operations']) for row in rows('--at=+9', '--by=directory', 't')],
             [('/f', n + others + 1)])
    with screen() as s:
        s.wait('1 of 65536', '8928 op. of files beyond 65536')
        s.keys('q')
        s.wait('status 0')


def renamed():
    make('t', fs=[call('READ', i, 1, 1, comm=f'name{i}') for i in range(10000)])
    is_equal('rows', [(row['process'], row['command'], row['operations']) for row in rows('--at=+9', '--by=process', 't')],
             [('7', 'name0', 10000)])


# --- live ---------------------------------------------------------------------------

def control(category):
    with open(f'proc/{category}/control', encoding='ascii') as f:
        return f.read()


def idle():
    """Streams without an event."""
    stream('proc/paths', [f'id={i + 1} inode={i + 5} text={path}\n' for i, path in enumerate(PATHS)], 'layout=2')
    for category in 'fs', 'block', 'cache':
        stream(f'proc/{category}/stream', '', 'layout=1', f'event={EVENTS[category]}')


def soon(at):
    """An event that ends in @at seconds."""
    return {**call('READ', 0, 1, 4096), 'time': time.clock_gettime_ns(time.CLOCK_MONOTONIC) + int(at * S)}


def append(category, records):
    lines = [' '.join(f'{k}={v}' for k, v in r.items()) + '\n' for r in records]
    stream(f'proc/{category}/more', lines, 'continue', 'layout=1', f'event={EVENTS[category]}')
    with open(f'proc/{category}/more', 'rb') as f, open(f'proc/{category}/stream', 'ab') as to:
        to.write(f.read())


def start_live(*options, env=None):
    """Begin to print intervals, and wait for the first."""
    top_ = subprocess.Popen(['iotracer', 'top', '--json', '--interval=0.05', *options], text=True, env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return top_, top_.stdout.readline()


def end_live(process):
    """What was printed since."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    is_equal('signal', (process.returncode, err), (-signal.SIGINT, ''))
    return [json.loads(line) for line in out.splitlines()]


def live():
    """An event from before the start is not shown; one afterwards is, in some interval, and once."""
    idle()
    append('fs', [{**soon(-100), 'seq': 0}])
    process, first = start_live()
    is_equal('first', json.loads(first)['total']['operations'], 0)
    # the last one ended before all categories were started, and is read late
    append('fs', [{**soon(0), 'seq': 1}, {**soon(0), 'seq': 2, 'path': LOG}, {**soon(-100), 'seq': 3}])
    append('block', [{**request('READ', 0, 5, 5), 'seq': 0, 'time': soon(0)['time']}])
    # two more intervals: the second begins when all was read
    seen = [json.loads(process.stdout.readline()) for _ in range(2)]
    append('fs', [{**soon(0), 'seq': 9, 'gap': 5}])
    commands = {c: control(c).splitlines()[5:] for c in ('fs', 'block', 'cache')}
    for category, filter_ in ('fs', 'none'), ('block', 'none'), ('cache', 'op=MISS'):
        is_equal('commands', commands[category],
                 [f'filter {filter_}', 'sample 1', 'mode overwrite', 'reset', 'start while-read'])
    found = seen + end_live(process)
    counts = collections.Counter()
    for row in (row for d in found for row in d['rows']):
        counts.update({(row['file'], name): row[name] for name in ('operations', 'device_time_ns')})
    is_equal('counts', dict(counts), {('/srv/db', 'operations'): 2, ('/srv/log/app', 'operations'): 1,
                                      ('/srv/db', 'device_time_ns'): 5 * US, ('/srv/log/app', 'device_time_ns'): 0})
    assert found[-1]['categories'][0]['category'] == 'fs'
    is_equal('lost', sum(c['lost'] for d in found for c in d['categories']), 5)
    for category in 'fs', 'block', 'cache':
        is_equal('restored', control(category).splitlines()[10:],
                 ['stop', 'size 16384', 'sample 1', 'mode overwrite', 'filter none'])


def filtered():
    """The module gets the conditions that a category has; the others are met here."""
    idle()
    process, _ = start_live('--filter=comm=p7 kind=file', '--filter=op=READ', '--filter=path=/srv/log')
    append('fs', [{**soon(0), 'seq': i, 'path': path, 'op': op, 'kind': 1}
                  for i, (path, op) in enumerate(((LOG, 0), (LOG, 1), (DB, 0)))])
    filters = [control(category).splitlines()[5] for category in ('fs', 'block', 'cache')]
    is_equal('filters', filters, ['filter comm=p7 kind=file', 'filter comm=p7', 'filter op=MISS comm=p7 kind=file'])
    found = [row for d in end_live(process) for row in d['rows']]
    is_equal('rows', [(row['file'], row['operations']) for row in found], [('/srv/log/app', 1)])


def shared():
    idle()
    with open('proc/fs/control', 'w', encoding='ascii') as f:
        f.write('start\nsize 16384\nsample 1\nmode overwrite\nfilter comm=dd\n')
    before = control('fs')
    process, first = start_live('-c', 'fs')
    is_equal('note', json.loads(first)['note'], 'traced already, read as it is set: fs (only comm=dd)')
    end_live(process)
    is_equal('control', control('fs'), before)


def disturbed(preload):
    """The category of somebody else is stopped, and the time of day goes back an hour: events are counted once."""
    idle()
    with open('proc/fs/control', 'w', encoding='ascii') as f:
        f.write('start\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
    process, first = start_live('-c', 'fs', env={**os.environ, 'TOOL_CLOCK_BACK': 'clock', 'LD_PRELOAD': preload})
    append('fs', [{**soon(0), 'seq': 0}])
    seen = [json.loads(first), json.loads(process.stdout.readline())]
    open('clock', 'w', encoding='ascii').close()
    with open('proc/fs/control', 'w', encoding='ascii') as f:
        f.write('stop\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
    # an interval may have begun before
    for _ in range(3):
        seen.append(json.loads(process.stdout.readline()))
    is_equal('note', seen[-1]['note'], 'stopped by somebody else: fs')
    append('fs', [{**soon(0), 'seq': 1}])
    seen += [json.loads(process.stdout.readline()) for _ in range(2)]
    seen += end_live(process)
    is_equal('operations', sum(d['total']['operations'] for d in seen), 2)
    assert min(d['begin_ns'] for d in seen) < seen[0]['begin_ns'] - 3000 * S, 'the clock was not set back'
    for d in seen:
        assert 0 < d['duration_s'] < 600, d['duration_s']


def vms():
    """A QEMU that waits, with one drive; what other processes do has no row."""
    idle()
    image = os.getcwd() + '/disk.img'
    with open(image, 'wb') as f:
        f.truncate(MIB)
    stream('proc/paths', [f'id=1 inode=5 text={image}\n', 'id=2 inode=6 text=/etc/hosts\n'], 'layout=2')
    with subprocess.Popen(['qemu-system-x86_64', '-name', 'web', '-machine', 'none', '-nodefaults', '-display', 'none', '-S',
                           '-drive', f'if=none,id=disk0,file={image},format=raw']) as qemu:
        try:
            process, _ = start_live('--by=vm')
            append('fs', [{**soon(0), 'seq': i, 'pid': pid, 'path': path}
                          for i, (pid, path) in enumerate(((qemu.pid, 1), (qemu.pid, 2), (1, 1)))])
            seen = [json.loads(process.stdout.readline()) for _ in range(2)]
            found = [row for d in seen + end_live(process) for row in d['rows']]
        finally:
            qemu.kill()
    is_equal('rows', sorted((row['vm'], row['drive'], row['operations']) for row in found),
             [('web', '', 1), ('web disk0', 'disk0', 1)])


def mistakes():
    few()
    for options, status, line in (
            (['--at=+1'], 2, '--at goes with a trace'),
            (['--at=noon', 't'], 2, '--at=noon: say a time in UTC'),
            (['--sample=2', 't'], 2, '--sample goes without a trace'),
            (['--by=vm', '--once', 't'], 1, 't: a trace does not say which VMs there are'),
            (['--once', 'none'], 1, 'none'),
            (['t', 'u'], 2, 'one trace at a time'),
            (['--cpu-limit=0'], 2, '--cpu-limit=0: say percent of a processor, from 0.001 to 100'),
            (['--cpu-limit=nan'], 2, '--cpu-limit=nan: '),
            (['--cpu-limit=3%'], 2, '--cpu-limit=3%: '),
            (['--cpu-limit=3', '--sample=2'], 2, '--cpu-limit goes without --sample'),
            (['--cpu-limit=3', '--once'], 2, '--cpu-limit goes without --once'),
            (['--cpu-limit=3', 't'], 2, '--cpu-limit goes without a trace'),
            (['--once', '--filter=op=REED'], 2, '--filter=op: '),
            (['--interval=0', 't'], 2, '--interval'),
            (['--by=color', 't'], 2, 'color')):
        done = top(*options, status=status)
        is_equal('output', done.stdout, '')
        assert line in done.stderr.splitlines()[0], (options, done.stderr)
    # the module is not there, or nobody may read it
    env = {**os.environ, 'IOTRACER_PROC': os.getcwd() + '/nothing'}
    done = top('--once', status=3, env=env)
    is_equal('lines', len(done.stderr.splitlines()), 1)
    if os.getuid() == 0:
        done = run('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'iotracer', 'top', '--once', status=4)
        is_equal('lines', len(done.stderr.splitlines()), 1)


# --- the screen ---------------------------------------------------------------------

class Screen:
    """iotracer top on a terminal of tmux, which shows its exit status in the end."""

    nr = 0

    def __init__(self, *options, width=80, height=24, env=('LC_ALL=C.UTF-8',), term='screen-256color'):
        Screen.nr += 1
        self.socket = ['tmux', '-S', f'{os.getcwd()}/tmux{Screen.nr}', '-f', '/dev/null']
        command = 'trap : INT; ' + shlex.join(['env', *env, 'iotracer', 'top', *options]) + '; echo status $?; stty -a; exec sleep 1000'
        self.tmux('set-option', '-g', 'default-terminal', term, ';', 'new-session', '-d', '-x', str(width), '-y',
                  str(height), '-s', 't', 'sh', '-c', command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux('kill-server')

    def tmux(self, *words):
        return run(*self.socket, *words).stdout

    def text(self, *options):
        return self.tmux('capture-pane', '-p', '-t', 't', *options)

    def keys(self, *keys):
        self.tmux('send-keys', '-t', 't', *keys)

    def wait(self, *texts, absent=(), options=()):
        """The screen, as soon as it has these texts."""
        for _ in range(600):
            found = self.text(*options)
            if all(text in found for text in texts) and not any(text in found for text in absent):
                return found
            time.sleep(0.1)
        raise AssertionError((texts, absent, found))

    def pid(self):
        shell = int(self.tmux('display-message', '-p', '-t', 't', '#{pane_pid}'))
        return int(run('pgrep', '-P', str(shell), 'iotracer').stdout)


def screen(*options, **more):
    """One that stands still at a trace's interval of an hour."""
    return Screen('--at=+9', '--interval=1h', 't', *options, **more)


def keys():
    few()
    with screen() as s:
        s.wait('files of fs', '/srv/db', '/srv/log/app', '1 of 2: /srv/log/app', 'END OF TRACE')
        s.keys('>', '>')    # from bytes by write to p50
        s.wait('1 of 2: /srv/db')
        s.keys('r')
        s.wait('1 of 2: /srv/log/app')
        s.keys('Down')
        s.wait('2 of 2: /srv/db')
        s.keys('/', 'l', 'o', 'g')
        s.wait('show rows with: log_', '1 of 1', absent=['/srv/db'])
        s.keys('Enter')
        s.wait('filter "log"', '? help')
        s.keys('Escape')
        s.wait('/srv/db', absent=['filter "log"'])
        s.keys('3')
        s.wait('processes of fs', '7 p7', '8 p8')
        s.keys('Enter')
        s.wait('process 8', 'p8/8 /srv/log/app', 'ENOENT', 'WRITE', '1.00MiB', 'Esc back')
        s.keys('Escape')
        s.wait('processes of fs', '1 of 2')
        s.keys('Tab')
        s.wait('cgroups of fs')
        s.keys('7')     # not of a trace: the view stays
        s.wait('cgroups of fs', 'a trace does not say which VMs there are')
        s.keys('?')
        s.wait('keys and columns', 'freeze the picture')
        s.keys('Escape', 'Space')
        s.wait('FROZEN', 'cgroups of fs')
        s.keys('p')
        s.wait('cgroups of fs', absent=['FROZEN'])
        s.keys('q')
        s.wait('status 0', ' icanon ', ' echo ')


def resize():
    few()
    with screen() as s:
        s.wait('1 of 2')
        for width, height in (120, 40), (40, 10), (80, 3), (5, 2), (1, 1), (300, 60), (80, 24):
            s.tmux('resize-window', '-t', 't', '-x', str(width), '-y', str(height))
            s.keys('Enter', 'Escape')
        text = s.wait('1 of 2: /srv/log/app', '? help')
        is_equal('lines', len(text.splitlines()), 24)
        s.keys('q')
        s.wait('status 0')


def colors():
    make('t', ['/srv/d\u00e4t\u6f22'], fs=[call('READ', 0, 200000, 4096), call('READ', 0, 1, 9000, path=0)],
         block=[request('READ', 0, 9, 9)])
    for env, term, colored, plain in ((['LC_ALL=C.UTF-8'], 'screen-256color', True, False),
                                      (['LC_ALL=C.UTF-8'], 'screen', True, False),
                                      (['LC_ALL=C.UTF-8', 'NO_COLOR=1'], 'screen-256color', False, False),
                                      (['LC_ALL=C'], 'screen-256color', True, True)):
        with screen(env=env, term=term) as s:
            s.wait('1 of 2', '100.0')
            text = s.text('-e')
            is_equal('red', '\033[31m' in text, colored)
            is_equal('chosen', bool(re.search(r'\033\[(\d+;)*7m', text)), True)
            is_equal('ASCII', text.isascii(), plain)
            if not plain:
                assert '/srv/d\u00e4t\u6f22' in text and '\u2588' in text, text
            s.keys('q')
            s.wait('status 0')
    with screen(term='vt100') as s:
        s.wait('1 of 2')
        is_equal('no colour', '\033[31m' in s.text('-e'), False)
        s.keys('q')
        s.wait('status 0')
    with screen(env=['TERM=nonsense']) as s:
        s.wait('the terminal "nonsense" is not known', 'status 1')


def nothing_yet():
    idle()
    with Screen('--interval=1h') as s:
        s.wait('nothing is measured yet: the first interval, of 1.00h, is not over', '? help', '1 files')
        s.keys('?')
        s.wait('keys and columns')
        s.keys('Escape', 'Enter', 'Down', '<', 'r', 'Space')
        s.wait('FROZEN', absent=['keys and columns'])
        s.keys('q')
        s.wait('status 0')


def ends():
    few()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV:
        with screen() as s:
            s.wait('1 of 2')
            os.kill(s.pid(), number)
            text = s.wait(f'status {128 + number}', ' icanon ', ' echo ')
            assert 'END OF TRACE' not in text, text
    idle()
    with Screen('--interval=0.1') as s:
        s.wait('nothing happened in this interval')
        s.keys('C-c')
        s.wait('status 130', ' icanon ')
    for category in 'fs', 'block', 'cache':
        is_equal('restored', control(category).splitlines()[-5:],
                 ['stop', 'size 16384', 'sample 1', 'mode overwrite', 'filter none'])


if __name__ == '__main__':
    # A suite that runs in the background ignores it, and so would what it starts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    globals()[sys.argv[1]](*sys.argv[2:])
