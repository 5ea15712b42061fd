# SPDX-License-Identifier: GPL-2.0
"""
What histogram.bats runs: iotracer histogram of traces whose events are known. A trace begins at 1 s of
the monotonic clock and lasts 999 s.
"""
import csv
import fcntl
import io
import json
import os
import pty
import random
import sqlite3
import struct
import subprocess
import sys
import termios
from collections import Counter

from join import S, is_equal, run
from lib.svg import Picture
from stats import change, event, exported, few, make

FILE, PIPE = 1, 4
EARLY = 1 << 25
DISK = 0x800000


def histogram(of, *options, status=0, **more):
    return run('iotracer', 'histogram', '--of', of, *options, status=status, **more)


def rows(of, *options):
    text = histogram(of, '-f', 'csv', *options).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def bounds(found):
    """[from, to) of each row: count. '' is a bound that it does not have."""
    def column(row, name):
        value, = (v for k, v in row.items() if k.startswith(name))
        return int(value) if value else ''
    counts = Counter()
    for row in found:
        counts[column(row, 'from_'), column(row, 'to_')] += int(row['count'])
    return dict(counts)


def log(values):
    """The same of powers of two."""
    return dict(Counter((1 << v.bit_length() >> 1, 1 << v.bit_length()) for v in values))


