# SPDX-License-Identifier: GPL-2.0
"""
What diff.bats runs: iotracer diff of traces whose changes are known. A trace begins at 1 s of the
monotonic clock and lasts 999 s.
"""
import csv
import io
import json
import math
import random
import statistics
import sys

from join import S, is_equal, run
from stats import OPS, change, event, make, nearest_rank

DURATION, N = 999 * S, 20
METRICS = 'count_per_s', 'bytes_per_s', 'latency_avg_ns', 'latency_p99_ns'


def work(seed, per_interval=60, size=4096, latency=10000, tail=0.0, op='READ', **more):
    """A trace's time full of events, with noise in their times, sizes and latencies."""
    rng = random.Random(seed)
    for _ in range(round(per_interval * N * rng.uniform(0.97, 1.03))):
        took = rng.lognormvariate(math.log(latency), 0.4) * (20 if rng.random() < tail else 1)
        yield event(op, S + rng.randrange(DURATION), int(took), rng.choice((size // 2, size, size * 2)), **more)


def usual(seed, **changes):
    """Reads and writes of two programs, and fsyncs. @changes: of the reads"""
    return [*work(seed, **changes), *work(seed + 1, op='WRITE', pid=8, comm='dd'),
            *work(seed + 2, op='FSYNC', latency=10**6, size=0)]


def diff(*options, a='a', b='b', status=0):
    return json.loads(run('iotracer', 'diff', '-f', 'json', *options, a, b, status=status).stdout)


def changes_of(document):
    """What changed: keys and metrics of the first category."""
    return [(row['op'], [m for m in METRICS if row[m]['changed']]) for row in document['categories'][0]['rows']]


def pair(a, b, **more):
    make('a', fs=list(a), **more)
    make('b', fs=list(b), **more)


# --- the tests ----------------------------------------------------------------------

def noise():
    for seed in range(0, 60, 10):
        pair(usual(seed), usual(seed + 5))
        is_equal('changes', diff()['categories'][0]['rows'], [])
    # many keys: some differ by accident, if each is looked at alone
    pair(*([e for i in range(200) for e in work(seed + i, 8, pid=i)] for seed in (1000, 2000)))
    document = diff('--by', 'process', '--all', '--top', '0')
    is_equal('changed', document['categories'][0]['changed'], 0)
    is_equal('keys', document['categories'][0]['keys'], 200)
    chances = [row[m]['chance'] for row in document['categories'][0]['rows'] for m in METRICS]
    assert min(chances) < 0.01, min(chances)
    text = run('iotracer', 'diff', '--by', 'process', 'a', 'b').stdout
    assert '0 of 200 keys changed\n' in text and len(text.splitlines()) == 2, text


def planted():
    make('a', fs=usual(1))
    for changes, found in (({'per_interval': 90}, ['count_per_s', 'bytes_per_s']),
                           ({'size': 8192}, ['bytes_per_s']),
                           ({'latency': 15000}, ['latency_avg_ns', 'latency_p99_ns']),
                           ({'latency': 5000}, ['latency_avg_ns']),
                           # one in 20 takes long: the mean has so much noise then that only P99 shows it
                           ({'tail': 0.05}, ['latency_p99_ns'])):
        make('b', fs=usual(11, **changes))
        rows = changes_of(diff())
        is_equal(str(changes), [op for op, _ in rows], ['READ'])
        assert set(found) <= set(rows[0][1]), (changes, rows)
        for part in {'count_per_s', 'bytes_per_s'}, {'latency_avg_ns', 'latency_p99_ns'}:
            # what has nothing to do with it stays
            assert part & set(found) or not part & set(rows[0][1]), (changes, rows)


def beta_chance(t, freedom):
    """Two-sided chance of Student's t: the density's integral, by Simpson's rule over the angle."""
    def density(angle):
        return math.cos(angle) ** (freedom - 1)
    top, steps = math.atan(t / math.sqrt(freedom)), 20000
    width = (math.pi / 2 - top) / steps
    area = sum(density(top + i * width) * (1 if i in (0, steps) else 4 if i % 2 else 2) for i in range(steps + 1)) * width / 3
    return 2 * area * math.gamma((freedom + 1) / 2) / math.gamma(freedom / 2) / math.sqrt(math.pi)


def independent(values):
    """How many independent values they count as."""
    mean = statistics.fmean(values)
    squares = math.fsum((v - mean) ** 2 for v in values)
    r = max(math.fsum((v - mean) * (w - mean) for v, w in zip(values, values[1:])) / squares, 0) if squares else 0
    return len(values) * (1 - r) / (1 + r)


def welch(a, b):
    p, q = (statistics.variance(values) / independent(values) for values in (a, b))
    freedom = (p + q) ** 2 / (p * p / (independent(a) - 1) + q * q / (independent(b) - 1))
    return beta_chance(abs(statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(p + q), freedom)


def series(events, nr, slower_than):
    """What is shown, and what is tested, of each metric by interval."""
    length = -(-DURATION // nr)
    cells = [[] for _ in range(nr)]
    for e in events:
        cells[(e['time'] - S) // length].append(e)
    some = [cell for cell in cells if cell]
    rates = [len(cell) / (length / S) for cell in cells]
    moved = [sum(e['result'] for e in cell) / (length / S) for cell in cells]
    means = [statistics.fmean(e['latency'] for e in cell) for cell in some]
    p99s = [nearest_rank(sorted(e['latency'] for e in cell), 9900) for cell in some]
    slow = [sum(e['latency'] > slower_than for e in cell) / len(cell) for cell in some]
    return dict(zip(METRICS, zip((rates, moved, means, p99s), (rates, moved, means, slow))))


def figures():
    """The density of events rises in A, and some intervals are empty."""
    rng = random.Random(7)
    a = [e for e in work(3, 40) if rng.random() < (e['time'] - S) / DURATION and e['time'] % (200 * S) > 60 * S]
    b = list(work(4, 30, latency=12000))
    pair(a, b)
    for nr in 10, 20, 37:
        document = diff('--all', '--intervals', str(nr))
        row, = document['categories'][0]['rows']
        threshold = nearest_rank(sorted(e['latency'] for e in a), 9900)
        sides = [series(events, nr, threshold) for events in (a, b)]
        for metric in METRICS:
            found = row[metric]
            for side, of in zip('ab', sides):
                close(f'{metric} {side}', found[f'{side}_deviation'], statistics.stdev(of[metric][0]))
            close(f'{metric} chance', found['chance'], welch(*(of[metric][1] for of in sides)))
            close(f'{metric} change', found['change'], found['b'] / found['a'] - 1)
        for side, events in ('a', a), ('b', b):
            close('count', row['count_per_s'][side], len(events) / 999)
            close('bytes', row['bytes_per_s'][side], sum(e['result'] for e in events) / 999)
            close('mean', row['latency_avg_ns'][side], statistics.fmean(e['latency'] for e in events))
            is_equal('p99', row['latency_p99_ns'][side], nearest_rank(sorted(e['latency'] for e in events), 9900))


def close(what, found, expected):
    assert math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-12), (what, found, expected)


def waves():
    """
    Latencies that rise and fall slowly, in A most of the time high, in B low: their intervals are not
    independent. In a mixed order the same values are a change.
    """
    def wave(seed, phase, mixed=False):
        rng = random.Random(seed)
        levels = [10000 + 4000 * math.cos(phase + i / N * math.pi) for i in range(N)]
        if mixed:
            rng.shuffle(levels)
        for i, level in enumerate(levels):
            for _ in range(40):
                yield event('READ', S + i * DURATION // N + rng.randrange(DURATION // N), int(level * rng.uniform(0.9, 1.1)), 4096)
    pair(wave(1, -math.pi / 4), wave(2, math.pi * 3 / 4))
    is_equal('waves', changes_of(diff()), [])
    pair(wave(1, -math.pi / 4, True), wave(5, math.pi * 3 / 4, True))
    assert 'latency_avg_ns' in dict(changes_of(diff())).get('READ', []), changes_of(diff())


def only():
    pair([*usual(1), *work(4, op='OPEN', size=0), event('MMAP', 9 * S, 1)],
         [*usual(11), *work(14, op='READDIR', size=0), event('SENDFILE', 9 * S, 1)])
    document = diff()
    rows = document['categories'][0]['rows']
    is_equal('rows', [(r['op'], r['only_in'], r['count_per_s']['changed']) for r in rows],
             [('OPEN', 'A', True), ('READDIR', 'B', True)] if rows[0]['count_a'] > rows[1]['count_b'] else
             [('READDIR', 'B', True), ('OPEN', 'A', True)])
    is_equal('latency', [(r['latency_avg_ns']['a'] is None, r['latency_avg_ns']['b'] is None) for r in rows
                         if r['op'] == 'OPEN'], [(False, True)])
    # one event is an accident
    is_equal('only', [document['categories'][0][side]['keys_only_here'] for side in 'ab'], [2, 2])
    text = run('iotracer', 'diff', 'a', 'b').stdout
    assert '2 of 7 keys changed; 2 are only in A, 2 only in B\n' in text and 'only in A\n' in text, text


def order():
    def of(seed, *changes):
        return [e for i, latency in enumerate(changes) for e in work(seed + i, latency=latency, pid=i, comm=f'p{i}')]
    pair(of(1, 10000, 10000, 10000, 10000), of(11, 13000, 20000, 4000, 10000))

    def order_of(*options):
        return [row['process'] for row in diff('--by', 'process', *options)['categories'][0]['rows']]
    is_equal('by effect', order_of(), ['2', '1', '0'])
    is_equal('--top', order_of('--top', '2'), ['2', '1'])
    is_equal('--change', order_of('--change', '70'), ['1'])
    is_equal('--all', order_of('--all'), ['2', '1', '0', '3'])
    is_equal('--all --top', order_of('--all', '--top', '1'), ['2'])
    text = run('iotracer', 'diff', '--by', 'process', '--top', '1', 'a', 'b').stdout
    assert '2 p2 ' in text and '2 more: see --top' in text, text
    is_equal('a file', [row['file'] for row in diff('--by', 'file', '--all')['categories'][0]['rows']], [''])


def selected():
    """B is slow in its second half only; A has another beginning of the day."""
    half = DURATION // 2
    slow = [{**e, 'latency': e['latency'] * 3 if e['time'] > S + half else e['latency']} for e in work(2, 120)]
    pair(work(1, 120), slow)
    is_equal('first half', diff('--to', '+499')['categories'][0]['changed'], 0)
    document = diff('--from', '+500')
    is_equal('second half', [r['latency_avg_ns']['changed'] for r in document['categories'][0]['rows']], [True])
    is_equal('durations', [document['categories'][0][side]['duration_s'] for side in 'ab'], [499, 499])
    is_equal('none left', diff('--filter', 'op=write')['categories'][0]['keys'], 0)
    # without an end
    change('b', killed=True)
    done = run('iotracer', 'diff', 'a', 'b', status=1)
    assert 'b: has no end, so it cannot be cut into intervals: say one with --to' in done.stderr, done.stderr
    is_equal('with --to', diff('--partial', '--to', '+499')['categories'][0]['changed'], 0)


def missing():
    pair(usual(1), usual(11))
    change('b', missed=7)
    sides = diff()['categories'][0]
    is_equal('missed', [sides[side]['missed'] for side in 'ab'], [0, 7])
    text = run('iotracer', 'diff', 'a', 'b').stdout
    assert "\nof B:\nmissed 7: calls that the kernel's hooks missed\n" in text and 'of A' not in text, text
    change('a', events=10**6)
    for a, b in ('a', 'b'), ('b', 'a'):
        done = run('iotracer', 'diff', a, b, status=1)
        assert 'a: is incomplete, so the exit status is 1' in done.stderr, done.stderr
    run('iotracer', 'diff', '--partial', 'a', 'b')


def sampled():
    events = list(work(1))
    pair(events, ({**e, 'sample': 3} for e in work(2)))
    row, = diff()['categories'][0]['rows']
    close('three times', row['count_per_s']['b'], 3 * sum(1 for _ in work(2)) / 999)
    is_equal('changed', [m for m in METRICS if row[m]['changed']], ['count_per_s', 'bytes_per_s'])


def formats():
    pair([*usual(1), *work(4, op='OPEN', size=0)], usual(11, latency=15000))
    rows = {row['op']: row for row in diff('--all')['categories'][0]['rows']}
    text = run('iotracer', 'diff', '-f', 'csv', '--all', 'a', 'b').stdout
    lines = list(csv.DictReader(io.StringIO(text, newline='')))
    is_equal('lines', len(lines), 16)
    for line in lines:
        of = rows[line['op']]
        is_equal('only in', line['only_in'], of['only_in'] or '')
        for name in 'a', 'a_deviation', 'b', 'b_deviation', 'change', 'chance':
            value = of[line['what']][name]
            is_equal(name, line[name], '' if value is None else f'{value:.9g}')
        is_equal('changed', line['changed'], str(int(of[line['what']]['changed'])))
        is_equal('basis', [line['a_lost'], line['b_sampled']], ['0', '0'])


def hostile():
    rng = random.Random(9)
    most = 2**63 - 1
    names = ['/' + 'directory/' * 30 + 'x.db', '/' + 'ü' * 100, '/x\\033[31m']
    for name in 'a', 'b':
        make(name, names, fs=[event(rng.choice(list(OPS)), rng.choice((0, 5, 2 * S, 900 * S, 10**15)),
                                    rng.choice((0, 1, most)), rng.choice((-most, 0, 1, most)), path=rng.randrange(5),
                                    comm='=\\033[2J', pid=rng.getrandbits(32), sample=rng.choice((0, 1, 2**32 - 1)))
                              for _ in range(500)],
             cache=[{'op': 8, 'time': (2 + i) * S, 'latency': 0, 'pages': i} for i in range(100)])
    for by in 'op', 'file', 'process,file', 'command', 'directory,extension':
        for form in 'text', 'csv', 'json':
            text = run('iotracer', 'diff', '--by', by, '--all', '--top', '0', '-f', form, 'a', 'b').stdout
            assert '\033' not in text and 'nan' not in text.lower().replace('_nan', ''), text
            if form == 'text':
                assert max(map(len, text.splitlines())) <= 80, max(text.splitlines(), key=len)
    # nothing at all
    pair([], [])
    is_equal('nothing', diff()['categories'][0]['keys'], 0)
    pair(usual(1), [])
    is_equal('all gone', [row['only_in'] for row in diff()['categories'][0]['rows']], ['A'] * 3)


def mistakes():
    pair(usual(1), usual(2))
    make('c', cache=[{'op': 8, 'time': 2 * S, 'latency': 0, 'pages': 1}])

    def one_line(status, part, *options):
        done = run('iotracer', 'diff', *options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith('Try ')]
        assert part in lines[-1], (part, done.stderr)
    one_line(2, 'say which two traces: A and B', 'a')
    one_line(2, 'two traces at a time', 'a', 'b', 'c')
    one_line(1, 'none', 'a', 'none')
    one_line(2, '--live is for one trace', '--live', 'a', 'b')
    one_line(2, '--intervals=9', '--intervals', '9', 'a', 'b')
    one_line(2, 'there is no key "opp"; the nearest is op', '--by', 'opp', 'a', 'b')
    one_line(1, 'have no category with such keys in common', 'a', 'c')
    one_line(2, 'events of category fs have no connection', '--by', 'connection', '-c', 'fs', 'a', 'b')
    one_line(1, 'c: has no category fs', '-c', 'fs', 'a', 'c')
    one_line(1, 'a: is too short to be cut into 20 intervals', '--from', '+5', '--to', '+5', 'a', 'b')
    one_line(1, 'is too short', '--from', '+9', '--to', '+5', 'a', 'b')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
