# SPDX-License-Identifier: GPL-2.0
"""
What profile_trace.bats runs: iotracer profile of traces whose accesses are known. A trace begins at 1 s of
the monotonic clock and lasts 999 s.
"""
import collections
import csv
import io
import json
import os
import random
import sys

from join import S, is_equal, run
from lib.svg import Picture
from stats import PARTS, any_events, change, event, make, nearest_rank

K = 1024
ORDERS = 'sequential', 'strided', 'same', 'random', 'first'
ALIGNMENTS = 512, 4096, 65536, 1048576


def profile(*options, status=0):
    return run('iotracer', 'profile', *options, status=status)


def rows(*options, status=0):
    text = profile('-f', 'csv', *options, status=status).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def numbers(row, *names):
    return tuple(int(row[name]) for name in names)


def orders(*options):
    """How many accesses of each order the only row has."""
    row, = rows(*options, 't')
    return numbers(row, *ORDERS)


def accesses(op, *ranges, **more):
    """An access to each OFFSET+SIZE, one a millisecond."""
    begin = more.pop('begin', 2 * S)
    for i, (offset, size) in enumerate(tuple(map(int, r.split('+'))) for r in ranges):
        yield event(op, begin + i * 10**6, 1000, size, offset=offset, **{'kind': 1, 'inode': more.get('path', 1), **more})


def request(begin, end, sector, size, op=0, **more):
    return {'op': op, 'time': begin, 'latency': end - begin, 'sector': sector, 'result': size, 'requested': size,
            'pid': 9, 'comm': 'kworker', 'device': 0x800001, **more}


# --- the tests ----------------------------------------------------------------------

HEAD = ('category,file,others,kind,count,bytes,sequential,sequential_bytes,strided,strided_bytes,same,same_bytes,random,'
        'random_bytes,first,first_bytes,size_avg_bytes,size_min_bytes,size_max_bytes,size_usual_bytes,size_usual_count,'
        'aligned_512_bytes,aligned_4096_bytes,aligned_65536_bytes,aligned_1048576_bytes,failed,empty,unplaced,lost,missed,'
        'unreadable,sampled')


def by_hand():
    paths = '/srv/a', '/srv/b'
    reads = list(accesses('READ', '0+4096', '4096+4096', '8192+512', '1000+24', '0+4096', '0+4096', path=1))
    write, = accesses('DIO_WRITE', '65536+1048576', path=2, begin=3 * S)
    failed = event('READ', 4 * S, 5, -5, path=2, kind=1)
    make('t', paths, fs=[*reads, write, failed], block=[request(5 * S, 6 * S, 8, 4096, path=1)])
    is_equal('CSV', profile('-f', 'csv', 't').stdout.splitlines(), [
        HEAD,
        # 4096, 8192: sequential; 1000 is neither; 0 again: 1000 back, then where the last one was
        'fs,/srv/b,0,write,1,1048576,0,0,0,0,0,0,0,0,1,1048576,1048576.000,1048576,1048576,1048576,1,1,1,1,0,1,0,0,0,0,0,0',
        'fs,/srv/a,0,read,6,16920,2,4608,0,0,1,4096,2,4120,1,4096,2820.000,24,4096,4096,4,5,4,0,0,0,0,0,0,0,0,0',
        'block,/srv/a,0,read,1,4096,0,0,0,0,0,0,0,0,1,4096,4096.000,4096,4096,4096,1,1,1,0,0,0,0,0,0,0,0,0'])
    document = json.loads(profile('-f', 'json', 't').stdout)
    assert document['trace'].endswith('t'), document
    fs, _ = document['categories']
    second, first = fs.pop('rows')
    is_equal('category', fs, {'category': 'fs', 'failed': 1, 'empty': 0, 'unplaced': 0, 'records': 8, 'sampled': 0,
                              'lost': 0, 'missed': 0, 'unreadable': 0})
    is_equal('row', (second['file'], second['read'], second['failed'], second['others']), ('/srv/b', None, 1, 0))
    is_equal('row', first['write'], None)
    read = first['read']
    is_equal('bytes', round(read['sequential'].pop('bytes_percent'), 9), round(100 * 4608 / 12824, 9))
    is_equal('sequential', read['sequential'], {'count': 2, 'bytes': 4608, 'count_percent': 40.0})
    is_equal('first', read['first'], {'count': 1, 'bytes': 4096})
    is_equal('first only', second['write']['random'], {'count': 0, 'bytes': 0, 'count_percent': None,
                                                       'bytes_percent': None})
    is_equal('sizes', read['size_bytes'], {'avg': 2820.0, 'min': 24, 'max': 4096, 'usual': 4096, 'usual_count': 4})
    is_equal('aligned', read['aligned_to_bytes'], {'512': 5, '4096': 4, '65536': 0, '1048576': 0})
    make('ties', fs=list(accesses('READ', '0+20', '50+10', '90+20', '70+10')))
    is_equal('the smallest of several', numbers(rows('ties')[0], 'size_usual_bytes', 'size_usual_count'), (10, 2))
    text = [line.split() for line in profile('t').stdout.splitlines()]
    is_equal('title', text[0], 'fs: 7 reads and writes, 1.02MiB'.split())
    is_equal('left out', text[1], 'left out: 1 failed'.split())
    is_equal('orders', text[5:9], [
        ['/srv/b'], ['write', '1', '100%', '1.00MiB', '100%'] + 8 * ['-'],
        ['/srv/a'], ['read', '6', '100%', '16.5KiB', '100%', '40%', '0%', '20%', '40%', '36%', '0%', '32%', '32%']])
    is_equal('sizes', text[15], ['read', '24B', '2.75KiB', '4.00KiB', '4.00KiB', '67%', '83%', '67%', '0%', '0%'])