def linear(values, size, first=0):
    starts = (first + (v - first) // size * size for v in values)
    return dict(Counter((start, start + size) for start in starts))


def access(op, time, offset, size, latency=10, inode=5, **more):
    """A read or write of a file that moved bytes."""
    return event(op, time, latency, size, offset=offset, inode=inode, device=DISK + 1, kind=FILE, **more)


def request(op, time, latency=1000, sector=0, size=4096, depth=1, **more):
    return {'op': op, 'time': time, 'latency': latency, 'sector': sector, 'requested': size, 'result': size,
            'depth': depth, 'device': DISK, 'pid': 7, 'comm': 'fio', 'disk': 'sda', **more}


# --- the tests ----------------------------------------------------------------------

def by_hand():
    few()
    is_equal('CSV', histogram('latency', '-f', 'csv', '--by', 'op', 'few').stdout.splitlines(), [
        'category,op,others,from_ns,to_ns,count,share_percent,lost,missed,unreadable,sampled',
        'fs,READ,0,512,1024,1,25.000,0,0,0,0', 'fs,READ,0,1024,2048,1,25.000,0,0,0,0',
        'fs,READ,0,2048,4096,1,25.000,0,0,0,0', 'fs,READ,0,4294967296,8589934592,1,25.000,0,0,0,0',
        'fs,OPEN,0,256,512,1,33.333,0,0,0,0', 'fs,OPEN,0,512,1024,2,66.667,0,0,0,0',
        'fs,FSYNC,0,4096,8192,1,100.000,0,0,0,0', 'fs,WRITE,0,2048,4096,1,100.000,0,0,0,0'])
    # 4096, 100 and 0 bytes were read, 8192 written
    document = json.loads(histogram('size', '-f', 'json', '--bucket', '1K', '--by', 'op', '--range', '..8K', 'few').stdout,
                          parse_float=lambda text: round(float(text), 6))
    is_equal('JSON', document, {'trace': 'few', 'categories': [{
        'category': 'fs', 'of': 'size', 'unit': 'bytes', 'scale': 'linear', 'bucket_bytes': 1024, 'count': 4, 'records': 9,
        'sampled': 0, 'lost': 0, 'missed': 0, 'unreadable': 0, 'histograms': [
            {'op': 'READ', 'others': 0, 'count': 3, 'below': 0, 'above': 0, 'buckets': [
                {'from_bytes': 0, 'to_bytes': 1024, 'count': 2, 'share_percent': 66.666667},
                {'from_bytes': 4096, 'to_bytes': 5120, 'count': 1, 'share_percent': 33.333333}]},
            {'op': 'WRITE', 'others': 0, 'count': 1, 'below': 0, 'above': 1, 'buckets': []}]}]})
    is_equal('text', histogram('size', '--by', 'op', '--bucket', '512', '--range', '64..8K', 'few',
                               env={**os.environ, 'LC_ALL': 'C'}).stdout.splitlines(), [
        'fs: size, 4 values', '',
        'READ: 3 values',
        '     FROM        TO    COUNT   SHARE',
        '    below       64B        1   33.3%',
        '      64B      576B        1   33.3% ' + 43 * '#',
        '      ...',
        '  3.56KiB   4.06KiB        1   33.3% ' + 43 * '#', '',
        'WRITE: 1 value',
        '     FROM        TO    COUNT   SHARE',
        '  8.00KiB     above        1  100.0%'])
    is_equal('nothing', histogram('offset', 'few').stdout, 'fs: offset, 0 values\n')


def values():
    at = {'time': 2 * S, 'latency': 7}
    make('t', ['/a'], fs=[access('READ', 2 * S, 4096, 512), access('WRITE', 2 * S, 8192, 0), event('OPEN', 2 * S, 7, 3, offset=1),
                          access('READ', 2 * S, 0, 100) | {'kind': PIPE}, access('READ', 2 * S, 1024, -5)],
         block=[request(0, 2 * S, sector=100, depth=3, inode=9, offset=4096), request(2, 2 * S, sector=0, size=0, depth=4),
                request(3, 2 * S, sector=200, depth=5), request(1, 2 * S, sector=300, depth=0, flags=EARLY, latency=0)],
         net=[{'op': 0, **at, 'result': 10, 'moved': 10}], cache=[{'op': 8, **at, 'latency': 0, 'pages': 3, 'offset': 8192}],
         fault=[{'op': 0, **at, 'offset': 12345, 'pages': 1}])
    found = {of: {(row['category'], next(v for k, v in row.items() if k.startswith('from_')), row['count'])
                  for row in rows(of, '--scale', 'linear', '--bucket', '1', 't')}
             for of in ('latency', 'size', 'queue-depth', 'lba', 'offset')}
    is_equal('latency', found['latency'], {('fs', '10', '4'), ('fs', '7', '1'), ('block', '1000', '3'), ('block', '0', '1'),
                                           ('net', '7', '1'), ('fault', '7', '1')})
    is_equal('size', found['size'], {('fs', '512', '1'), ('fs', '0', '1'), ('fs', '100', '1'), ('block', '4096', '2'),
                                     ('net', '10', '1'), ('cache', '12288', '1'), ('fault', '4096', '1')})
    is_equal('queue-depth', found['queue-depth'], {('block', '3', '1'), ('block', '4', '1'), ('block', '5', '1')})
    is_equal('lba', found['lba'], {('block', '100', '1'), ('block', '200', '1'), ('block', '300', '1')})
    is_equal('offset', found['offset'], {('fs', '4096', '1'), ('block', '4096', '1'), ('cache', '8192', '1'), ('fault', '12345', '1')})


def any_requests(rng, nr):
    for i in range(nr):
        yield request(rng.randrange(2), 2 * S + i * 100000 + rng.randrange(100000), int(rng.lognormvariate(11, 2)),
                      rng.randrange(1 << 30), 512 * rng.randrange(1, 2048), rng.randrange(1, 33), pid=rng.randrange(5))


# The column of the exported rows that has a value.
COLUMNS = {'latency': 'latency_ns', 'size': 'result', 'queue-depth': 'depth', 'lba': 'sector'}


def buckets():
    make('t', block=list(any_requests(random.Random(1), 5000)))
    table = exported('t', 'block')
    base = sqlite3.connect(':memory:')
    base.execute('create table t (%s)' % ', '.join(f'{of.replace("-", "_")} integer' for of in COLUMNS))
    base.executemany('insert into t values (?, ?, ?, ?)', [[row[column] for column in COLUMNS.values()] for row in table])
    for of, size in ('latency', 5000), ('size', 3000), ('queue-depth', 1), ('queue-depth', 4), ('lba', 1 << 24):
        column = of.replace('-', '_')
        expected = base.execute(f'select {column} / {size} * {size}, count(*) from t group by 1 order by 1').fetchall()
        assert len(expected) > 5, (of, expected)
        is_equal(of, [(start, n) for (start, _), n in bounds(rows(of, '--bucket', str(size), 't')).items()], expected)
        is_equal(f'{of}, log', bounds(rows(of, '--scale', 'log', 't')),
                 dict(sorted(log(n for n, in base.execute(f'select {column} from t')).items())))


def ranges():
    rng = random.Random(2)
    events = list(any_requests(rng, 2000))
    make('t', block=events)
    for of, column in ('lba', 'sector'), ('size', 'requested'), ('latency', 'latency'):
        every = [e[column] for e in events]
        for _ in range(6):
            first, end = sorted(rng.sample(every, 2))
            inside = [v for v in every if first <= v < end]
            beside = {('', first): sum(v < first for v in every), (end, ''): sum(v >= end for v in every)}
            beside = {k: n for k, n in beside.items() if n}
            size = rng.randrange(1 + (end - first) // 50, end - first + 10)
            cut = Counter()
            for (a, b), n in linear(inside, size, first).items():
                cut[a, min(b, end)] += n
            limits = '--range', f'{first}..{end}'
            is_equal(f'{of} {limits}', bounds(rows(of, '--bucket', str(size), *limits, 't')), beside | cut)
            cut = Counter()
            for (a, b), n in log(inside).items():
                cut[max(a, first), min(b, end)] += n
            is_equal(f'{of} {limits}, log', bounds(rows(of, '--scale', 'log', *limits, 't')), beside | cut)
            entry, = json.loads(histogram(of, *limits, '-f', 'json', 't').stdout)['categories'][0]['histograms']
            is_equal('JSON', [entry['below'], entry['above'], sum(b['count'] for b in entry['buckets'])],
                     [sum(v < first for v in every), sum(v >= end for v in every), len(inside)])
    # one end may be left out
    is_equal('from', sum(n for (a, _), n in bounds(rows('size', '--range', '64K..', 't')).items() if a != ''),
             sum(e['requested'] >= 65536 for e in events))
    is_equal('to', bounds(rows('size', '--range', '..64K', 't'))[65536, ''], sum(e['requested'] >= 65536 for e in events))


def sizes():
    """The same whatever the order of values is, and whatever the other keys have."""
    rng = random.Random(3)
    for most in 1, 31, 32, 33, 1000, 1 << 40:
        every = [rng.randrange(most + 1) for _ in range(300)] + [most]
        rng.shuffle(every)
        make('t', block=[request(0, (2 + i) * S, sector=v, pid=i % 3) for i, v in enumerate(every)])
        size = 1
        while most // size >= 32:
            size *= 2
        is_equal(f'up to {most}', bounds(rows('lba', 't')), linear(sorted(every), size))
        is_equal('by key', bounds(rows('lba', '--by', 'process', 't')), linear(sorted(every), size))


def interarrival():
    """They began at 2, 3, 5 and 9 s; the second ended last."""
    make('t', fs=[event('READ', 2 * S, 5), event('READ', 3 * S, 50 * S), event('WRITE', 5 * S, 5), event('READ', 9 * S, 5)],
         drop=[{'op': 0, 'time': (2 + i) * S, 'latency': 0, 'size': 60} for i in range(3)])
    found = rows('interarrival', '--bucket', '1s', 't')
    is_equal('fs', bounds(row for row in found if row['category'] == 'fs'), {(S, 2 * S): 1, (2 * S, 3 * S): 1, (4 * S, 5 * S): 1})
    is_equal('drop', bounds(row for row in found if row['category'] == 'drop'), {(S, 2 * S): 2})
    is_equal('by op', [(row['op'], row['from_ns'], row['count']) for row in
                       rows('interarrival', '-c', 'fs', '--bucket', '1s', '--by', 'op', 't')],
             [('READ', str(S), '1'), ('READ', str(6 * S), '1')])


def runs():
    make('t', fs=[access('READ', 2 * S, 0, 100), access('READ', 3 * S, 100, 50, latency=20 * S), access('READ', 4 * S, 150, 25),
                  access('WRITE', 5 * S, 175, 1000),                # another kind
                  access('READ', 6 * S, 175, 5, inode=6),           # another file
                  access('READ', 7 * S, 175, 2, pid=8),             # goes on
                  access('READ', 8 * S, 170, 3),                    # not where the one before ended
                  access('READ', 9 * S, 500, 0), access('READ', 9 * S, 173, -5), event('FSYNC', 9 * S, 1)],
         # as a queue of a disk completes them: the second is done first
         block=[request(0, 2 * S, 9000, 0, 4096), request(0, 2 * S + 10, 100, 8, 8192), request(0, 2 * S + 20, 200, 24, 512),
                request(0, 2 * S + 20, 100, 25, 512), request(1, 2 * S + 30, 100, 26, 512), request(3, 2 * S + 40, 100, 26, 512),
                request(0, 2 * S + 50, 100, 26, 512, device=DISK + 1), request(0, 2 * S + 60, 100, 27, 512)])
    found = rows('run-length', '--bucket', '1', 't')
    is_equal('fs', sorted(int(row['from_bytes']) for row in found if row['category'] == 'fs'), [3, 5, 177, 1000])
    is_equal('block', bounds(row for row in found if row['category'] == 'block'), {(13312, 13313): 1, (512, 513): 3})
    is_equal('by process', sorted(int(row['from_bytes']) for row in
                                  rows('run-length', '-c', 'fs', '--bucket', '1', '--by', 'process', 't')),
             [2, 3, 5, 175, 1000])


def ordered():
    """Of accesses that began in any order."""
    rng = random.Random(5)
    ends = {}
    events = []
    for i in range(6000):
        owner = rng.randrange(4), rng.choice(('READ', 'WRITE'))
        start = ends.get(owner, 0) if rng.random() < 0.8 else 4096 * rng.randrange(1000)
        ends[owner] = start + 512 * rng.randrange(1, 9)
        events.append(access(owner[1], 2 * S + i * 1000, start, ends[owner] - start, rng.choice((10, 10**5, 10**9)), 5 + owner[0]))
    make('t', fs=events)
    gaps = [b['time'] - a['time'] for a, b in zip(events, events[1:])]
    is_equal('gaps', bounds(rows('interarrival', 't')), log(gaps))
    lengths, last = [], {}
    for e in events:
        end, so_far = last.get((e['inode'], e['op']), (None, 0))
        if e['offset'] != end:
            lengths.append(so_far)
            so_far = 0
        last[e['inode'], e['op']] = e['offset'] + e['result'], so_far + e['result']
    lengths = [n for n in lengths + [n for _, n in last.values()] if n]
    assert max(lengths) > 20000, lengths
    is_equal('runs', bounds(rows('run-length', '--bucket', '512', 't')), linear(lengths, 512))


def keys():
    rng = random.Random(6)
    events = [event('READ', (2 + i % 900) * S, int(rng.lognormvariate(10, 2)), 1, pid=int(rng.expovariate(1 / 9)), path=i % 3)
              for i in range(2000)]
    make('t', ['/srv/a', '/srv/b'], fs=events)
    every = bounds(rows('latency', 't'))
    totals = Counter(e['pid'] for e in events)
    order = sorted(totals, key=lambda pid: (-totals[pid], str(pid)))
    for top in 1, 5, len(totals), 0:
        found = rows('latency', '--by', 'process', '--top', str(top), 't')
        is_equal('sums', bounds(found), every)
        is_equal('rows', len({(row['process'], row['from_ns']) for row in found}), len(found))
        shown = list(dict.fromkeys(row['process'] for row in found))
        is_equal('keys', shown, [str(pid) for pid in order[:top or None]] + [''] * (0 < top < len(totals)))
        is_equal('others', {row['others'] for row in found if not row['process']},
                 {str(len(totals) - top)} if 0 < top < len(totals) else set())
    is_equal('commands', {row['command'] for row in rows('latency', '--by', 'process', '--top', '1', 't')}, {'fio', ''})
    first = str(order[0])
    is_equal('filter', bounds(row for row in rows('latency', '--by', 'process', 't') if row['process'] == first),
             bounds(rows('latency', '--filter', f'pid={first}', 't')))
    is_equal('files', {row['file'] for row in rows('latency', '--by', 'file', 't')}, {'/srv/a', '/srv/b', ''})
    is_equal('two', {(row['file'], row['op']) for row in rows('latency', '--by', 'file,op', 't')},
             {('/srv/a', 'READ'), ('/srv/b', 'READ'), ('', 'READ')})
    text = histogram('latency', '--by', 'process', '--top', '5', 't').stdout
    assert f'\n{len(totals) - 5} others: ' in text and f'\n{first} fio: ' in text, text


def heat():
    rng = random.Random(7)
    events = [event('READ', rng.randrange(S // 2, 900 * S), int(rng.lognormvariate(10, 2)), 1) for _ in range(3000)]
    events.append(event('READ', S - 1, 5, 1))
    make('t', fs=events)
    every = bounds(rows('latency', 't'))
    for interval in '20', '0.5', None:
        found = rows('latency', '--heat', *(('--interval', interval) if interval else ()), 't')
        is_equal('sums', bounds(found), every)
        # 999 s: the shortest of 1, 2, 5, 10, 20 ... with which there are 56 columns at most
        size = int(float(interval or '20') * S)
        expected = Counter(((e['time'] - S) // size * size / S if e['time'] >= S else '', 1 << e['latency'].bit_length() >> 1)
                           for e in events)
        is_equal(f'matrix of {interval}', {(float(row['since_s']) if row['since_s'] else '', int(row['from_ns'])): int(row['count'])
                                          for row in found}, dict(expected))
        entry, = json.loads(histogram('latency', '--heat', '-f', 'json', *(('--interval', interval) if interval else ()), 't')
                            .stdout)['categories'][0]['histograms']
        is_equal('JSON', {('' if b['since_s'] is None else b['since_s'], b['from_ns']): b['count'] for b in entry['buckets']},
                 dict(expected))
    # of a part of the time, since the trace began: 300 s are 56 columns of 10 s
    found = rows('latency', '--heat', '--from', '+100', '--to', '+400', 't')
    is_equal('part', {(float(row['since_s']), int(row['from_ns'])): int(row['count']) for row in found},
             dict(Counter(((e['time'] - S) // (10 * S) * 10, 1 << e['latency'].bit_length() >> 1)
                          for e in events if 101 * S <= e['time'] < 401 * S)))
    # the recorder was killed, so that nobody knows how long it was: 1 ms, doubled until 900 s fit
    change('t', killed=True)
    found = rows('latency', '--heat', '--partial', 't')
    size = 1000000
    while (max(e['time'] for e in events) - S) // size >= 56:
        size *= 2
    is_equal('doubled', {row['since_s'] for row in found if row['since_s']},
             {f"{(e['time'] - S) // size * size / S:.9f}" for e in events if e['time'] >= S})


def make_heat():
    """Columns of 20 s: 1 value in the first, 4 in the second, 16 in the last of them; 300 in one bucket."""
    make('t', fs=[event('READ', 2 * S, 1000, 1)] + 4 * [event('READ', 22 * S, 2000, 1)] + 16 * [event('READ', 1001 * S, 2000, 1)] +
         300 * [event('READ', 42 * S, 10, 1)] + [event('READ', S // 2, 10, 1)])


def heat_lines(legend, one, four, sixteen, many):
    """The text of that."""
    return ['fs: latency by time, 322 values',
            'a column is 20.0s; characters stand for so many values, or more:', legend, '',
            '  1.02us| ' + four + 48 * ' ' + sixteen + 5 * ' ' + '|',
            '   512ns|' + one + 55 * ' ' + '|',
            '     ...|' + 56 * ' ' + '|',
            '     8ns|  ' + many + 53 * ' ' + '|',
            '         +0s                                               +1120s',
            'before the first column: 1 value']


def heat_text():
    make_heat()

    def shown(**more):
        return histogram('latency', '--heat', *more.pop('options', ()), 't', env={**os.environ, **more}).stdout.splitlines()
    is_equal('ASCII', shown(LC_ALL='C'), heat_lines('  . 1 : 4 - 16 = 64 + 256', '.', ':', '-', '+'))
    blocks = heat_lines('  ░ 1 ▒ 8 ▓ 64', '░', '░', '▒', '▓')
    is_equal('UTF-8', shown(), blocks)
    panels = [line for line in histogram('latency', '--heat', '--interval', '10', 't').stdout.splitlines() if line.startswith('    ')]
    is_equal('panels', [line.split() for line in panels if '|' not in line], [['+0s', '+560s'], ['+560s', '+1120s']])
    is_equal('nothing', histogram('latency', '--heat', '--filter', 'pid=4242', 't').stdout, 'fs: latency by time, 0 values\n')
    # eight colours, and the shades below them; not without leave, and not if the terminal has no palette
    def cell(color, shade):
        return f'\033[38;5;{color};48;5;{color}m{shade}\033[0m'
    colors = cell(54, '░'), cell(61, '░'), cell(31, '▒'), cell(77, '▓')
    legend = '  ' + ' '.join(f'{c} {n}' for c, n in zip((*colors[:3], cell(36, '▒'), colors[3]), (1, 4, 16, 64, 256)))
    found = shown(TERM='xterm-256color', options=['--color=always'])
    is_equal('colours', [found[0].replace('\033[1m', '').replace('\033[0m', ''), *found[1:]], heat_lines(legend, *colors))
    for more in {'TERM': 'xterm-256color'}, {'TERM': 'vt100', 'options': ['--color=always']}, {
            'TERM': 'xterm-256color', 'options': ['--color=never']}, {'COLORTERM': 'truecolor', 'TERM': 'dumb'}:
        is_equal(str(more), shown(**{'NO_COLOR': '1', **more})[2:], blocks[2:])


def on_terminal(columns, *argv, **more):
    """What a program shows on a terminal that is so wide, without its colours."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('4H', 40, columns, 0, 0))
    env = {**os.environ, 'NO_COLOR': '1', **more}
    with subprocess.Popen(argv, stdout=its, env=env) as process:
        os.close(its)
        shown = b''
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        assert process.wait() == 0
    return shown.decode().replace('\r\n', '\n')


def terminals():
    """Bars and maps take the width of a wide terminal, and that of a page on a narrow one and in a pipe."""
    make('t', fs=[event('READ', (2 + i) * S, 1000, 1) for i in range(900)])

    def widest(*options, **more):
        text = on_terminal(more.pop('columns'), 'iotracer', 'histogram', '--of=latency', *options, 't', **more)
        return max(map(len, text.splitlines()))
    for columns, expected in (60, 80), (80, 80), (120, 120):
        is_equal(f'bars of {columns}', widest(columns=columns), expected)
        # 8 for the label, bars to both sides of 56 columns and of those that a wider terminal has
        is_equal(f'map of {columns}', widest('--heat', columns=columns), 66 + expected - 80)
    is_equal('COLUMNS', widest(columns=200, COLUMNS='100'), 100)
    is_equal('too wide', widest(columns=200, COLUMNS='123456789'), 80)
    is_equal('a bar has an end', widest(columns=500), 37 + 120)
    is_equal('a map, too', widest('--heat', columns=500), 10 + 256)
    is_equal('pipe', max(map(len, histogram('latency', 't', env={**os.environ, 'COLUMNS': '200'}).stdout.splitlines())), 80)


def drawn(*options):
    """The picture, and the histograms of JSON with the same options."""
    is_equal('output', histogram(*options, '-o', 'x.svg', 't').stdout, '')
    documents = json.loads(histogram(*options, '-f', 'json', 't').stdout)['categories']
    return Picture('x.svg'), documents


def shown(number):
    return f'{float(number):.15g}'


def bars_of_picture():
    rng = random.Random(11)
    names = ['/<b>&"\'--></svg>', '/x\033[31m\\n', '/ü\uffff\ufffe', '/' + 'long/' * 60 + 'end', '/srv/]]>']
    make('t', names, fs=[access(rng.choice(('READ', 'WRITE')), (2 + i) * S, 0, 10, int(rng.lognormvariate(10, 3)), path=i % 6,
                                sample=rng.choice((1, 2**32 - 1))) for i in range(300)],
         block=[request(0, 2 * S, 5, v) for v in (0, 1, 2**63, 2**64 - 1)])
    for options in (['latency', '--by', 'file'], ['lba'], ['lba', '--scale', 'log'], ['latency', '--range', '10us..1ms', '--by', 'op'],
                    ['latency', '--bucket', '10us', '--range', '..1ms']):
        picture, documents = drawn(*options)
        unit = documents[0]['unit']
        # 0 is 2^64, which no integer of JSON is; a real number has 15 digits there
        expected = [(shown(b[f'from_{unit}']), shown(b[f'to_{unit}'] or 0), b['count'])
                    for category in documents for one in category['histograms'] for b in one['buckets']]
        marks = list(picture.marks('count'))
        is_equal(f'{options}', [(shown(m['from']), shown(m['to']), int(m['count'])) for m in marks], expected)
        assert expected, options
    # bars stand on the axis, and are as high as their counts are
    make('t', fs=4 * [event('READ', 2 * S, 1000, 1)] + 2 * [event('READ', 2 * S, 5000, 1)] + [event('READ', 3 * S, 20, 1)])
    picture, _ = drawn('latency')
    low, high, middle = picture.marks('count')
    is_equal('feet', {m['y'] + m['height'] for m in (low, high, middle)}, {low['y'] + low['height']})
    is_equal('heights', [round(m['height'] / low['height'], 6) for m in (low, high, middle)], [1, 4, 2])
    assert low['x'] + low['width'] <= high['x'] < middle['x'], (low, high, middle)
    is_equal('titles', picture.titles()[0], 'latency')
    is_equal('tooltips', picture.titles()[1:], ['16ns to 32ns: 1', '512ns to 1.02us: 4', '4.10us to 8.19us: 2'])
    assert {'fs: latency, 7 values', 'latency', 'values', '0', '4', '1 µs', '100 ns'} <= set(picture.texts()), picture.texts()


def names_in_picture():
    """No name is markup, and none has what XML forbids; the text is there."""
    names = ['/<b>&"--></svg>', '/x\033[31m', '/a\uffffb', '/ok']
    make('t', names, fs=[access('READ', 2 * S, 0, 10, path=1 + i) for i in range(4)])
    picture, _ = drawn('latency', '--by', 'file')
    is_equal('names', {text for text in picture.texts() if text.startswith('/')},
             {'/<b>&"--></svg>', '/x\\033[31m', '/a\ufffdb', '/ok'})
    os.rename('t', '<t>&')
    histogram('latency', '-o', 'x.svg', '<t>&')
    assert '&lt;t&gt;&amp;' in Picture('x.svg').source


def heat_of_picture():
    rng = random.Random(12)
    make('t', fs=[event('READ', rng.randrange(S // 2, 900 * S), int(rng.lognormvariate(10, 2)), 1) for _ in range(2000)] +
         [event('READ', S // 2, 20000, 1)])
    for options in ['latency', '--heat'], ['latency', '--heat', '--interval', '50', '--range', '1us..1ms']:
        picture, (category,) = drawn(*options)
        one, = category['histograms']
        expected = [(b['since_s'], float(b['from_ns']), b['count']) for b in one['buckets'] if b['since_s'] is not None]
        is_equal('cells', [(float(m['since-s']), float(m['from']), int(m['count'])) for m in picture.marks('count')], expected)
        before = sum(b['count'] for b in one['buckets'] if b['since_s'] is None)
        assert any(text.endswith(f'{before} before the first column') for text in picture.texts()), picture.texts()
    # what is later is to the right, what is slower above
    make_heat()
    picture, _ = drawn('latency', '--heat')
    cells = {(float(m['since-s']), int(m['from'])): m for m in picture.marks('count')}
    assert cells[0, 512]['x'] < cells[20, 1024]['x'] < cells[40, 8]['x'] < cells[1000, 1024]['x'], cells
    assert cells[20, 1024]['y'] < cells[0, 512]['y'] < cells[40, 8]['y'], cells
    is_equal('shades', [text for text in picture.texts() if text.startswith('≥')], ['≥ 1', '≥ 4', '≥ 16', '≥ 64', '≥ 256'])


def picture_files():
    """What a picture may replace, and what it may not."""
    few()

    def fails(name, part, status=1, options=()):
        done = run('iotracer', 'histogram', '--of=latency', '-o', name, *options, 'few', status=status)
        lines = [line for line in done.stderr.splitlines() if not line.startswith('Try ') and line != 'information.']
        assert len(lines) == 1 and part in lines[0] and not done.stdout, (part, done)
    fails('x.png', 'say a name that ends in .svg', 2)
    fails('.svg', 'say a name that ends in .svg', 2)
    fails('x.svg', 'instead of --format=json', 2, ['-f', 'json'])
    fails('none/x.svg', 'No such file')
    os.mkdir('dir.svg')
    fails('dir.svg', 'File exists: it is no regular file')
    os.symlink('elsewhere', 'link.svg')
    fails('link.svg', 'File exists: it is no regular file')
    assert not os.path.exists('elsewhere')
    with open('x.svg', 'w', encoding='ascii') as old:
        old.write('old')
        os.link('x.svg', 'kept')
    histogram('latency', '-o', 'x.svg', 'few')
    assert Picture('x.svg').texts()
    is_equal('mode', os.stat('x.svg').st_mode & 0o7777, 0o600)
    # another name of what was there, and whoever has it open, see no change
    with open('kept', encoding='ascii') as kept:
        is_equal('old', kept.read(), 'old')
    is_equal('standard output', histogram('latency', '-o', '-', 'few').stdout, Picture('x.svg').source)
    with open('/dev/full', 'w', encoding='ascii') as full:
        done = subprocess.run(['iotracer', 'histogram', '--of=latency', '-o', '-', 'few'], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False)
    assert done.returncode == 1 and 'No space left' in done.stderr, done
    # nothing is left of one that failed, and what was there stays
    before = Picture('x.svg').source
    run('iotracer', 'histogram', '--of=lba', '-o', 'x.svg', 'few', status=1)
    is_equal('kept', Picture('x.svg').source, before)
    make('t', fs=[event('READ', 2 * S + i, i, 1) for i in range(65537)])
    done = run('iotracer', 'histogram', '--of=latency', '--bucket=1', '-o', 'y.svg', 't', status=1)
    assert 'y.svg: would show more than 65536 values' in done.stderr, done.stderr
    run('iotracer', 'histogram', '--of=latency', '--bucket=1', '--range=1..', '-o', 'z.svg', 't')
    is_equal('as many as there may be', len(list(Picture('z.svg').marks('count'))), 65536)
    is_equal('files', sorted(name for name in os.listdir() if 'svg' in name), ['dir.svg', 'link.svg', 'x.svg', 'z.svg'])


def sampled():
    make('t', fs=[access('READ', 2 * S, 0, 10, sample=8), access('READ', 3 * S, 10, 10, sample=1)])
    is_equal('scaled', [(row['count'], row['sampled']) for row in rows('latency', 't')], [('9', '1')])
    is_equal('notes', histogram('latency', 't').stdout.splitlines()[-2:],
             ['sampled 1: records that stand for several events each, and are', 'scaled: 2 records are counted as 9 events'])
    for of in 'interarrival', 'run-length':
        done = histogram(of, 't', status=1)
        is_equal(of, done.stdout, '')
        assert f'category fs is sampled: --of={of} needs all events' in done.stderr, done.stderr
        is_equal('part', len(rows(of, '--from', '+1.5', 't')), of == 'run-length')


def missing():
    events = [event('READ', (2 + i) * S, 5, 1) for i in range(6)]
    events[5].update(cpu=1, gap=5)  # the first of its CPU that was kept
    make('t', fs=events)
    change('t', missed=7)
    is_equal('CSV', [(row['count'], row['lost'], row['missed'], row['unreadable']) for row in rows('latency', 't')],
             [('6', '5', '7', '0')])
    for options in (), ('--heat',):
        is_equal('notes', histogram('latency', *options, 't').stdout.splitlines()[-2:],
                 ["lost 5: events overwritten or dropped before they were read",
                  "missed 7: calls that the kernel's hooks missed"])
    change('t', events=16)
    done = histogram('latency', 't', status=1)
    assert 'unreadable 10: events that are damaged or missing in the trace' in done.stdout, done.stdout
    category, = json.loads(histogram('latency', '-f', 'json', '--partial', 't').stdout)['categories']
    is_equal('JSON', [category[k] for k in ('count', 'lost', 'missed', 'unreadable')], [6, 5, 7, 10])


def width():
    names = ['/' + 'directory/' * 30 + f'{i}.db' for i in range(3)] + ['/' + 'ü' * 100, '/x\\033[31m', '/a,"b"']
    most = 2**32 - 1
    make('t', names, fs=[access('READ', (2 + i) * S, 2**63 - 2**(i % 63) - i, 2**31 - i, 10**(i % 16), path=i % 7, sample=most,
                                comm='=cmd()') for i in range(200)],
         block=[request(i % 2, (2 + i) * S, 2**(i % 63), 2**64 - 1 - 2**(i % 64), 4096, 2**32 - 1 - i) for i in range(100)])
    wide = set()
    for of in 'latency', 'size', 'lba', 'offset', 'queue-depth':
        for options in ([], ['--bucket', '3', '--range', '9223372036854770000..'], ['--scale', 'log'], ['--heat'],
                        ['--heat', '--by', 'file'], ['--by', 'file,command'], ['--range', '1..9000000000000000000', '--heat']):
            for line in histogram(of, *options, 't').stdout.splitlines():
                assert '\033' not in line, line
                wide.add((len(line), line))
    is_equal('widest', max(wide)[0], 80)
    assert any(line.startswith('...') and line.endswith('2.db: 4294967295 values') or line.startswith('...') for _, line in wide)
    found = {row['command'] for row in rows('latency', '-c', 'fs', '--by', 'command', 't')}
    is_equal('a formula', found, {'\\075cmd()'})


def extremes():
    make('t', fs=[event('READ', 2 * S, v, 1, sample=2**32 - 1) for v in (0, 1, 2**62)], block=[
        request(0, 2 * S, 5, v) for v in (0, 1, 2**63, 2**64 - 1)])
    is_equal('latency', bounds(rows('latency', '-c', 'fs', 't')),
             {(0, 1): 2**32 - 1, (1, 2): 2**32 - 1, (2**62, 2**63): 2**32 - 1})
    is_equal('log', bounds(rows('lba', '--scale', 'log', 't')), {(0, 1): 1, (1, 2): 1, (2**63, ''): 2})
    is_equal('linear', bounds(rows('lba', 't')), {(0, 2**59): 2, (2**63, 2**63 + 2**59): 1, (2**64 - 2**59, ''): 1})
    is_equal('one bucket', bounds(rows('lba', '--bucket', str(2**64 - 1), 't')), {(0, 2**64 - 1): 3, (2**64 - 1, ''): 1})
    is_equal('range', bounds(rows('lba', '--range', f'{2**63}..{2**64 - 1}', 't')),
             {('', 2**63): 2, (2**63, 2**63 + 1): 1, (2**64 - 1, ''): 1})
    assert histogram('lba', '-f', 'json', '--scale', 'log', 't').stdout.count('null') == 2
    # each bucket has one value: 2^20 of them are kept
    lines = (f'seq={i} time={2 * S + i} latency={i * 10} op=0 result=1 pid=7 comm=x\n' for i in range((1 << 20) + 1))
    with open('proc/fs/stream', 'w', encoding='ascii') as f:
        subprocess.run(['tool-stream', 'layout=1', 'event=2'], check=True, text=True, input=''.join(lines), stdout=f)
    with open('proc/fs/control', 'w', encoding='ascii') as f:
        f.write('stop\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
    run('iotracer', 'record', '-o', 'many', '-c', 'fs', '--', 'true')

    def of_many(*options):
        # into a file: a test that fails would show all of it
        with open('out', 'w', encoding='ascii') as f:
            done = subprocess.run(['iotracer', 'histogram', '--of=latency', '--format=csv', *options, 'many'], stdout=f, check=False,
                                  stderr=subprocess.PIPE, text=True)
        with open('out', encoding='ascii') as f:
            return done.returncode, sum(1 for _ in f), done.stderr
    is_equal('all', of_many('--bucket=10', '--range=20..'), (0, 1 + (1 << 20), ''))
    is_equal('one more', of_many('--bucket=1'), (
        1, 0, 'iotracer: many: category fs: more than 1048576 buckets have values: say a larger --bucket or --interval,'
        ' or a --range\n'))


def bars():
    """800 of 1000, 1000 and 1: of 43 columns, 34.4, all, and less than an eighth."""
    make('t', fs=[event('READ', 2 * S, 1, 1, sample=800), event('READ', 3 * S, 3, 1, sample=1000), event('READ', 4 * S, 7, 1)])

    def shown(locale):
        lines = histogram('latency', 't', env={**os.environ, 'LC_ALL': locale}).stdout.splitlines()
        return [line.split()[-1] for line in lines[3:6]]
    is_equal('ASCII', shown('C'), [34 * '#', 43 * '#', '#'])
    # 34.4 columns are 34 and 3 eighths
    is_equal('UTF-8', shown('C.UTF-8'), [34 * '█' + '▍', 43 * '█', '▏'])


def merged():
    """The same device number and inode, one after the other."""
    make('one', fs=[access('READ', 2 * S, 0, 10)])
    make('two', fs=[access('READ', 3 * S, 10, 20)])
    change('one', host='alpha')
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    is_equal('runs', bounds(rows('run-length', '--bucket', '1', 'both')), {(10, 11): 1, (20, 21): 1})
    is_equal('hosts', [(row['host'], row['from_bytes']) for row in rows('size', '--bucket', '1', '--by', 'host', 'both')],
             [('alpha', '10'), ('beta', '20')])


def mistakes():
    make('net', net=[{'op': 0, 'time': 2 * S, 'latency': 1}])
    make('t', fs=[event('READ', 2 * S, 5, 1), event('READ', 900 * S, 5, 1)], block=[request(0, 2 * S)])

    def one_line(status, part, *options):
        done = run('iotracer', 'histogram', *options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith('Try ') and line != 'information.']
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say of what: --of=', 't')
    one_line(2, '--of=speed', '--of', 'speed', 't')
    one_line(2, 'say which trace', '--of', 'lba')
    one_line(1, 'none', '--of', 'lba', 'none')
    one_line(2, '--of=lba: events of category fs have none', '--of', 'lba', '-c', 'fs', 't')
    one_line(2, '--by=file: events of category net have no file', '--of', 'size', '-c', 'net', '--by', 'file', 'net')
    one_line(1, 'has no category with lba', '--of', 'lba', 'net')
    one_line(2, '--bucket goes with a linear scale', '--of', 'lba', '--scale', 'log', '--bucket', '5', 't')
    one_line(2, '--bucket=0: say a size', '--of', 'lba', '--bucket', '0', 't')
    one_line(2, '--bucket=5K: say a number of sectors', '--of', 'lba', '--bucket', '5K', 't')
    one_line(2, '--bucket=5x: say nanoseconds', '--of', 'latency', '--bucket', '5x', 't')
    one_line(2, '--range=5: say FROM..TO', '--of', 'lba', '--range', '5', 't')
    one_line(2, '--range=..: say FROM..TO', '--of', 'lba', '--range', '..', 't')
    one_line(2, '--range=5..5: nothing is in it', '--of', 'lba', '--range', '5..5', 't')
    one_line(2, '--range=1K..2s: say bytes', '--of', 'size', '--range', '1K..2s', 't')
    one_line(2, '--interval', '--of', 'lba', '--interval', '1', 't')
    one_line(2, 'text has 1120 intervals at most', '--of', 'latency', '-c', 'fs', '--heat', '--interval', '0.5', 't')
    one_line(2, 'there is no key "opp"', '--of', 'lba', '--by', 'opp', 't')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
