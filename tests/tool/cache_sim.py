# SPDX-License-Identifier: GPL-2.0
"""
What cache_sim.bats runs: iotracer cache-sim of traces whose accesses are known. Each policy is simulated
here as its definition says, without regard to time.
"""
import csv
import io
import json
import math
import os
import random
import sys

from join import S, is_equal, run
from lib.svg import Picture
from lib.trace_file import seal_metadata
from stats import change, make

PAGE = 4096
OPS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'OPEN': 4, 'SPLICE': 38, 'SENDFILE': 37}
CACHE = {'HIT': 0, 'MISS': 1, 'DIRTY': 2, 'EVICT': 5, 'INVALIDATE': 6, 'DROP': 7, 'READAHEAD': 8, 'RECLAIM': 9}
KERNEL, SPLICE, SENDFILE = 1 << 9, 1 << 5, 1 << 10
BY_WRITE, BY_FAULT = 1, 4
FILE, PIPE = 1, 4
POLICIES = 'LRU', 'FIFO', 'ARC', 'MIN'


def call(page, op='READ', at=0, result=PAGE, **more):
    """A call that accesses a page of a file, at a time after the trace began."""
    return {'op': OPS[op], 'time': 2 * S + at * 1000, 'latency': 10, 'result': result, 'requested': PAGE, 'kind': FILE,
            'inode': 5, 'device': 0x800001, 'offset': page * PAGE, 'path': 1, 'pid': 7, 'comm': 'fio', **more}


def calls(accesses):
    """One for each (page, whether it is a write)."""
    return [call(page, 'WRITE' if write else 'READ', i) for i, (page, write) in enumerate(accesses)]


def sim(*options, status=0):
    return run('iotracer', 'cache-sim', *options, status=status)


def rows(*options, status=0):
    return list(csv.DictReader(io.StringIO(sim('-f', 'csv', *options, status=status).stdout, newline='')))


def document(*options):
    return json.loads(sim('-f', 'json', *options).stdout)


def simulation(*options):
    found, = document(*options)['simulations']
    return found


def sizes(pages):
    return '--size=' + ','.join(f'{4 * n}K' for n in pages)


def shown(number):
    """As JSON shows it."""
    return float(f'{number:.15g}')


# --- caches, in the simplest way ----------------------------------------------------
# Each function returns for each access whether it is a hit.

def lru(pages, size):
    cache = []
    for page in pages:
        yield page in cache
        if page in cache:
            cache.remove(page)
        cache.append(page)
        del cache[:-size]


def fifo(pages, size):
    cache = []
    for page in pages:
        yield page in cache
        if page not in cache:
            cache.append(page)
            del cache[:-size]


def belady(pages, size):
    def next_use(page, after):
        return pages.index(page, after) if page in pages[after:] else len(pages)
    cache = set()
    for i, page in enumerate(pages):
        yield page in cache
        if page not in cache and len(cache) == size:
            cache.remove(max(cache, key=lambda other: next_use(other, i)))
        cache.add(page)


def arc(pages, c):
    """Figure 4 of Megiddo and Modha's paper. Lists begin with the LRU page."""
    t1, t2, b1, b2 = [], [], [], []
    p = 0.0

    def replace(in_b2):
        if t1 and (len(t1) > p or in_b2 and len(t1) == p):
            b1.append(t1.pop(0))
        else:
            b2.append(t2.pop(0))
    for x in pages:
        yield x in t1 or x in t2
        if x in t1 or x in t2:
            (t1 if x in t1 else t2).remove(x)
            t2.append(x)
        elif x in b1:
            p = min(float(c), p + (1 if len(b1) >= len(b2) else len(b2) / len(b1)))
            replace(False)
            b1.remove(x)
            t2.append(x)
        elif x in b2:
            p = max(0.0, p - (1 if len(b2) >= len(b1) else len(b1) / len(b2)))
            replace(True)
            b2.remove(x)
            t2.append(x)
        else:
            if len(t1) + len(b1) == c:
                if len(t1) < c:
                    b1.pop(0)
                    replace(False)
                else:
                    t1.pop(0)
            elif len(t1) + len(t2) + len(b1) + len(b2) >= c:
                if len(t1) + len(t2) + len(b1) + len(b2) == 2 * c:
                    b2.pop(0)
                replace(False)
            t1.append(x)


SIMULATORS = dict(zip(POLICIES, (lru, fifo, arc, belady)))


def hits(policy, accesses, size):
    """(all, reads)"""
    found = list(SIMULATORS[policy]([page for page, _ in accesses], size))
    return sum(found), sum(hit and not write for hit, (_, write) in zip(found, accesses))