def map_by_hand():
    """
    Of /a, eight reads and eight writes, of 16 offsets, two a column of 32: the last begins 63 columns behind the first.
    /b has reads in one place.
    """
    reads = [event('READ', 2 * S + 8 * i * S, 10, 4096, offset=(8 + i) * 4096, path=1, inode=1, kind=1) for i in range(8)]
    writes = [event('WRITE', 2 * S + (8 * i + 7) * S, 10, 4096, offset=(7 - i) * 4096, path=1, inode=1, kind=1) for i in range(8)]
    here = [event('READ', 5 * S, 10, 1, offset=8192 + 700, path=2, inode=2, kind=1, sample=30)]
    make('t', ['/a', '/b'], fs=sorted(reads + writes, key=lambda e: e['time']) + here)

    def shown(locale):
        text = run('iotracer', 'profile', '--map', 't', env={**os.environ, 'LC_ALL': locale}).stdout
        return text[text.index('offset over time'):].splitlines()

    def expected(one, many, legend, orders, sequential, strided, random_):
        # columns of 63 s / 64 + 1 ns: the k-th second is in column k, two of which are one
        rows_ = []
        for row in range(15, -1, -1):
            columns = [[' '] * 32, [' '] * 32]
            if row >= 8:
                columns[0][4 * (row - 8)] = one
            else:
                columns[1][(8 * (7 - row) + 7) // 2] = one
            label = f'{4 * row}.0KiB' if row > 2 else f'{4 * row}.00KiB' if row else '0B'
            rows_.append(f'{label:>9}|' + ''.join(columns[0]) + '|' + ''.join(columns[1]) + '|')
        return ['offset over time; characters stand for so many accesses, or more:', legend,
                'below, how accesses follow each other: ' + orders, '', '/a',
                '          reads: 8                         writes: 8', '          a row is 4.00KiB, a column 1.97s', *rows_,
                9 * ' ' + 2 * (' +1s' + 25 * ' ' + '+64s'),
                # of the seven with a predecessor, the first write is random
                '     read ' + 64 * sequential, '    write ' + 55 * strided + 9 * random_, '', '/b', '          reads: 30',
                '          a row is 1B, a column 1ns', '  8.68KiB|' + many + 63 * ' ' + '|', '          +4s' + 58 * ' ' + '+4s']
    is_equal('UTF-8', shown('C.UTF-8'), expected('░', '▓', '  ░ 1 ▒ 4 ▓ 16', '█ sequential ▓ strided ▒ same ░ random', *'█▓░'))
    is_equal('ASCII', shown('C'), expected('.', '+', '  . 1 : 2 - 4 = 8 + 16', '# sequential = strided - same . random', *'#=.'))


def map_of_many():
    """JSON's cells are those of a dict; the picture's are those of JSON."""
    rng = random.Random(16)
    events = [event(rng.choice(('READ', 'WRITE', 'DIO_READ')), 2 * S + i * 10**7, 10, rng.choice((0, -5, 1, 4096)), kind=1, inode=1 + i % 5,
                    offset=rng.randrange(10 ** rng.randrange(1, 12)), path=1 + i % 5, sample=rng.choice((1, 3))) for i in range(4000)]
    names = ['/<a>&', '/b"', '/c\033', '/d', '/e']
    make('t', names, fs=events, block=[request(2 * S + i, 3 * S + i, 100 + i * 8, 4096, i % 2, path=4) for i in range(99)])
    fs, block = json.loads(profile('--map', '-f', 'json', '--top', '4', 't').stdout)['categories']
    is_equal('others have none', [row['map'] is None for row in fs['rows']], [False] * 4 + [True])
    is_equal('without', 'map' in json.loads(profile('-f', 'json', 't').stdout)['categories'][0]['rows'][0], False)
    for row in fs['rows'][:4]:
        of = [e for e in events if names[e['path'] - 1].replace('\033', '\\033') == row['file'] and e['result'] > 0]
        low, high = (f(e['offset'] for e in of) for f in (min, max))
        size = 1
        while high // size - low // size >= 16:
            size *= 2
        first = min(e['time'] for e in of)
        interval = (max(e['time'] for e in of) - first) // 64 + 1
        for kind, ops in ('read', (0, 2)), ('write', (1,)):
            cells = collections.Counter()
            for e in of:
                if e['op'] in ops:
                    cells[(e['time'] - first) // interval, e['offset'] // size * size] += e['sample']
            is_equal('cells', {(round((c['since_s'] * S + S - first) / interval), c['from_bytes']): c['count'] for c in row['map'][kind]},
                     dict(cells))
        is_equal('size', row['map']['row_bytes'], size)
    is_equal('output', profile('-o', 'x.svg', '--top', '4', 't').stdout, '')
    found = Picture('x.svg')
    expected, shares = [], []
    for category in fs, block:
        for row in category['rows']:
            for kind in 'read', 'write':
                expected += [(kind, f"{c['since_s']:.6f}", c['from_bytes'], c['count']) for c in (row['map'] or {kind: []})[kind]]
                shares += [(kind, order, row[kind][order]['count']) for order in ORDERS[:4] if row['map'] and row[kind][order]['count']]
    is_equal('cells', [(m['kind'], f"{float(m['since-s']):.6f}", int(m['from']), int(m['count'])) for m in found.marks('from')], expected)
    is_equal('shares', [(m['kind'], m['order'], int(m['count'])) for m in found.marks('order')], shares)
    is_equal('names', [text for text in found.texts() if ': /' in text],
             [f"{category['category']}: {row['file']}" for category in (fs, block) for row in category['rows'] if row['map']])


def by_rules():
    def of(*ranges):
        make('t', ['/f'], fs=list(accesses('READ', *ranges, path=1)))
        return orders()
    is_equal('sequential', of('0+10', '10+5', '15+1'), (2, 0, 0, 0, 1))
    # sequential goes before strided
    is_equal('equal sizes', of('0+10', '10+10', '20+10', '30+10'), (3, 0, 0, 0, 1))
    # the first distance is no stride yet
    is_equal('strided', of('0+10', '100+10', '200+10', '300+9', '400+1'), (0, 3, 0, 1, 1))
    is_equal('as far from its predecessor as that one from 0', of('100+10', '200+10'), (0, 0, 0, 1, 1))
    is_equal('backwards', of('900+10', '800+10', '700+10'), (0, 1, 0, 1, 1))
    is_equal('a stride that changes', of('0+1', '10+1', '20+1', '40+1', '60+1', '70+1'), (0, 2, 0, 3, 1))
    # what is the same is no stride of 0
    is_equal('same', of('70+5', '70+5', '70+6', '70+5'), (0, 0, 3, 0, 1))
    is_equal('begins as the last one, which is not where it ended', of('0+5', '5+5', '5+5', '10+1'), (2, 0, 1, 0, 1))
    # the distance of a stride may be that of sequential accesses
    is_equal('after sequential', of('0+10', '10+5', '20+5', '30+5'), (1, 2, 0, 0, 1))
    is_equal('one', of('0+5'), (0, 0, 0, 0, 1))


def streams():
    one = dict(path=1, device=0x800001)
    for change_, split in (({'tid': 8}, True), ({'path': 2}, True), ({'device': 0x800002}, True), ({'pid': 8}, False),
                           ({'comm': 'x'}, False)):
        make('t', ['/f', '/g'], fs=[*accesses('READ', '0+10', **one), *accesses('READ', '10+10', **{**one, **change_},
                                                                             begin=3 * S)])
        is_equal(str(change_), orders('--by', 'op'), (0, 0, 0, 0, 2) if split else (1, 0, 0, 0, 1))
    make('t', ['/f'], fs=[*accesses('READ', '0+10'), *accesses('DIO_READ', '10+10', begin=3 * S),
                          *accesses('WRITE', '20+10', begin=4 * S), *accesses('DIO_WRITE', '30+5', begin=5 * S)])
    found = {row['kind']: numbers(row, *ORDERS) for row in rows('--by', 'device', 't')}
    is_equal('kinds', found, {'read': (1, 0, 0, 0, 1), 'write': (1, 0, 0, 0, 1)})
    # a key is no stream: of two files by one thread in turn, each is sequential
    make('t', ['/f', '/g'], fs=[e for i in range(5) for path in (1, 2) for e in accesses(
        'READ', f'{10 * i}+10', path=path, begin=2 * S + i * 1000 + path)])
    is_equal('in turn', orders('--by', 'process'), (8, 0, 0, 0, 2))
    # of a device, all threads are one stream
    make('t', block=[request((2 + i) * S, (2 + i) * S + 5, 8 * i, 4096, tid=i, inode=i) for i in range(4)])
    is_equal('device', orders('--by', 'device'), (3, 0, 0, 0, 1))
    make('t', block=[request((2 + i) * S, (2 + i) * S + 5, 8 * i, 4096, device=0x800001 + i // 2) for i in range(4)])
    is_equal('devices', orders('--by', 'op'), (2, 0, 0, 0, 2))
    make('t', block=[request((2 + i) * S, (2 + i) * S + 5, 8 * i, 4096, op=i // 2) for i in range(4)])
    is_equal('kinds', [numbers(row, *ORDERS) for row in rows('t')], 2 * [(1, 0, 0, 0, 1)])


def began():
    """Requests that end in any order began one after the other. Two that began at once: as they ended."""
    rng = random.Random(7)
    make('t', block=[request(2 * S + i, 3 * S + rng.randrange(10**6), 8 * i, 4096) for i in range(3000)])
    is_equal('sequential', orders('--by', 'device'), (2999, 0, 0, 0, 1))
    make('t', block=[request(2 * S, 3 * S + i, 8 * i, 4096) for i in range(100)])
    is_equal('at once', orders('--by', 'device'), (99, 0, 0, 0, 1))
    # the first one ends behind more requests than are held
    nr = 65540
    make('t', block=[request(2 * S, 900 * S, 0, 4096)] +
         [request(2 * S + 10 * i, 2 * S + 10 * i + 5, 8 * i, 4096) for i in range(1, nr)])
    is_equal('late', orders('--by', 'device'), (nr - 3, 0, 0, 2, 1))


def brute_force():
    """Few places, so that each order comes often; several threads and files; some at once."""
    rng = random.Random(8)
    events = [e for i in range(4000) for e in accesses(
        rng.choice(('READ', 'WRITE', 'DIO_READ')), f'{rng.randrange(6) * 512}+{rng.choice((1, 512, 1024))}',
        path=rng.randrange(1, 4), tid=rng.randrange(2), pid=rng.randrange(3), begin=2 * S + i * 5000)]
    blocks = [request(2 * S + rng.randrange(10**6), 3 * S + rng.randrange(10**6), rng.randrange(5), rng.choice((512, 1024)),
                      rng.randrange(2), pid=rng.randrange(3), device=0x800001 + rng.randrange(2)) for i in range(4000)]
    make('t', ['/a', '/b', '/c'], fs=events, block=blocks)
    for category, made in ('fs', events), ('block', blocks):
        expected, last = collections.defaultdict(collections.Counter), {}
        ended = sorted(made, key=lambda e: e['time'] + e['latency'])
        for e in sorted(ended, key=lambda e: e['time']):
            start = e['offset'] if category == 'fs' else 512 * e['sector']
            kind = 'write' if e['op'] in (1, 3) else 'read'
            stream = kind, e.get('device'), e.get('inode'), e.get('tid') if category == 'fs' else None
            before, begin, end = last.get(stream, (None, None, None))
            order = ('first' if begin is None else 'sequential' if start == end else 'same' if start == begin else
                     'strided' if before is not None and start - begin == begin - before else 'random')
            last[stream] = begin, start, start + e['result']
            key = str(e['pid']), kind
            expected[key].update({order: 1, order + '_bytes': e['result'], 'count': 1, 'bytes': e['result'],
                                  **{f'aligned_{n}_bytes': not (start % n or e['result'] % n) for n in ALIGNMENTS}})
        found = rows('--by', 'process', '-c', category, 't')
        is_equal('keys', {(row['process'], row['kind']) for row in found}, set(expected))
        for row in found:
            counts = expected[row['process'], row['kind']]
            names = [n for order in ORDERS for n in (order, order + '_bytes')] + ['count', 'bytes'] + \
                [f'aligned_{n}_bytes' for n in ALIGNMENTS]
            is_equal(f'{category} {row["process"]} {row["kind"]}', numbers(row, *names), tuple(counts[n] for n in names))
        for order in ORDERS:
            assert any(counts[order] for counts in expected.values()), order


def left_out():
    """What fails or moves nothing is no predecessor."""
    first, last = accesses('READ', '0+10', '10+10', path=1)
    between = [event('READ', 2 * S + 10, 1, result, path=1, inode=1, offset=500, kind=1) for result in (-5, 0)]
    others = [event('READ', 3 * S, 1, 10, kind=kind, path=1) for kind in (4, 5, 8)]
    make('t', ['/f'], fs=[first, *between, last, *others, event('OPEN', 3 * S, 1, 3, path=1),
                          event('SENDFILE', 3 * S, 1, 30, path=1)])
    row, = rows('t')
    is_equal('sequential', numbers(row, *ORDERS, 'count', 'failed', 'empty', 'unplaced'), (1, 0, 0, 0, 1, 2, 1, 1, 3))
    is_equal('text', profile('t').stdout.splitlines()[1],
             'left out: 1 failed, 1 moved nothing, 3 of pipes, sockets, eventfds ...')
    make('t', block=[request(2 * S, 3 * S, 0, 4096, op=op) for op in (2, 3, 5, 6)])
    is_equal('no accesses', profile('t').stdout, 'block: 0 reads and writes, 0B\n')
    is_equal('no accesses', len(profile('-f', 'csv', 't').stdout.splitlines()), 1)


def charged():
    make('t', block=[request(2 * S, 3 * S, 0, 4096, op=1, origin_pid=50, origin_comm='rsync'),
                     request(3 * S, 4 * S, 8, 512, op=1)])
    is_equal('process', [(row['process'], row['command'], row['bytes']) for row in rows('--by', 'process', 't')],
             [('50', 'rsync', '4096'), ('9', 'kworker', '512')])


def sampled():
    make('t', ['/f'], fs=[*accesses('READ', '0+4096', '4096+4096', sample=8), *accesses('READ', '1+7', begin=3 * S)])
    row, = rows('t')
    is_equal('figures', numbers(row, 'count', 'bytes', *ORDERS, 'size_usual_count', 'aligned_4096_bytes', 'sampled'),
             (17, 65543, 8, 0, 0, 1, 8, 16, 16, 2))
    text = profile('t').stdout.splitlines()
    is_equal('notes', text[-3:], [
        'sampled 2: records that stand for several events each, and are', 'scaled: 3 records are counted as 17 events',
        'an access whose predecessor is missing may count as random'])


def top():
    rng = random.Random(9)
    events = [{**e, 'kind': 1, 'offset': rng.randrange(4) * 512} for e in any_events(rng, 'fs', 3000)]
    make('t', [f'/d{i % 7}/f{i}' for i in range(59)], fs=events)
    sums = ['count', 'bytes', *ORDERS, *(order + '_bytes' for order in ORDERS), 'failed', 'empty', 'aligned_512_bytes']

    def total(found):
        """Failed and empty ones are of a key, and so in both of its rows."""
        keys = {row['file'] + '/' + row['others']: numbers(row, 'failed', 'empty') for row in found}
        return [sum(n) for n in zip(*(numbers(row, *sums[:-3]) for row in found))], [sum(n) for n in zip(*keys.values())]
    for how, column in ('bytes', 'bytes'), ('count', 'count'), ('name', None):
        every = rows('--sort', how, '--top', '0', 't')
        keys = list(dict.fromkeys(row['file'] for row in every))
        is_equal('files', len(keys), 60)
        if column:
            by_key = [sum(int(row[column]) for row in every if row['file'] == key) for key in keys]
            is_equal('order', by_key, sorted(by_key, reverse=True))
        else:
            is_equal('order', keys, sorted(keys))
        for nr in 1, 20, 59, 60, 1000:
            found = rows('--sort', how, '--top', str(nr), 't')
            is_equal('sums', total(found), total(every))
            shown = [row for row in every if row['file'] in keys[:nr]]
            is_equal('first rows', found[:len(shown)], shown)
            is_equal('others', {row['others'] for row in found[len(shown):]}, {str(60 - nr)} if nr < 60 else set())
    others = [row for row in rows('--top', '5', 't') if row['others'] != '0']
    named = {row['file'] for row in rows('--top', '5', 't')} - {''}
    files = [f'/d{i % 7}/f{i}' for i in range(59)]
    for row in others:
        ops = (0, 2) if row['kind'] == 'read' else (1, 3)
        sizes = [e['result'] for e in events if e['op'] in ops and e['result'] > 0 and
                 (files[e['path'] - 1] if e['path'] else '') not in named]
        usual, = [(size, sizes.count(size)) for size in sorted(set(sizes), key=lambda n: (-sizes.count(n), n))[:1]]
        is_equal('sizes of others', numbers(row, 'size_min_bytes', 'size_max_bytes', 'size_usual_bytes',
                                            'size_usual_count'), (min(sizes), max(sizes), *usual))


def merged():
    for name, host, offset in ('one', 'alpha', 0), ('two', 'beta', 10):
        make(name, ['/f'], fs=list(accesses('READ', f'{offset}+10', begin=2 * S + offset)))
        change(name, host=host)
    run('iotracer', 'traces', 'merge', '-o', 't', 'one', 'two')
    is_equal('two streams', orders(), (0, 0, 0, 0, 2))
    is_equal('hosts', [(row['host'], row['first']) for row in rows('--by', 'host', '--sort', 'name', 't')],
             [('alpha', '1'), ('beta', '1')])


def selected():
    make('t', ['/f'], fs=[*accesses('READ', '0+10', '10+10', '20+10', path=1), *accesses('READ', '30+10', path=1, begin=9 * S)])
    is_equal('all', orders(), (3, 0, 0, 0, 1))
    is_equal('from, to', orders('--from', '+1.001', '--to', '+7'), (1, 0, 0, 0, 1))
    is_equal('filter', orders('--filter', 'path=/f op=READ'), (3, 0, 0, 0, 1))
    is_equal('category', len(rows('-c', 'fs', 't')), 1)
    change('t', missed=7)
    is_equal('missed', profile('t').stdout.splitlines()[-2:], [
        "missed 7: calls that the kernel's hooks missed", 'an access whose predecessor is missing may count as random'])
    change('t', events=16)
    assert 'unreadable 12' in profile('t', status=1).stdout
    is_equal('unreadable', rows('--partial', 't')[0]['unreadable'], '12')


def width():
    long = ['/' + 'directory/' * 30 + f'{i}.db' for i in range(3)] + ['/' + 'ü' * 100, '/' + 'x' * 78, '/' + 'x' * 79, '/e\\033[2J']
    most = 2**32 - 1
    make('t', long, fs=[event(op, (2 + i) * S, 5, 10**(i % 19), path=1 + i % 7, kind=i % 9, offset=2**64 - 1 - i % 3,
                              sample=most if i % 2 else 3, pid=2**31 + i, comm='a\\040name\\033[2J')
                        for i, op in enumerate(['READ', 'WRITE', 'DIO_READ', 'DIO_WRITE'] * 200)],
         block=[request((2 + i) * S, 900 * S, 2**64 - 1 - i, 10**(i % 19), op=i % 2, path=i % 8) for i in range(400)])
    text = [profile('--by', by, '--top', str(nr), 't').stdout for nr in (0, 3)
            for by in ('file', 'op', 'directory,op', 'process', 'device,command')]
    wide = {(len(line), line) for each in text for line in each.splitlines()}
    assert max(wide)[0] == 80, max(wide)
    for form in 'csv', 'json', 'text':
        assert '\033' not in profile('--by', 'file,command', '-f', form, 't').stdout


def hostile():
    """Numbers that no kernel makes end no program; shares stay shares."""
    rng = random.Random(10)

    def anything(bits):
        return rng.choice((0, 1, 2**bits - 1, 2**(bits - 1), rng.randrange(2**bits)))
    make('t', ['/f'], fs=[{'op': anything(16), 'time': 2 * S + i, 'latency': rng.randrange(9), 'offset': anything(64),
                           'result': anything(63), 'path': anything(64), 'inode': anything(64), 'kind': anything(16),
                           'sample': anything(32), 'device': anything(32), 'tid': anything(32)} for i in range(300)] +
         list(accesses('READ', *(f'{anything(64)}+{anything(62)}' for _ in range(300)))),
         block=[{**request(2 * S, 3 * S, anything(64), 0), 'op': anything(16), 'result': anything(63),
                 'sample': anything(32), 'class': anything(16), 'latency': rng.randrange(10**9),
                 'origin_pid': anything(32)} for _ in range(300)])
    for by in 'file', 'process', 'device,op', 'class,submitter':
        for form in 'text', 'json', 'csv':
            assert profile('--by', by, '-f', form, *(() if form == 'csv' else ('--map',)), '-c', 'block' if 'class' in by else 'fs,block',
                           't').stdout
        profile('--by', by, '-o', 'x.svg', '-c', 'block' if 'class' in by else 'fs,block', 't')
        assert list(Picture('x.svg').marks('from'))


def mistakes():
    make('t', ['/f'], fs=list(accesses('READ', '0+10')), net=[{'op': 0, 'time': 2 * S, 'latency': 1}])
    make('net', net=[{'op': 0, 'time': 2 * S, 'latency': 1}])

    def one_line(status, part, *options):
        done = profile(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information.'))]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which file or trace, or --live')
    one_line(1, 'none', '--by', 'file', 'none')
    one_line(2, 'say a name that ends in .svg', '-o', 'x.png', 't')
    one_line(2, '--output makes a picture instead of --format=json', '-o', 'x.svg', '-f', 'json', 't')
    one_line(2, '--map and --output are for files', '--vm', 'web', '--map', 't')
    one_line(2, '--window is for a file that is a target', '--window', '5', 't')
    one_line(2, 'there is no key "fil"; the nearest is file', '--by', 'fil', 't')
    one_line(2, 'events of category fs have no class', '--by', 'class', '-c', 'fs', 't')
    one_line(2, '-c net: only fs and block have accesses', '-c', 'net', 't')
    one_line(1, 'has no accesses to profile', 'net')
    one_line(2, '--sort=latency', '--sort', 'latency', 't')
    one_line(2, '--window is for', '--window', '5', '-f', 'csv', 'none')


REUSE = ('accesses', 'blocks', *(f'distance_{part}_blocks' for part in ('p50', 'p90', 'p99', 'p99_9', 'p99_99', 'max')))


def reuse_of(row):
    return [row['reuse_' + name] for name in REUSE]


def reuse_by_hand():
    """Blocks 0 1 2 0 0, then 2 and 3 by one access: 0 is 3 apart and 1, 2 is 2 apart (0 and 2), 3 is new."""
    make('t', ['/f', '/g'], fs=[
        *accesses('READ', '0+4096', '4096+1', '8192+4096', '4095+1', path=1), *accesses('WRITE', '0+1', '12287+2', path=1, begin=3 * S),
        *accesses('READ', '0+4096', path=2, begin=4 * S), event('READ', 5 * S, 1, -5, path=2, kind=1)],
         block=[request(2 * S, 3 * S, 7, 1024), request(3 * S, 4 * S, 8, 512)])
    read, write, once, disk = rows('--reuse', '--sort', 'count', 't')
    is_equal('head', profile('--reuse', '-f', 'csv', 't').stdout.splitlines()[0],
             HEAD.replace('failed,empty', ','.join('reuse_' + name for name in REUSE) + ',failed,empty'))
    # distances 1 2 3: the median is the second, 90 % and more of the three are all of them
    is_equal('a file', reuse_of(read), '7 4 2 3 3 3 3 3'.split())
    is_equal('both rows of a key', reuse_of(write), reuse_of(read))
    is_equal('no block again', reuse_of(once), ['1', '1'] + 6 * [''])
    # sectors 7 and 8 are in two blocks of one request, and the second block is accessed again
    is_equal('a disk', reuse_of(disk), '3 2 1 1 1 1 1 1'.split())
    fs, block = json.loads(profile('--reuse', '--sort', 'count', '-f', 'json', 't').stdout)['categories']
    of_three = {'p50': 2, **dict.fromkeys(('p90', 'p99', 'p99_9', 'p99_99', 'max'), 3)}
    is_equal('share', round(fs['rows'][0]['reuse'].pop('no_reuse_percent'), 9), round(100 * 4 / 7, 9))
    is_equal('JSON', [row['reuse'] for row in fs['rows']], [
        {'accesses': 7, 'blocks': 4, 'distance_blocks': of_three},
        {'accesses': 1, 'blocks': 1, 'no_reuse_percent': 100.0, 'distance_blocks': None}])
    is_equal('all blocks', (fs['reuse_blocks_percent'], block['reuse_blocks_percent']), (100.0, 100.0))
    text = profile('--reuse', '--sort', 'count', '-c', 'fs', 't').stdout.splitlines()
    is_equal('text', [line.split() for line in text[-4:]], [
        ['/f'], '7 4 57.1% 2 3 3 3 3 3'.split(), ['/g'], '1 1 100.0% - - - - - -'.split()])
    assert max(len(line) for line in text) <= 80, text
    # each key is alone: what others access between does not count, nor what they accessed before
    make('t', ['/f'], fs=[e for i, pid in enumerate((1, 2, 1, 2, 3)) for e in accesses(
        'READ', f'{4096 * (i // 2)}+1' if pid == 3 else '0+1', path=1, pid=pid, begin=(2 + i) * S)])
    is_equal('keys', [(row['process'], *reuse_of(row)[:3]) for row in rows('--reuse', '--by', 'process', '--sort', 'name', 't')],
             [('1', '2', '1', '1'), ('2', '2', '1', '1'), ('3', '1', '1', '')])
    assert 'reuse' not in profile('-f', 'json', 't').stdout + profile('-f', 'csv', 't').stdout


def listed(made, key):
    """Distances of each key's accesses: how deep in a list of the last ones the block is."""
    lists, distances, seen = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
    for e in made:
        last = lists[key(e)]
        for number in range(e['offset'] // 4096, (e['offset'] + e['result'] - 1) // 4096 + 1):
            block = e['path'], number
            seen[key(e)] += 1
            if block in last:
                distances[key(e)].append(len(last) - last.index(block))
                last.remove(block)
            last.append(block)
    return {k: (seen[k], len(lists[k]), sorted(distances[k])) for k in seen}


def expected_of(seen, blocks, distances):
    return [str(n) for n in (seen, blocks, *(nearest_rank(distances, part) for part in (*PARTS.values(), 10000)))]


def reuse_listed():
    rng = random.Random(11)
    made = [e for i in range(4000) for e in accesses(
        rng.choice(('READ', 'WRITE')), f'{rng.randrange(300) ** 2 // 300 * 2048}+{rng.choice((1, 4096, 9000))}',
        path=rng.randrange(1, 4), inode=1, pid=rng.randrange(4), begin=2 * S + i * 5000)]
    for e in made:
        e['inode'] = e['path']
    paths = '/a', '/b', '/c'
    make('t', paths, fs=made)
    for by, key in ('process', lambda e: str(e['pid'])), ('file', lambda e: paths[e['path'] - 1]):
        expected = {k: expected_of(*its) for k, its in listed(made, key).items()}
        is_equal(by, {row[by]: reuse_of(row) for row in rows('--reuse', '--by', by, 't')}, expected)
    by_file = listed(made, lambda e: paths[e['path'] - 1])
    for path, (_, _, distances) in by_file.items():
        sizes = sorted({distances[0], nearest_rank(distances, 5000), nearest_rank(distances, 9000), distances[-1]})
        text = run('iotracer', 'cache-sim', '-f', 'csv', '--policy', 'lru', '--size', ','.join(f'{4 * n}K' for n in sizes),
                   '--filter', f'path={path}', 't').stdout
        found = [int(row['hits']) for row in csv.DictReader(io.StringIO(text))]
        is_equal('hits', found, [sum(d <= n for d in distances) for n in sizes])
    # others have the distances that each of them has
    others = [row for row in rows('--reuse', '--top', '1', 't') if row['others'] == '2']
    named = {row['file'] for row in rows('--top', '1', 't')} - {''}
    rest = [its for path, its in by_file.items() if path not in named]
    is_equal('others', reuse_of(others[0]), expected_of(*(sum(n[i] for n in rest) for i in (0, 1)), sorted(
        d for its in rest for d in its[2])))


def reuse_sampled():
    """Two passes over a file: whichever blocks are kept, half of the accesses have a distance, which is all of them."""
    size = 300 * 2**20
    make('t', ['/f'], fs=list(accesses('READ', f'0+{size}', f'0+{size}', path=1)))
    row, _ = (json.loads(profile('--reuse', '--memory', memory, '-f', 'json', 't').stdout)['categories'][0]
              for memory in ('1M', '100M'))
    share, reuse = row['reuse_blocks_percent'], row['rows'][0]['reuse']
    assert share < 100 and 100 / share in [2**i for i in range(20)], share
    is_equal('accesses', reuse['accesses'], 2 * reuse['blocks'])
    is_equal('share', reuse['no_reuse_percent'], 50.0)
    is_equal('distances', set(reuse['distance_blocks'].values()), {reuse['blocks']})
    # a sample of blocks that are chosen by a hash: the same in each run; so this is no statistic
    assert abs(reuse['blocks'] - size / 4096) < size / 4096 / 10, reuse
    is_equal('exact', (_['reuse_blocks_percent'], _['rows'][0]['reuse']['blocks']), (100.0, size // 4096))
    assert f'blocks are sampled, 1 in {round(100 / share)}: the figures of reuse are estimates' in \
        profile('--reuse', '--memory', '1M', 't').stdout
    assert 'sampled' not in profile('--reuse', 't').stdout


def reuse_hostile():
    rng = random.Random(12)
    make('t', ['/f'], fs=[e for i in range(40) for e in accesses(
        'READ', f'{rng.choice((0, 2**64 - 1, 2**63, rng.randrange(2**64)))}+{rng.choice((1, 2**63 - 1, 2**40, 5000))}',
        path=rng.choice((0, 1, 2**64 - 1)), inode=2**64 - 1, pid=2**32 - 1, sample=2**32 - 1, begin=2 * S + i)])
    for form in 'text', 'json', 'csv':
        assert profile('--reuse', '--memory', '1M', '-f', form, '--by', 'process', 't').stdout
    make('t', ['/f'], fs=[event('READ', 2 * S, 1, -5, path=1, kind=1)])
    assert 'DISTANCE' in profile('--reuse', 't').stdout
    make('t', ['/f'], fs=[event('OPEN', 2 * S, 1, 3, path=1, kind=1)])
    is_equal('nothing', profile('--reuse', 't').stdout, 'fs: 0 reads and writes, 0B\n')


def kept():
    """A trace that is kept is known by its name, unless a file here has that."""
    make('t', ['/f'], fs=list(accesses('READ', '0+10', '10+10')))
    os.mkdir('kept')
    os.rename('t', 'kept/t')
    is_equal('name', orders(), (1, 0, 0, 0, 1))
    assert profile('kept/t').stdout.startswith('fs: 2 reads and writes')
    with open('t', 'w', encoding='ascii'):
        pass
    os.makedirs('proc', exist_ok=True)
    with open('proc/control', 'w', encoding='ascii'):
        pass
    done = profile('t', status=1)
    assert 'reads and writes' not in done.stdout and done.stderr.startswith('iotracer: t: '), done.stderr


if __name__ == '__main__':
    globals()[sys.argv[1]]()
