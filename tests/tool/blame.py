# SPDX-License-Identifier: GPL-2.0
"""What blame.bats runs: iotracer blame of traces whose requests are known (slowest.py makes them)."""
import collections
import csv
import io
import json
import random
import sys
from fractions import Fraction

from join import US, is_equal, run
from slowest import EARLY, T, call, make, request
from stats import change


def blame(*options, status=0):
    return run('iotracer', 'blame', *options, status=status)


def rows(*options):
    text = blame('-f', 'csv', *options).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def matrix(*options, unit=US):
    """What is charged for a victim to a culprit; None: to nobody. Checks that each row is whole."""
    cells, waits = {}, {}
    for row in rows(*options):
        is_equal('itself', row['charged_to'] == 'itself', row['culprit'] == row['victim'])
        cells[row['victim'], row['culprit'] or None] = int(row['charged_ns'])
        waits[row['victim']] = int(row['waited_ns'])
    for victim, wait in waits.items():
        is_equal(f'sum of {victim}', sum(ns for (who, _), ns in cells.items() if who == victim), wait)
    return {key: ns // unit if unit > 1 else ns for key, ns in cells.items()}


def whose(name, *args, pid=7, **more):
    return request(*args, **{'comm': name, 'pid': pid, **more})


def few():
    """
    sda: dd has a request in it from 0 to 100, and another from 50 to 100. db's waits from 0 to 120: in the queue
    until 100, then it is in the device. From 120 to 140 bash's request waits, and the device has none; it gets
    it then, until 150. sdb: cp's, from 0 to 1000.
    """
    make(block=[whose('dd', 'WRITE', 0, 100), whose('dd', 'WRITE', 50, 100),
                whose('db', 'READ', 0, 120, queue=100, pid=8),
                whose('bash', 'READ', 120, 150, queue=20, pid=9),
                whose('cp', 'READ', 0, 1000, pid=10, disk='sdb'),
                whose('early', 'READ', 0, 1000, flags=EARLY)])


# --- the tests ----------------------------------------------------------------------

def by_hand():
    few()
    is_equal('matrix', matrix('t'), {
        ('dd', 'dd'): 150, ('db', 'dd'): 100, ('db', 'db'): 20, ('bash', None): 20, ('bash', 'bash'): 10,
        ('cp', 'cp'): 1000})
    is_equal('CSV', blame('-f', 'csv', 't').stdout.splitlines()[:4], [
        'victim,requests,waited_ns,charged_to,culprit,charged_ns,lost,missed,unreadable,sampled',
        'cp,1,1000000,itself,cp,1000000,0,0,0,0', 'dd,2,150000,itself,dd,150000,0,0,0,0',
        'db,1,120000,other,dd,100000,0,0,0,0'])
    document = json.loads(blame('-f', 'json', 't').stdout)
    is_equal('JSON', (document['left_out'], document['victims'][2]), (1, {
        'victim': 'db', 'requests': 1, 'waited_ns': 120000, 'nobody_ns': 0, 'undivided_ns': 0,
        'culprits': [{'culprit': 'dd', 'itself': False, 'charged_ns': 100000},
                     {'culprit': 'db', 'itself': True, 'charged_ns': 20000}]}))
    is_equal('text', blame('t').stdout.splitlines(), [
        '5 requests waited 1.30ms in all',
        '',
        'WHO WAITED            TIME       cp       dd       db     bash (nobody)',
        'cp                  1.00ms   1.00ms        -        -        -        -',
        'dd                   150us        -    150us        -        -        -',
        'db                   120us        -    100us   20.0us        -        -',
        'bash                30.0us        -        -        -   10.0us   20.0us',
        '',
        'left out 1: requests that were made before the trace'])
    # two in the device, one of them its own: half each
    make('half', block=[whose('dd', 'WRITE', 0, 100), whose('db', 'READ', 0, 60)])
    is_equal('half', matrix('half'), {('dd', 'dd'): 70, ('dd', 'db'): 30, ('db', 'dd'): 30, ('db', 'db'): 30})


def by_counting(requests):
    """Whom each nanosecond of each wait is charged to."""
    cells = collections.Counter()
    for ns in range(T, max(r['time'] + r['latency'] for r in requests)):
        now = [r for r in requests if r['time'] <= ns < r['time'] + r['latency']]
        for disk in {r['disk'] for r in now}:
            waiting = [r['comm'] for r in now if r['disk'] == disk]
            inside = [r['comm'] for r in now
                      if r['disk'] == disk and ns >= r['time'] + r['latency'] - r['device_latency']]
            for victim in waiting:
                for culprit in inside or [None]:
                    cells[victim, culprit] += Fraction(1, len(inside) or 1)
    return cells


def counted():
    rng = random.Random(1)
    for nr, longest in (200, 60), (100, 300), (60, 1000):
        requests = [{'op': rng.randrange(2), 'time': T + rng.randrange(1500), 'latency': rng.randrange(longest),
                     'disk': rng.choice(('sda', 'sda', 'sdb')), 'comm': f'p{rng.randrange(6)}'} for _ in range(nr)]
        for r in requests:
            r['queue_latency'] = rng.randrange(r['latency'] + 1)
            r['device_latency'] = rng.choice((r['latency'] - r['queue_latency'], 0))
        make(block=requests)
        found = matrix('t', unit=1)
        waits = collections.Counter()
        for r in requests:
            waits[r['comm']] += r['latency']
        is_equal('waits', sum(found.values()), sum(waits.values()))
        # each of at most 3 * nr steps rounds each share by less than 1 ns
        expected = by_counting(requests)
        for key in {*found, *expected}:
            assert abs(found.get(key, 0) - expected[key]) < 3 * nr, (key, found.get(key), float(expected[key]))
        assert any(victim != culprit for victim, culprit in found if culprit)


def owners():
    requests = [whose('kworker', 'WRITE', 0, 100, pid=3, cgroup=1, origin_pid=8, origin_comm='db'),
                whose('db', 'READ', 100, 200, pid=8, cgroup=2), whose('db', 'READ', 200, 300, pid=9, cgroup=2),
                whose('thread', 'READ', 300, 400, pid=9, cgroup=2)]
    make(block=requests)
    is_equal('command', matrix('t'), {('db', 'db'): 300, ('thread', 'thread'): 100})
    is_equal('process', matrix('--by', 'process', 't'), {('db/8', 'db/8'): 200, ('db/9', 'db/9'): 200})
    is_equal('cgroup', matrix('--by', 'cgroup', 't'), {('1', '1'): 100, ('2', '2'): 300})


def top():
    rng = random.Random(2)
    requests = []
    for i in range(400):
        begin, who = rng.randrange(9000), rng.randrange(30)
        requests.append(whose(f'p{who}', 'READ', begin, begin + rng.randrange(1, 200) * (who + 1), queue=1, pid=who))
    make(block=requests)
    every = matrix('--top', '0', 't', unit=1)
    is_equal('owners', len({who for who, _ in every}), 30)
    for nr in 1, 5, 29, 30, 99:
        found = matrix('--top', str(nr), 't', unit=1)
        is_equal('victims', len({who for who, _ in found}), min(nr + 1, 30))
        is_equal('sum', sum(found.values()), sum(every.values()))
        for key, ns in found.items():
            if not any(name and 'other' in name for name in key):
                is_equal(key, ns, every[key])
    is_equal('default', len({who for who, _ in matrix('t')}), 21)
    lines = blame('t').stdout.splitlines()
    is_equal('others', (lines[2].split()[-2:], max(map(len, lines))), (['(others)', '(nobody)'], 80))
    is_equal('one', [who for who, _ in matrix('--top', '29', 't') if 'other' in who][:1], ['1 other'])


def selected():
    few()
    is_equal('filter', matrix('--filter', 'comm=db', 't'), {('db', 'dd'): 100, ('db', 'db'): 20})
    is_equal('time', matrix('--from', '+9.000120', 't'), {('bash', None): 20, ('bash', 'bash'): 10})
    is_equal('none', blame('--filter', 'comm=x', 't').stdout.splitlines()[0], '0 requests waited 0ns in all')


def hostile():
    most = 2**64 - 1
    make(block=[whose(f'p{i}', 'READ', i, i + 3, pid=i + 1, disk=f'd{i % 300}') for i in range(1300)])
    found = matrix('--by', 'process', '--top', '0', 't')
    # 256 disks have 5 requests each, or 4
    assert ('others', 'others') in found and len(found) == 1024, len(found)
    is_equal('sum', sum(found.values()), 3 * sum(i % 300 < 256 for i in range(1300)))
    make(block=[whose('\\033[31m', 'READ', 0, 5), {**whose('\\075cmd()', 'READ', 0, 6), 'latency': most},
                {**whose('c', 'READ', 0, 6), 'queue_latency': most, 'device_latency': most},
                {**whose('', 'READ', 0, 6), 'latency': most - T}])
    for form in 'text', 'csv', 'json':
        assert '\033' not in blame('-f', form, 't').stdout
    assert '\\075cmd()' in {row['victim'] for row in rows('t')}
    make('long', block=[whose('\\033' * 15, 'READ', 0, 5, pid=2**32 - 1)])
    lines = blame('--by', 'process', 'long').stdout.splitlines()
    assert max(map(len, lines)) <= 80, lines


def merged():
    make('one', block=[whose('dd', 'READ', 0, 100)])
    make('two', block=[whose('dd', 'READ', 0, 30)])
    change('one', host='alpha')
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    is_equal('matrix', matrix('both'), {('alpha:dd', 'alpha:dd'): 100, ('beta:dd', 'beta:dd'): 30})


def mistakes():
    few()

    def one_line(status, part, *options):
        done = blame(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = done.stderr.split('\nTry ')[0].splitlines()
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which trace')
    one_line(2, '--by=file', '--by', 'file', 't')
    make('calls', fs=[call('READ', 0, 10)])
    one_line(1, 'has no category block: record it with --categories=block', 'calls')
    make('lost', block=[whose('a', 'READ', 0, 1), whose('b', 'READ', 0, 2, cpu=1, gap=5)])
    is_equal('CSV', [row['lost'] for row in rows('lost')], ['5'] * 4)
    assert 'lost 5: ' in blame('lost').stdout
    with open('t/block.iot', 'r+b') as f:
        f.truncate(4096 + 100)
    assert 'unreadable 6: ' in blame('t', status=1).stdout
    blame('--partial', 't')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