def expected_rows(accesses, caches, policies=POLICIES):
    return [(policy, size * PAGE, *hits(policy, accesses, size)) for size in caches for policy in policies]


def found_rows(*options):
    return [(row['policy'], int(row['cache_bytes']), int(row['hits']), int(row['read_hits'])) for row in rows(*options)]


# --- the tests ----------------------------------------------------------------------

HEAD = ('category,policy,cache_bytes,accesses,hits,hit_ratio,hit_ratio_error,reads,read_hits,read_hit_ratio,'
        'read_hit_ratio_error,working_set_bytes,sample_rate,lost,missed,unreadable,sampled')


def by_hand():
    """
    a b c a d b a. LRU: the distances of the repeated ones are 3, 4 and 3. FIFO of 3: d evicts a, so the last a
    is a miss, which evicts b. ARC of 3: b is in B1 when it comes again, so c is evicted. MIN of 2: c is evicted
    for d, d for b; of 3: c for d. ARC of 2 keeps no names until a page is accessed twice.
    """
    events = calls([(0, False), (1, False), (2, False), (0, False), (3, False), (1, True), (0, False)])
    make('t', ['/db'], fs=events)
    rest = ',16384,1,0,0,0,0'
    is_equal('CSV', sim('-f', 'csv', '--size', '8K,12K', 't').stdout.splitlines(), [
        HEAD,
        'fs,LRU,8192,7,0,0.000000,,6,0,0.000000,' + rest, 'fs,FIFO,8192,7,0,0.000000,,6,0,0.000000,' + rest,
        'fs,ARC,8192,7,0,0.000000,,6,0,0.000000,' + rest, 'fs,MIN,8192,7,2,0.285714,,6,2,0.333333,' + rest,
        'fs,LRU,12288,7,2,0.285714,,6,2,0.333333,' + rest, 'fs,FIFO,12288,7,2,0.285714,,6,1,0.166667,' + rest,
        'fs,ARC,12288,7,2,0.285714,,6,2,0.333333,' + rest, 'fs,MIN,12288,7,3,0.428571,,6,2,0.333333,' + rest])
    one = simulation('--size', '12K', '-p', 'lru', 't')
    is_equal('JSON', one, {
        'category': 'fs', 'calls': 7, 'page_bytes': 4096, 'accesses': 7, 'reads': 6, 'working_set_bytes': 16384,
        'read_set_bytes': 16384, 'written_set_bytes': 4096, 'hit_ratio_limit': shown(3 / 7), 'sample_rate': 1.0,
        'wanted_hit_ratio': None, 'wanted_bytes': None, 'records': 7, 'sampled': 0, 'lost': 0, 'missed': 0,
        'unreadable': 0, 'sizes': [{'cache_bytes': 12288, 'LRU': {
            'hits': 2, 'hit_ratio': shown(2 / 7), 'read_hits': 2, 'read_hit_ratio': shown(1 / 3), 'hit_ratio_error': None,
            'read_hit_ratio_error': None}}]})
    text = sim('t').stdout.splitlines()
    is_equal('title', text[0], 'fs: 7 calls, 7 accesses to pages of 4 KiB, 6 of them reads')
    is_equal('working set', text[1:3], [
        'working set: 16.0KiB, 16.0KiB of it read, 4.00KiB written',
        'first accesses to a page, which miss in any cache: 57.1 %'])
    is_equal('table', [line.split() for line in text[4:]], [
        ['HIT', 'RATIO', 'ALL,', '%', 'READS,', '%'], ['CACHE', *POLICIES, *POLICIES],
        ['4.00KiB'] + ['0.0'] * 8, ['8.00KiB', '0.0', '0.0', '0.0', '28.6', '0.0', '0.0', '0.0', '33.3', '░░░░░'],
        ['16.0KiB', *['42.9'] * 4, *['33.3'] * 4, '███████']])
    plain = run('iotracer', 'cache-sim', 't', env={**os.environ, 'LC_ALL': 'C'}).stdout.splitlines()
    is_equal('ASCII', [line.split()[-1] for line in plain[7:9]], ['.....', '#######'])


def picture():
    """Each point of a curve is a ratio of JSON, and is as high as that."""
    rng = random.Random(15)
    make('t', ['/f'], fs=calls([(int(rng.paretovariate(0.7)) % 400, rng.random() < 0.3) for _ in range(3000)]))
    for options in [], ['-p', 'lru,min', sizes((10, 50, 300))], ['--sample', '0.3']:
        is_equal('output', sim('-o', 'x.svg', *options, 't').stdout, '')
        found = Picture('x.svg')
        expected = []
        one = simulation(*options, 't')
        for of in 'hit_ratio', 'read_hit_ratio':
            for policy in POLICIES:
                expected += [(policy, size['cache_bytes'], size[policy][of]) for size in one['sizes'] if size.get(policy)]
        marks = list(found.marks('policy'))
        is_equal('points', [(m['policy'], int(m['size-bytes']), m['miss-percent']) for m in marks],
                 [(policy, size, f'{100 - 100 * ratio:.6f}') for policy, size, ratio in expected])
        # two panels, one below the other: within each, what misses more is higher
        for panel in marks[:len(marks) // 2], marks[len(marks) // 2:]:
            order = sorted(panel, key=lambda m: float(m['miss-percent']))
            for low, high in zip(order, order[1:]):
                assert high['y'] <= low['y'] + 0.02, (low, high)
        known = sum(any(size.get(policy) for policy in POLICIES) for size in one['sizes'])
        is_equal('lines', [len(line) for line in found.lines() if len(line) > 2], [known] * (len(expected) // known))
        is_equal('estimated', any('estimated' in text for text in found.texts()), '--sample' in options)
    make('cache', cache=[{'op': 0, 'time': 2 * S, 'latency': 0, 'pages': 1}])
    assert 'a curve is of their accesses' in sim('-o', 'y.svg', 'cache', status=1).stderr
    assert not os.path.exists('y.svg')


def ranges():
    """(the call, first and last page); None: it accesses none."""
    known = [
        (call(0, result=1), 0, 0), (call(0, result=4096), 0, 0), (call(0, result=4097), 0, 1),
        (call(3, offset=3 * PAGE + 4095, result=2), 3, 4), (call(7, 'DIO_WRITE', result=5 * PAGE), 7, 11),
        (call(20, 'DIO_READ'), 20, 20), (call(30, 'SENDFILE', result=3 * PAGE), 30, 32),
        (call(40, flags=KERNEL), 40, 40), (call(41, flags=KERNEL | SPLICE), 41, 41),
        (call(42, flags=KERNEL | SPLICE | SENDFILE), 42, 42), (call(30, flags=KERNEL | SENDFILE, result=3 * PAGE), None, None),
        (call(50, result=0), None, None), (call(50, result=-5), None, None), (call(50, 'OPEN', result=3), None, None),
        (call(50, 'SPLICE'), None, None), (call(50, kind=PIPE), None, None), (call(50, kind=0), None, None),
        # where the lower 32 bits of a page's index end
        (call(2**32 - 1, result=3 * PAGE), 2**32 - 1, 2**32 + 1), (call(2**32 + 1), 2**32 + 1, 2**32 + 1)]
    for i, (event, _, _) in enumerate(known):
        event['time'] += i * 1000
    make('t', ['/db'], fs=[event for event, _, _ in known])
    accesses = [(page, event['op'] in (1, 3)) for event, first, last in known if first is not None
                for page in range(first, last + 1)]
    one = simulation(sizes(range(1, 25)), 't')
    is_equal('counts', (one['calls'], one['accesses'], one['reads']),
             (sum(first is not None for _, first, _ in known), len(accesses), sum(not write for _, write in accesses)))
    is_equal('sets', [one[k] // PAGE for k in ('working_set_bytes', 'read_set_bytes', 'written_set_bytes')],
             [len({page for page, write in accesses if write in which}) for which in ((0, 1), (0,), (1,))])
    is_equal('hits', found_rows(sizes(range(1, 25)), 't'), expected_rows(accesses, range(1, 25)))
    # a page is that of a file: of another inode, another device, it is another one
    make('two', ['/db'], fs=[call(1, at=0), call(1, at=1, inode=6), call(1, at=2, device=0x800002), call(1, at=3, path=0)])
    is_equal('files', found_rows('--size', '4K,12K', '-p', 'lru', 'two'), [('LRU', 4096, 0, 0), ('LRU', 12288, 1, 1)])


def patterns(rng):
    yield 'loop', [(i % 9, False) for i in range(120)]
    yield 'scan between', [(page, i % 3 == 0) for i in range(12) for page in (0, 1, 2, 100 + 2 * i, 101 + 2 * i)]
    yield 'there and back', [(abs(i % 20 - 10), False) for i in range(150)]
    yield 'one page', [(4, bool(i & 1)) for i in range(10)]
    yield 'never again', [(i, False) for i in range(30)]
    for pages, skew in (4, 1), (30, 1), (40, 3), (12, 2):
        yield f'{pages}, {skew}', [(int(pages * rng.random() ** skew), rng.random() < 0.4) for _ in range(300)]
    # what once was hot, and then is not: ARC has to learn
    yield 'phases', [(int(base + width * rng.random()), False) for base, width in ((0, 8), (50, 40), (0, 8), (4, 20), (50, 4)) * 2
                     for _ in range(60)]


def policies():
    rng = random.Random(1)
    for name, accesses in patterns(rng):
        make('t', ['/db'], fs=calls(accesses))
        caches = range(1, len({page for page, _ in accesses}) + 2)
        is_equal(name, found_rows(sizes(caches), 't'), expected_rows(accesses, caches))
    # many accesses: the words and levels of the sets of positions
    accesses = [(int(500 * rng.random() ** 3), rng.random() < 0.3) for _ in range(9000)]
    make('t', ['/db'], fs=calls(accesses))
    caches = 3, 40, 200, 450
    is_equal('many', found_rows(sizes(caches), '-p', 'lru,fifo,arc', 't'),
             expected_rows(accesses, caches, ('LRU', 'FIFO', 'ARC')))
    found = {policy: [row[2] for row in found_rows(sizes(caches), '-p', policy.lower(), 't')] for policy in POLICIES}
    for policy in 'LRU', 'FIFO', 'ARC':
        assert all(a <= b for a, b in zip(found[policy], found['MIN'])), found


def wanted():
    rng = random.Random(2)
    accesses = [(int(70 * rng.random() ** 2), False) for _ in range(600)]
    make('t', ['/db'], fs=calls(accesses))
    nr = len({page for page, _ in accesses})
    # the last default size is the first power of two that has all pages
    expected, size = [], PAGE
    while size < 2 * nr * PAGE:
        expected.append(size)
        size *= 2
    is_equal('default', [row[1] for row in found_rows('-p', 'lru', 't')], expected)
    curve = [hits('LRU', accesses, size)[0] for size in range(1, nr + 1)]
    for size in range(1, nr + 1):
        # the ratio that it has, and one that is a little more than that of the next smaller one
        percent = 100 * curve[size - 1] / len(accesses)
        least = next(i + 1 for i, n in enumerate(curve) if n >= curve[size - 1])
        is_equal(f'{percent} %', simulation('-p', 'lru', '--want', f'{percent:.12f}%', 't')['wanted_bytes'], least * PAGE)
    found = found_rows('--size', '4K', '--want', '50', '-p', 'lru', 't')
    least = next(i + 1 for i, n in enumerate(curve) if n >= 300)
    is_equal('row', found, [('LRU', PAGE, curve[0], curve[0]), ('LRU', least * PAGE, curve[least - 1], curve[least - 1])])
    assert f'KiB, {least} pages\n' in sim('--want', '50%', 't').stdout, sim('--want', '50%', 't').stdout
    limit = 100 * (600 - nr) / 600
    assert f'no cache has a hit ratio of 99 %: it is {limit:.1f} % if all pages fit\n' in sim('--want', '99', 't').stdout
    is_equal('none', simulation('--want', '99', 't')['wanted_bytes'], None)
    # a thousand files of a page: twelve sizes at most
    make('many', ['/db'], fs=[call(0, at=i, inode=i) for i in range(5000)])
    is_equal('sizes', [row[1] for row in found_rows('-p', 'lru', 'many')], [PAGE * 2**i for i in range(2, 14)])


def page_hash(key):
    n = (key + 0x9e3779b97f4a7c15) % 2**64
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9 % 2**64
    n = (n ^ n >> 27) * 0x94d049bb133111eb % 2**64
    return (n ^ n >> 31) >> 32


def estimate(found, kept, expected):
    return min(max((found + expected - kept) / expected, 0), 1)


def groups_of(sample):
    """Of the accesses to a sample, those to each group of pages, which are numbered as they come."""
    numbers = {}
    groups = [[] for _ in range(16)]
    for page, write in sample:
        groups[page_hash(numbers.setdefault(page, len(numbers))) % 16].append((page, write))
    return groups


def sampled():
    rng = random.Random(3)
    accesses = [(int(3000 * rng.random() ** 2), rng.random() < 0.25) for _ in range(8000)]
    make('t', ['/db'], fs=calls(accesses))
    for rate in 0.25, 0.07:
        threshold = int(rate * 2**32)
        rate = threshold / 2**32
        # there is one file, whose number is 0
        sample = [(page, write) for page, write in accesses if page_hash(page) < threshold]
        caches = 1, 40, 400, 1500
        one = simulation('--sample', repr(rate), sizes(caches), '-p', 'lru,fifo', 't')
        is_equal('rate', one['sample_rate'], shown(rate))
        is_equal('accesses', (one['accesses'], one['reads']), (8000, sum(not write for _, write in accesses)))
        is_equal('working set', one['working_set_bytes'], math.ceil(len({p for p, _ in sample}) / rate) * PAGE)
        reads = one['reads']
        kept_reads = sum(not write for _, write in sample)
        for size, row in zip(caches, one['sizes'], strict=True):
            scaled = int(size * rate + 0.5)
            if not scaled:
                is_equal('too small', (row['LRU'], row['FIFO']), (None, None))
                continue
            for policy in 'LRU', 'FIFO':
                in_all, in_reads = hits(policy, sample, scaled)
                near(policy, row[policy]['hit_ratio'], estimate(in_all, len(sample), 8000 * rate))
                near(policy, row[policy]['read_hit_ratio'], estimate(in_reads, kept_reads, reads * rate))
                is_equal('hits', row[policy]['hits'], int(row[policy]['hit_ratio'] * 8000 + 0.5))
            ratios = [estimate(hits('LRU', group, int(size * rate / 16 + 0.5))[0] if int(size * rate / 16 + 0.5) else 0,
                               len(group), 8000 * rate / 16) for group in groups_of(sample)]
            mean = sum(ratios) / 16
            deviation = math.sqrt(sum((r - mean) ** 2 for r in ratios) / 15)
            near('error', row['LRU']['hit_ratio_error'], 2.131 * deviation / 4)
        text = sim('--sample', repr(rate), sizes(caches), 't').stdout
        assert f'estimated from {100 * rate:.4g} % of the pages, {len({p for p, _ in sample})} of them:' in text, text
    # a sample that has no page tells nothing
    make('few', ['/db'], fs=calls([(1, False), (1, False)]))
    assert page_hash(1) > 2**32 * 0.001
    one = simulation('--sample', '0.001', '--size', '4M', 'few')
    is_equal('nothing', (one['accesses'], one['hit_ratio_limit'], one['sizes'][0]['LRU']), (2, None, None))
    assert 'nothing is known: the sample, 0.1 % of the pages, has none of them' in sim('--sample', '0.001', 'few').stdout
    # all pages are no sample
    is_equal('all', sim('--sample', '1', 't').stdout, sim('t').stdout)
    whole = simulation(sizes((100, 1000)), 't')
    is_equal('no error', [row['LRU']['hit_ratio_error'] for row in whole['sizes']], [None, None])


def near(what, found, expected):
    assert abs(found - expected) < 1e-9, f'{what}: {found!r}, not {expected!r}'


def memory():
    """A bound that some rate fits, and twice that rate does not."""
    rng = random.Random(4)
    # of two files; one has pages whose index has more than 32 bits
    accesses = [(int(2000 * rng.random()), rng.randrange(2)) for _ in range(9000)]
    make('t', ['/db'], fs=[call(page + (2**32 - 1000) * file, at=i, inode=5 + file) for i, (page, file) in enumerate(accesses)])
    fits = simulation(sizes((200, 2000)), 't')
    is_equal('whole', fits['sample_rate'], 1.0)
    for bound in '64K', '20K', '5K':
        short = simulation('--memory', bound, sizes((200, 2000)), 't')
        rate = short['sample_rate']
        assert rate < 1 and math.log2(rate) == int(math.log2(rate)), rate
        is_equal(bound, short, simulation('--sample', str(rate), sizes((200, 2000)), 't'))
        is_equal('seen', short['accesses'], 9000)
        # twice the rate is too much
        need = simulation('--sample', str(2 * rate), '--memory', bound, 't')
        is_equal('needed', need['sample_rate'], rate)


def disks():
    def request(sector, at, op=0, **more):
        return {'op': op, 'time': 2 * S + at, 'latency': 10, 'sector': sector, 'requested': PAGE, 'result': PAGE,
                'device': 0x800001, 'disk': 'sda', 'comm': 'fio', **more}
    # the second half of block 1 and the first of block 2; a partition of the disk; another disk; a flush, a discard
    requests = [request(8, 0), request(12, 100), request(16, 200, 1, device=0x800002, partition=2), request(8, 300, disk='sdb'),
                request(8, 400, 2), request(8, 500, 3), request(8, 600)]
    make('t', block=requests)
    accesses = [(1, 0), (1, 0), (2, 0), (2, 1), (100, 0), (1, 0)]
    is_equal('block', found_rows(sizes((1, 2, 3)), 't'), expected_rows(accesses, (1, 2, 3)))
    make('both', ['/db'], block=requests, fs=[call(1)])
    is_equal('fs first', [row['category'] for row in rows('-p', 'lru', 'both')], ['fs'])
    is_equal('named', {row['category']: row['accesses'] for row in rows('-p', 'lru', '-c', 'block', 'both')}, {'block': '6'})
    is_equal('both', [row['category'] for row in rows('-p', 'lru', '--size', '4K', '-c', 'fs,block', 'both')], ['fs', 'block'])
    is_equal('JSON', [one['accesses'] for one in document('-c', 'fs,block', 'both')['simulations']], [1, 6])


def later(name, ns):
    """The trace began later, so it is another one."""
    file = name + '/metadata.json'
    with open(file, encoding='utf-8') as f:
        metadata = json.load(f)
    for key in 'monotonic_ns', 'realtime_ns':
        metadata['begin'][key] += ns
    with open(file, 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata(file)


def merged():
    """The same file of one host is one in both of its traces; that of another host is another one."""
    for name, host, first in ('one', 'alpha', 0), ('two', 'alpha', 2), ('three', 'beta', 4):
        make(name, ['/db'], fs=[call(9, at=first), call(9, at=first + 1)])
        change(name, host=host)
        later(name, first)
    run('iotracer', 'traces', 'merge', '-o', 'all', 'one', 'two', 'three')
    is_equal('hits', found_rows('--size', '4K', '-p', 'lru', 'all'), [('LRU', 4096, 4, 4)])
    is_equal('pages', simulation('all')['working_set_bytes'], 2 * PAGE)


def selected():
    rng = random.Random(5)
    accesses = [(rng.randrange(9), rng.random() < 0.5) for _ in range(200)]
    events = calls(accesses)
    for i, event in enumerate(events):
        event.update(comm='even' if i % 2 == 0 else 'odd', time=2 * S + i * S // 10)
    make('t', ['/db'], fs=events)
    for part, options in ((accesses[::2], ('--filter', 'comm=even')), (accesses[50:100], ('--from', '+6', '--to', '+11')),
                          ([a for a in accesses if not a[1]], ('--filter', 'op=read'))):
        is_equal(str(options), found_rows(*options, sizes((2, 5)), 't'), expected_rows(part, (2, 5)))
    # reads alone need no columns of their own
    assert 'READS' not in sim('--filter', 'op=read', 't').stdout and 'READS' in sim('t').stdout


def missing():
    events = calls([(1, False), (2, False), (1, False)])
    events[2].update(cpu=1, gap=5)
    make('t', ['/db'], fs=events)
    change('t', missed=7)
    is_equal('CSV', [(row['lost'], row['missed'], row['unreadable'], row['sampled']) for row in rows('-p', 'lru', '--size', '4K', 't')],
             [('5', '7', '0', '0')])
    done = sim('t')
    is_equal('notes', done.stdout.splitlines()[-2:], ["lost 5: events overwritten or dropped before they were read",
                                                     "missed 7: calls that the kernel's hooks missed"])
    change('t', events=13)
    done = sim('t', status=1)
    assert 'unreadable 10: ' in done.stdout and 'is incomplete' in done.stderr, done
    sim('--partial', 't')
    make('sampled', ['/db'], fs=[call(1, at=i, sample=8) for i in range(3)])
    one = simulation('sampled')
    is_equal('accesses', (one['accesses'], one['sampled']), (3, 3))
    assert 'sampled 3: records that stand for several events' in sim('sampled').stdout
    assert 'do not trust' not in sim('t', '--partial').stdout


def moment(op, page, pages=1, at=0, comm='fio', flags=0, **more):
    return {'op': CACHE[op], 'time': 2 * S + at, 'latency': 0, 'index': page, 'offset': page * PAGE, 'pages': pages,
            'flags': flags, 'inode': 5, 'device': 0x800001, 'path': 1, 'kind': FILE, 'comm': comm, **more}


def page_cache():
    """
    fio reads page 0, and 1 to 3 are read ahead, of which it uses 1. tar uses 2, and makes the kernel reclaim
    1 (fio's), 2 (its own) and 3, which nobody used, but which fio had read; and 9, which nobody is known to
    have used. 1 is read ahead again, truncated, and so never used. 7 is read ahead, and is there in the end.
    """
    events = [moment('MISS', 0), moment('READAHEAD', 0, 4), moment('HIT', 1, offset=PAGE + 100), moment('HIT', 2, comm='tar'),
              moment('RECLAIM', 1, 3, comm='tar'), moment('RECLAIM', 9, comm='tar'), moment('READAHEAD', 1),
              moment('INVALIDATE', 1), moment('MISS', 8, flags=BY_WRITE), moment('DIRTY', 8), moment('HIT', 0, flags=BY_FAULT),
              moment('DROP', 0), moment('EVICT', 8), moment('READAHEAD', 7)]
    for i, event in enumerate(events):
        event['time'] += i
    make('t', ['/db'], cache=events)
    found = document('t')['page_cache']
    is_equal('simulations', document('t')['simulations'], [])
    is_equal('JSON', found, {
        'page_bytes': 4096, 'lookups': {'reads': {'hits': 2, 'misses': 1}, 'writes': {'hits': 0, 'misses': 1},
                                        'faults': {'hits': 1, 'misses': 0}},
        'asked_pages': 1, 'ahead_pages': 5, 'ahead_used_pages': 2, 'ahead_removed_pages': 2,
        'removed_pages': {'RECLAIM': 4, 'INVALIDATE': 1, 'EVICT': 1, 'DROP': 1},
        'reclaimed': [{'reclaimed_by': 'tar', 'last_used_by': 'fio', 'pages': 2},
                      {'reclaimed_by': 'tar', 'last_used_by': None, 'pages': 1},
                      {'reclaimed_by': 'tar', 'last_used_by': 'tar', 'pages': 1}],
        'unfollowed_pages': 0, 'records': 14, 'sampled': 0, 'lost': 0, 'missed': 0, 'unreadable': 0})
    is_equal('text', [line.split() for line in sim('t').stdout.splitlines() if line], [
        'cache: what the page cache did'.split(), ['LOOKUPS', 'PAGES', 'HITS', 'MISSES'],
        'reads 3 66.7 % 33.3 %'.split(), 'writes 1 0.0 % 100.0 %'.split(), 'faults 1 100.0 % 0.0 %'.split(),
        'READ FROM THE DEVICE PAGES SIZE SHARE'.split(), 'asked for 1 4.00KiB 16.7 %'.split(),
        'ahead, used later 2 8.00KiB 33.3 %'.split(), 'ahead, removed unused 2 8.00KiB 33.3 %'.split(),
        'ahead, not used so far 1 4.00KiB 16.7 %'.split(), 'REMOVED BY PAGES SIZE SHARE'.split(),
        'RECLAIM 4 16.0KiB 57.1 %'.split(), 'INVALIDATE 1 4.00KiB 14.3 %'.split(), 'EVICT 1 4.00KiB 14.3 %'.split(),
        'DROP 1 4.00KiB 14.3 %'.split(), 'RECLAIMED BY LAST USED BY PAGES'.split(), 'tar fio 2'.split(),
        'tar (not known) 1'.split(), 'tar tar 1'.split()])
    is_equal('top', [line.split() for line in sim('--top', '1', 't').stdout.splitlines()[-2:]], [['tar', 'fio', '2'], ['others', '2']])
    is_equal('CSV', sim('-f', 'csv', 't').stdout.splitlines()[1], 'cache,page-cache,,5,3,0.600000,,3,2,0.666667,,,1,0,0,0,0')
    # beside a simulation
    make('both', ['/db'], fs=[call(1)], cache=events)
    is_equal('both', document('both')['page_cache'], found)
    is_equal('categories', [row['category'] for row in rows('-p', 'lru', 'both')], ['fs', 'cache'])


def page_cache_sums():
    rng = random.Random(6)
    events = [moment(rng.choice(('HIT', 'MISS', 'READAHEAD', 'READAHEAD', 'RECLAIM', 'DROP', 'DIRTY')), rng.randrange(30),
                     rng.randrange(1, 5), i, rng.choice('abc'), rng.choice((0, BY_WRITE, BY_FAULT)), inode=rng.randrange(2))
              for i in range(3000)]
    make('t', ['/db'], cache=events)
    state, owner = {}, {}
    sums = dict.fromkeys(('asked_pages', 'ahead_pages', 'ahead_used_pages', 'ahead_removed_pages'), 0)
    reclaimed = {}
    names = {number: name for name, number in CACHE.items()}
    for event in events:
        op, who = names[event['op']], event['comm']
        for page in range(event['index'], event['index'] + event['pages']):
            key = event['inode'], page
            was = state.get(key)
            if op in ('HIT', 'MISS'):
                sums['ahead_used_pages'] += op == 'HIT' and was == 'ahead'
                sums['ahead_removed_pages'] += op == 'MISS' and was == 'ahead'
                state[key], owner[key] = 'missed' if op == 'MISS' else 'used', who
            elif op == 'READAHEAD':
                if was == 'missed':
                    sums['asked_pages'] += 1
                    state[key] = 'used'
                elif was != 'ahead':
                    sums['ahead_pages'] += 1
                    state[key], owner[key] = 'ahead', who
            elif op != 'DIRTY':
                sums['ahead_removed_pages'] += was == 'ahead'
                if op == 'RECLAIM':
                    pair = who, owner.get(key)
                    reclaimed[pair] = reclaimed.get(pair, 0) + 1
                state.pop(key, None)
                owner.pop(key, None)
    found = document('t')['page_cache']
    is_equal('sums', {key: found[key] for key in sums}, sums)
    is_equal('pairs', {(row['reclaimed_by'], row['last_used_by']): row['pages'] for row in found['reclaimed']}, reclaimed)
    assert min(sums.values()) > 50 and len(reclaimed) == 12, (sums, reclaimed)
    # pages that are too many to be followed are counted, and the others are as before
    short = document('--memory', '1K', 't')['page_cache']
    assert short['unfollowed_pages'] > 1000 and short['lookups'] == found['lookups'], short


def width():
    rng = random.Random(7)
    events = [call(rng.randrange(2**40), rng.choice(('READ', 'WRITE')), i, result=10**6) for i in range(300)]
    names = 'a\\040name\\040of\\04015\\040c', '\\033[2J', '=cmd()', '\\303\\274' * 7
    cache = [moment(rng.choice(('HIT', 'MISS', 'READAHEAD', 'RECLAIM')), rng.randrange(99), 2**30 if i > 398 else 3, i, rng.choice(names))
             for i in range(399)]
    make('t', ['/db'], fs=events, cache=cache)
    for options in ((), ('-p', 'lru'), ('-p', 'min'), ('--sample', '0.1'), ('--want', '33.333333%'), ('--filter', 'op=read'),
                    ('--size', '4K,12345678,99T')):
        text = sim(*options, 't').stdout
        assert max(len(line) for line in text.splitlines()) <= 80, (options, [line for line in text.splitlines() if len(line) > 80])
        assert '\033' not in text
    for form in 'csv', 'json':
        assert '\033' not in sim('-f', form, 't').stdout


def extremes():
    make('none', ['/db'], fs=[call(1, 'OPEN')])
    is_equal('text', sim('none').stdout, 'fs: 0 calls, 0 accesses to pages of 4 KiB, 0 of them reads\n')
    is_equal('JSON', simulation('--want', '50', '--sample', '0.5', '--size', '4K', 'none')['accesses'], 0)
    make('net', net=[{'op': 0, 'time': 2 * S, 'latency': 1, 'result': 10, 'moved': 10}])
    done = sim('net', status=1)
    assert 'has no category fs, block or cache' in done.stderr and not done.stdout, done
    # more bytes than any call moves count as 4 GiB, and none is behind the last byte that a file can have
    last = (2**64 - 1) // PAGE
    make('most', ['/db'], fs=[call(0, result=2**62), call(0, offset=2**64 - 1, at=1), call(last, at=2, result=10**9),
                              call(last, at=3, offset=last * PAGE, result=4095)])
    one = simulation('--sample', '0.001', '-p', 'lru', '--size', '1G', 'most')
    is_equal('accesses', one['accesses'], 2**20 + 2)
    is_equal('calls', one['calls'], 3)


def mistakes():
    make('t', ['/db'], fs=[call(1)])

    def one_line(part, *options, status=2):
        done = sim(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information'))]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line('say which trace')
    one_line('4K at least', '--size', '1K', 't')
    one_line('say a size', '--size', '1M,,2M', 't')
    one_line('--policy=mru: there are lru, fifo, arc and min', '--policy', 'lru,mru', 't')
    for wrong in '0', '101%', '90%%', 'x', 'nan', '-5':
        one_line('say a hit ratio in percent, as 90%, not ' + wrong, '--want=' + wrong, 't')
    for wrong in '0', '1.5', '10%', 'nan', '':
        one_line('--sample: say a share of the pages', '--sample=' + wrong, 't')
    one_line('--size: there may be 4096 sizes', sizes(range(1, 4098)), 't')
    one_line('has no category block', '-c', 'block', 't', status=1)
    one_line('none', 'none', status=1)


if __name__ == '__main__':
    globals()[sys.argv[1]]()
