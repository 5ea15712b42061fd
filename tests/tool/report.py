# SPDX-License-Identifier: GPL-2.0
"""
What report.bats runs: iotracer report of traces whose events are known. A trace begins at 1 s of the monotonic
clock and lasts 999 s, so a bucket is 5 s, and there are 200.
"""
import collections
import json
import os
import random
import re
import stat
import subprocess
import sys

import profile_vm
import waits
from join import S, US, is_equal, run
from lib.trace_file import seal_metadata
from slowest import DEVICE, call, page, request
from stats import any_events, change, event, make

WIDTH = 5 * S
CELL = 'bucket', 'count', 'bytes', 'errors', 'latency', 'most', 'device'
# The tables of categories fs and block, by their keys, and how many rows they have.
TABLES = {'op': ('op', 24), 'file': ('file', 40), 'directory': ('directory', 40), 'process': ('process', 40),
          'device': ('device', 40)}


def report(trace, *options, status=0):
    """The page of a trace."""
    return run('iotracer', 'report', trace, '-o', '-', *options, status=status).stdout


def document_of(page):
    return json.loads(re.search(r'<script type="application/json" id="document">(.*)</script>', page)[1])


def document(trace, *options, status=0):
    return document_of(report(trace, *options, status=status))


def table(of, category, by):
    part, = (c for c in of['categories'] if c['category'] == category)
    found, = (t for t in part['tables'] if t['by'] == by)
    return found


def cells(flat, names=CELL):
    assert len(flat) % len(names) == 0, flat
    return [dict(zip(names, flat[i:i + len(names)])) for i in range(0, len(flat), len(names))]


def stats(*options):
    found, = json.loads(run('iotracer', 'stats', '-f', 'json', '--sort', 'latency', *options).stdout)['categories']
    return found


def random_trace(nr=3000):
    rng = random.Random(7)
    paths = [f'/srv/{i % 7}/file{i}.db' for i in range(60)]
    fs = list(any_events(rng, 'fs', nr, 61))
    block = list(any_events(rng, 'block', nr, 61))
    for e in fs + block:
        e['time'] = 2 * S + rng.randrange(900 * S)
        if rng.randrange(10) == 0:  # it ends in another bucket
            e['latency'] = rng.randrange(20 * S)
    for e in block:
        e.update(device_latency=rng.randrange(e['latency'] + 1), disk='sda', requested=4096)
    make('t', paths, fs=fs, block=block)


# --- the data -----------------------------------------------------------------------

def equal():
    random_trace()
    of = document('t')
    for category in 'fs', 'block':
        for by, (key, top) in TABLES.items():
            if (category, by) == ('fs', 'device'):
                continue
            expected = stats('t', '-c', category, '--by', key, '--top', str(top))
            assert expected['count'] == 3000 and len(expected['rows']) > 1, expected
            is_equal(f'{category} by {by}', table(of, category, by)['stats'], expected)
    findings = json.loads(run('iotracer', 'findings', '-f', 'json', 't').stdout)
    assert findings['findings'], findings
    is_equal('findings', of['findings'], findings)
    # a part of the trace, and of its events
    selected = '--filter', 'op=READ', '--to', '+100'
    of = document('t', *selected)
    is_equal('selected', table(of, 'fs', 'file')['stats'], stats('t', '-c', 'fs', '--by', 'file', '--top', '40', *selected))
    assert of['selected'], of['selected']


def scale_begin(scale):
    return scale if scale < 8 else (8 + scale % 8) << (scale // 8 - 1)


def unpack(flat):
    """(bucket, packed scale, count)"""
    found, at = [], 0
    while at < len(flat):
        bucket, nr = flat[at:at + 2]
        scale = 0
        for i in range(nr):
            scale += flat[at + 2 + 2 * i]
            found.append((bucket, scale, flat[at + 3 + 2 * i]))
        at += 2 + 2 * nr
    return found


def packed_latencies(t):
    """As many as the cells have in each part of the time, and the exact percentile in the range that has its rank."""
    step = 1 << t['pack']
    for row, flat, counted in zip(t['stats']['rows'], t['packed'], t['cells']):
        times, scales = collections.Counter(), collections.Counter()
        for bucket, scale, count in unpack(flat):
            times[bucket] += count
            scales[scale] += count
        is_equal('packed', times, {cell['bucket']: cell['count'] for cell in cells(counted)})
        rank, seen = -(-row['count'] * 99 // 100), 0
        for scale in sorted(scales):
            seen += scales[scale]
            if seen >= rank:
                break
        assert scale_begin(scale * step) <= row['latency_ns']['p99'] < scale_begin((scale + 1) * step), (scale, step, row)


def over_time():
    random_trace()
    of = document('t')
    is_equal('grid', (of['grid']['width_ns'], of['grid']['buckets']), (WIDTH, 200))
    for category in 'fs', 'block':
        ops = table(of, category, 'op')
        by_time = {(round(row['since_s'] / 5), row['op']): row for row in
                   stats('t', '-c', category, '--interval', '5', '--top', '0')['rows']}
        for row, flat in zip(ops['stats']['rows'], ops['cells']):
            for cell in cells(flat):
                expected = by_time.pop((cell['bucket'], row['op']))
                is_equal('cell', (cell['count'], cell['bytes'], cell['errors'], cell['latency'], cell['most'], cell['device']),
                         (expected['count'], expected['bytes'], expected['errors'], expected['latency_ns']['total'],
                          expected['latency_ns']['max'], expected.get('device_time_ns', 0)))
        assert not by_time, by_time
        for t in (table(of, category, by) for by in TABLES if (category, by) != ('fs', 'device')):
            for row, flat in zip(t['stats']['rows'], t['cells']):
                sums = [sum(cell[name] for cell in cells(flat)) for name in ('count', 'bytes', 'errors', 'latency')]
                is_equal('sums', sums, [row['count'], row['bytes'], row['errors'], row['latency_ns']['total']])
        for row, latencies, sizes in zip(ops['stats']['rows'], ops['latencies'], ops['sizes']):
            counts = collections.Counter()
            for cell in cells(latencies, ('bucket', 'scale', 'count')):
                counts[cell['scale']] += cell['count']
            is_equal('latencies', sum(counts.values()), row['count'])
            in_sizes = sum(cell['count'] for cell in cells(sizes, ('bucket', 'scale', 'count')))
            is_equal('sizes', in_sizes, (row['size_bytes'] or {'count': 0})['count'])
            # the exact percentile is in the bucket of the histogram that has its rank
            rank, seen = -(-row['count'] * 99 // 100), 0
            for scale in sorted(counts):
                seen += counts[scale]
                if seen >= rank:
                    break
            assert scale_begin(scale) <= row['latency_ns']['p99'] < scale_begin(scale + 1), (scale, row)
            assert scale_begin(scale + 1) - 1 <= max(scale_begin(scale) * 9 / 8, scale_begin(scale)), scale
        for t in (table(of, category, by) for by in TABLES if by != 'op' and (category, by) != ('fs', 'device')):
            packed_latencies(t)
    devices = table(of, 'block', 'device')
    for row, flat in zip(devices['stats']['rows'], devices['inside']):
        is_equal('in the device', sum(cell['ns'] for cell in cells(flat, ('bucket', 'ns'))), row['device_time_ns'])
    stacks = table(of, 'block', 'stack')
    is_equal('device time', sum(sum(flat[1::2]) for flat in stacks['times']),
             sum(row['device_time_ns'] for row in devices['stats']['rows']))


def packed():
    """As coarse as is needed for 60,000 counts, and no coarser."""
    def pack(octaves, nr):
        # each part of the time has one latency in each of so many scales of so many octaves
        values = [(8 + i) << octave for octave in range(10, 10 + octaves) for i in range(8)][:nr]
        make('t', [f'/srv/{i}' for i in range(40)],
             fs=[event('READ', S + 5 * S * bucket + 1, value, 1, path=1 + file, pid=7, inode=file + 1)
                 for bucket in range(190) for file in range(2) for value in values])
        found = table(document('t'), 'fs', 'file')
        packed_latencies(found)
        return found['pack'], sum(len(unpack(flat)) for flat in found['packed'])
    is_equal('fine', pack(1, 7), (0, 190 * 2 * 7))
    # 160 scales: 60,800 counts; every second one is joined
    is_equal('coarse', pack(20, 160), (1, 190 * 2 * 80))


def caches():
    def same(*options):
        found, expected = document('t', *options)['cache_sim'], json.loads(run('iotracer', 'cache-sim', '-f', 'json', 't', *options).stdout)
        del expected['trace']
        is_equal('cache-sim', found, expected)
        return found
    rng = random.Random(5)
    fs = [call(rng.choice(('READ', 'WRITE')), i * 1000, i * 1000 + 10, result=4096, requested=4096, offset=4096 * rng.randrange(50), kind=1)
          for i in range(2000)]
    block = [request('READ', i * 1000, i * 1000 + 10, sector=8 * rng.randrange(50)) for i in range(500)]
    pages = [page(rng.choice(('HIT', 'MISS', 'READAHEAD')), i, index=rng.randrange(30)) for i in range(300)]
    make('t', ['/srv/db'], fs=fs, block=block)
    found = same()
    is_equal('simulated', [s['category'] for s in found['simulations']], ['fs'])
    assert len(found['simulations'][0]['sizes']) > 3 and found['simulations'][0]['sizes'][-1]['LRU']['hit_ratio'] > 0.9, found
    is_equal('named', [s['category'] for s in same('-c', 'fs,block')['simulations']], ['fs', 'block'])
    same('--filter', 'op=READ')
    make('t', ['/srv/db'], block=block)
    is_equal('requests', [s['category'] for s in same()['simulations']], ['block'])
    make('t', ['/srv/db'], fs=fs, cache=pages)
    assert same()['page_cache']['lookups']['reads']['misses'], found
    make('t', ['/srv/db'], cache=pages)
    is_equal('alone', same()['simulations'], [])


def durable():
    rng = random.Random(6)
    fs = []
    for i in range(900):
        at, inode = i * S // US + rng.randrange(S // US), rng.randrange(3) + 1
        more = {'inode': inode, 'path': inode, 'kind': 1}
        if rng.randrange(4):
            fs.append(call('WRITE', at, at + 10, offset=4096 * rng.randrange(40), requested=4096, result=4096, **more))
        else:
            fs.append(call('FSYNC', at, at + rng.randrange(5 * S // US), **more))
    fs.sort(key=lambda e: e['time'] + e['latency'])
    make('t', ['/srv/a', '/srv/b', '/srv/c'], fs=fs)

    def same(*options, status=0):
        found = document('t', *options, status=status)['durability']
        points = cells(found.pop('over_time'), ('ns', 'bytes'))
        expected = json.loads(run('iotracer', 'durability', '-f', 'json', 't', *options, status=status).stdout)
        is_equal('durability', found, {**expected, 'trace': found['trace']})
        is_equal('at the end', points[-1], {'ns': found['at_ns'], 'bytes': found['at_risk_bytes']})
        return found, points
    found, points = same()
    is_equal('points', len(points), 200)
    begin = found['at_ns'] - 999 * S
    for i in range(0, 199, 11):
        is_equal('time', points[i]['ns'] - begin, (i + 1) * WIDTH)
        expected = json.loads(run('iotracer', 'durability', '-f', 'json', '--at', f'+{5 * (i + 1)}', 't').stdout)
        is_equal(f'at {5 * (i + 1)} s', points[i]['bytes'], expected['at_risk_bytes'])
    assert len({point['bytes'] for point in points}) > 10, points
    is_equal('sums', [found['all_files'][k] for k in ('files', 'written_bytes', 'syncs', 'idle_syncs')],
             [3, *(sum(f[k] for f in found['files']) for k in ('written_bytes', 'syncs', 'idle_syncs'))])
    same('--filter', 'inode=2')
    # what is missing may have been a write: nothing is durable, at no time
    change('t', missed=1)
    _, points = same()
    assert all(a['bytes'] <= b['bytes'] for a, b in zip(points, points[1:])) and points[-1]['bytes'] == 3 * 40 * 4096, points
    make('t', ['/srv/a'], block=[request('READ', 0, 10)])
    is_equal('no calls', document('t')['durability'], None)


def drives():
    make('t', fs=[event('READ', 2 * S, 5, 10)])
    is_equal('no machine', document('t')['drives'], None)
    web = profile_vm.WEB
    calls = [
        # 64K of the guest at 1M, and 4K of that again; 8K at its start; a table; a place that no map has
        profile_vm.call('READ', 10 * S, 1000, 131072, 65536, web), profile_vm.call('WRITE', 11 * S, 3000, 135168, 4096, web),
        profile_vm.call('WRITE', 506 * S, 2000, 196608, 8192, web), profile_vm.call('WRITE', 507 * S, 9000, 65536, 8, web),
        profile_vm.call('READ', 508 * S, 9000, 1 << 40, 512, web), profile_vm.call('FSYNC', 509 * S, 70000, 0, 0, web),
        profile_vm.call('READ', 510 * S, 100, 8192, 4096, profile_vm.DATA)]
    profile_vm.make(calls, profile_vm.TWO, profile_vm.REGIONS)
    found = document('t')['drives']
    positions = [drive.pop('positions') for drive in found['drives']]
    expected = json.loads(profile_vm.profile('-f', 'json', 't').stdout)
    del expected['trace']
    is_equal('profile', found, expected)
    # 1M and 64K are the last of 34 ranges of 32K; the trace begins at 1 s, so 10 s is in part 1, 506 s in part 101
    is_equal('positions', positions, [{'range_bytes': 32768, 'at': [1, 32, 65536, 0, 2, 32, 0, 4096, 101, 0, 0, 8192]},
                                      {'range_bytes': 4096, 'at': [101, 2, 4096, 0]}])
    none = {'parts': 0, 'bytes': 0}
    is_equal('uses', [drive['uses'] for drive in found['drives']], [
        [{'use': 'data', 'read': {'parts': 1, 'bytes': 65536}, 'write': {'parts': 2, 'bytes': 12288}},
         {'use': 'l2', 'read': none, 'write': {'parts': 1, 'bytes': 8}},
         {'use': 'unused', 'read': {'parts': 1, 'bytes': 512}, 'write': none}],
        [{'use': 'data', 'read': {'parts': 1, 'bytes': 4096}, 'write': none}]])
    profile_vm.make(calls)
    is_equal('no maps', document('t')['drives'], {'vm': 'web', 'drives': []})


def by_hand():
    # slowest.py counts from 10 s, which is 9 s after the start: in bucket 1, which is from 5 to 10 s
    make('t', ['/srv/db'],
         block=[request('WRITE', 0, 3 * 10**6, queue=10**6, tid=7),         # in the device from 10 s to 12 s
                request('READ', 500000, 1500000, tid=8, offset=1 << 30)],   # from 9.5 to 10.5 s
         fs=[call('READ', 0, 10, result=4096, offset=0, requested=4096, kind=1),
             call('READ', 10, 20, result=4096, offset=4096, requested=4096, kind=1),
             call('READ', 20, 30, result=4096, offset=4096 * 79, requested=4096, kind=1),
             call('WRITE', 6 * 10**6, 6 * 10**6 + 10, result=8192, offset=4096 * 3, requested=8192, kind=1)])
    of = document('t')
    device = table(of, 'block', 'device')
    is_equal('depth', device['inside'], [[1, S // 2, 2, 2 * S + S // 2]])
    is_equal('disk', device['disks'], ['sda'])
    file = table(of, 'fs', 'file')
    is_equal('cells', file['cells'], [[1, 3, 12288, 0, 30 * US, 10 * US, 0, 3, 1, 8192, 0, 10 * US, 10 * US, 0]])
    # 80 pages: ranges of 8 KiB, of which page 79 is in the last of 40, page 3 in the second, pages 0 and 1 in the first
    is_equal('positions', file['positions'], [{'row': 0, 'range_bytes': 8192, 'at': [1, 0, 8192, 0, 1, 39, 4096, 0, 3, 1, 0, 8192]}])
    stack = table(of, 'block', 'stack')
    row, times = stack['stats']['rows'][0], stack['times'][0]
    is_equal('stack', ((row['command'], row['file'], row['op']), times), (('p7', '/srv/db', 'WRITE'), [1, 2 * S]))


ATTACKS = ['/x/</script><script>window.hacked=1</script>', '/x/<!--<script>', '/x/<img/src=x/onerror=window.hacked=2>',
           '/x/{{scripts}}', '/x/\u2028window.hacked=3', '/x/"onload="window.hacked=4"', '/x/&lt;b&gt;', '/x/$&\\\\']


def attack():
    make('t', ATTACKS, fs=[event('READ', (2 + i) * S, (100 + i) * US, 10, path=i + 1, pid=i + 1, comm='<svg/onload=x>', inode=i + 1)
                           for i in range(len(ATTACKS))],
         block=[request('READ', i, i + 10, path=i + 1, comm='</script>', disk='<b>sda') for i in range(len(ATTACKS))])
    with open('t/metadata.json', encoding='utf-8') as f:
        metadata = json.load(f)
    metadata.update(host='<script>window.hacked=5</script>', command=['</script><script>window.hacked=6</script>', 'a\x1b[31m'],
                    label='--><script>window.hacked=7</script>')
    with open('t/metadata.json', 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata('t/metadata.json')


def attacks():
    attack()
    page = report('t')
    scripts = re.findall(r'<script[^>]*>', page)
    is_equal('scripts', collections.Counter(scripts), {'<script type="application/json" id="document">': 1, '<script>': 12})
    data = re.search(r'id="document">(.*)</script>', page)[1]
    assert not set(data) & set('<>&\u2028\x1b') and data.isascii(), data
    assert 'hacked' not in page.replace(data, ''), page
    of = json.loads(data)
    found = {row['file'] for row in table(of, 'fs', 'file')['stats']['rows']}
    expected = {row['file'] for row in stats('t', '-c', 'fs', '--by', 'file')['rows']}
    is_equal('names', found, expected)
    assert ATTACKS[0] in found and '/x/\\342\\200\\250window.hacked=3' in found, found
    is_equal('host', of['recording']['host'], '<script>window.hacked=5</script>')
    assert "default-src 'none'" in page and "script-src 'sha256-" in page, page[:2000]


def file():
    make('t', fs=[event('READ', 2 * S, 5, 10)])
    run('iotracer', 'report', 't')
    is_equal('mode', stat.S_IMODE(os.stat('report.html').st_mode), 0o600)
    before = os.stat('report.html')

    def fails(*options, why):
        done = run('iotracer', 'report', 't', *options, status=1)
        is_equal('lines', len(done.stderr.splitlines()), 1)
        assert why in done.stderr, done.stderr
        assert not [name for name in os.listdir('.') if name.startswith('.')], os.listdir('.')
    fails(why='report.html: cannot be written: File exists: remove it first')
    is_equal('untouched', (os.stat('report.html').st_ino, os.stat('report.html').st_mtime_ns), (before.st_ino, before.st_mtime_ns))
    os.symlink('elsewhere', 'link.html')
    fails('-o', 'link.html', why='File exists')
    assert not os.path.exists('elsewhere')
    fails('-o', 'none/there.html', why='No such file or directory')
    fails('-o', 'proc/', why='Is a directory')
    run('iotracer', 'report', 'nothing', '-o', 'other.html', status=1)
    assert not os.path.exists('other.html')
    with open('/dev/full', 'wb') as full:
        done = subprocess.run(['iotracer', 'report', 't', '-o', '-'], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    is_equal('full', (done.returncode, 'No space left on device' in done.stderr), (1, True))
    # a limit of the size of files is as a disk that is full
    done = subprocess.run(['bash', '-c', 'ulimit -f 100; exec iotracer report t -o big.html'], stderr=subprocess.PIPE, text=True, check=False)
    is_equal('limit', (done.returncode, 'File too large' in done.stderr), (1, True))
    assert not [name for name in os.listdir('.') if 'big' in name], os.listdir('.')


def missing():
    events = [event('READ', (2 + 10 * i) * S, 5, 1) for i in range(6)]
    events[5].update(cpu=1, gap=5)  # at 52 s, 51 s after the start: bucket 10
    make('t', fs=events)
    change('t', missed=7)
    of = document('t')
    is_equal('basis', [table(of, 'fs', 'op')['stats'][k] for k in ('count', 'lost', 'missed', 'unreadable')], [6, 5, 7, 0])
    lost = of['categories'][0]['lost']
    is_equal('lost', (len(lost), sum(lost)), (200, 5))
    change('t', events=16)
    done = run('iotracer', 'report', 't', '-o', '-', status=1)
    is_equal('once', sum('of 16 events can be read' in line for line in done.stderr.splitlines()), 1)
    assert 't: is incomplete, so the exit status is 1' in done.stderr, done.stderr
    is_equal('unreadable', table(document_of(done.stdout), 'fs', 'op')['stats']['unreadable'], 10)
    with open('t/fs.iot', 'r+b') as f:
        f.truncate(4096 + 100)
    done = run('iotracer', 'report', '--partial', 't', '-o', '-')
    lines = [line for line in done.stderr.splitlines() if 'fs.iot' in line]
    is_equal('each once', sorted(lines), sorted(set(lines)))
    assert lines, done.stderr


def hostile():
    """Times before the start and far behind the end, positions of 64 bits, and a file for each event."""
    rng = random.Random(3)
    paths = [f'/srv/{"long" * 50}/{i}' for i in range(2000)]
    fs = [event(rng.choice(('READ', 'WRITE')), rng.choice((0, 5, 10**6 * S, 2 * S + i * S // 4)), rng.choice((0, 5, 2**63)),
                rng.choice((4096, -5, 2**40)), path=i % 2000 + 1, inode=i, kind=1, offset=rng.choice((0, 2**63, 2**64 - 1)),
                requested=2**63, comm=f'c{i % 3000}', pid=i)
          for i in range(4000)]
    block = [request('READ', i * 200000, i * 200000 + 100, path=i % 2000 + 1, disk=f'd{i % 90}', device=i % 90, sector=2**63,
                     tid=i % 300 + 1) for i in range(4000)]
    block[0].update(device_latency=2**64 - 1, queue_latency=2**64 - 1)
    make('t', paths, fs=fs, block=block)
    page = report('t')
    assert len(page) < 5 * 2**20, len(page)
    of = document_of(page)
    is_equal('counts', [table(of, c, by)['stats']['count'] for c in ('fs', 'block') for by in ('op', 'file')], [4000] * 4)
    for by, (_, top) in TABLES.items():
        assert len(table(of, 'block', by)['cells']) <= top + 1


# --- the page -----------------------------------------------------------------------

def look(step, page='t.html', **environment):
    done = run('node', f'{os.environ["TOP"]}/tests/browser/report.cjs', page, step, env={**os.environ, **environment})
    return json.loads(done.stdout)


def write(trace='t', *options):
    run('iotracer', 'report', trace, '-o', f'{trace}.html', *options)


def slow_database():
    """/srv/db/log is read in pieces of 10 bytes by postgres (7), up to 500 s; then others have a file each."""
    paths = ['/srv/db/log', '/srv/web/index', '/srv/web/logo']
    fs = [event('READ', 2 * S + i * S // 4, 900 * US, 10, path=1, pid=7, comm='postgres', inode=1, kind=1, requested=10, offset=10 * i)
          for i in range(1200)]
    fs += [event('WRITE', (600 + i) * S, (50 + i) * US, 65536, path=2 + i % 3 // 2, pid=9, comm='nginx', inode=2 + i % 3 // 2, kind=1,
                 requested=65536, offset=65536 * i) for i in range(30)]
    block = [request('READ', i * S // US // 2, i * S // US // 2 + 2000, tid=7, comm='postgres', path=1, device=DEVICE) for i in range(20)]
    make('t', paths, fs=fs, block=block)
    write()


def cause():
    slow_database()
    seen = look('look')
    text = ' '.join(seen['text'].split())
    for words in '1200 reads moved less than 4 KiB', '/srv/db/log', 'postgres (7)', 'Read more at once: through a buffer':
        assert words in text.replace('1.20k', '1200'), (words, text[:3000])
    assert seen['title'] == 't – iotracer report', seen['title']
    for chart in 'Throughput', 'IOPS', 'Latency percentiles', 'Latency heat map', 'Sizes', 'Queue depth', 'Where the device time went':
        assert chart in seen['charts'], (chart, seen['charts'])
    assert 'Most of it' not in text and 'postgres (7): /srv/db/log' in text, text[:3000]
    # the cause is another process: it is named first, with the process that waits, its file and the reason
    waits.make_neighbour()
    os.rename('t.html', 'slow.html')
    write()
    seen = look('look')
    is_equal('first', seen['findings'][0],
             ['postgres (7) waited 15.0 % of the time in fsync of /srv/db/wal: 150 calls took 1.00s each.',
              'Its 150 requests to sda took 1.00s each, and 75.0 % of that is due to dd (733), which wrote 150MiB.',
              'Limit that process with io.max or io.latency of its control group, or give one of the two a disk of its own.',
              'Look at: /srv/db/wal, calls of postgres (7), requests of dd (733)'])
    # each chart has a picture with a text
    assert len(seen['images']) >= len(seen['charts']) and all(seen['images']), seen['images']
    is_equal('wider than the window', look('look', 'slow.html', WIDTH='390')['width'], 0)


def sections():
    """The curve of caches and durability: their charts, and the numbers of the tables below them."""
    make('t', ['/srv/a', '/srv/b'], fs=[
        # four pages in turn: a cache of three has no hit with LRU, and MIN has some
        *(call('READ', i * 1000, i * 1000 + 10, result=4096, requested=4096, offset=4096 * (i % 4), kind=1) for i in range(40)),
        call('WRITE', 100 * 10**6, 100 * 10**6 + 10, result=8192, requested=8192, offset=0, kind=1, inode=6, path=2),
        call('FSYNC', 200 * 10**6, 200 * 10**6 + 10, kind=1, inode=6, path=2),
        call('FSYNC', 201 * 10**6, 201 * 10**6 + 10, kind=1, inode=6, path=2),
        call('WRITE', 300 * 10**6, 300 * 10**6 + 10, result=4096, requested=4096, offset=0, kind=1, inode=6, path=2)])
    write()
    seen = look('look')
    for title in ('Hit ratio by size of the cache: reads and writes', 'Hit ratio by size of the cache: reads', 'At risk over time'):
        assert title in seen['charts'], (title, seen['charts'])
    expected, = json.loads(run('iotracer', 'cache-sim', '-f', 'json', 't').stdout)['simulations']
    for member, shown in zip(('hit_ratio', 'read_hit_ratio'), seen['curves']):
        is_equal(member, [row[1:] for row in shown],
                 [[f'{100 * size[policy][member]:.1f} %' for policy in ('LRU', 'FIFO', 'ARC', 'MIN')] for size in expected['sizes']])
    is_equal('sizes', [row[0] for row in seen['curves'][0]], ['4.00 KiB', '8.00 KiB', '16.0 KiB', '32.0 KiB'])
    risk = {row[0]: row[1] for row in seen['risk']}
    # events are 9 s after the start: written at 109 s, durable at 209 s, written anew at 309 s
    is_equal('risk', [risk[at] for at in ('105 s', '110 s', '205 s', '210 s', '305 s', '310 s', '999 s')],
             ['0 B', '8.00 KiB', '8.00 KiB', '0 B', '0 B', '4.00 KiB', '4.00 KiB'])
    text = ' '.join(seen['text'].split())
    for words in ('4.00 KiB of 12.0 KiB that were written', '2, of which 1 had nothing to do', 'no category block: flushes',
                  'What the page cache of the kernel did is not in the trace'):
        assert words in text, (words, text[-3000:])
    # the part of the time that begins at 500 s
    is_equal('brushed', look('brush')['risk'][0], '505 s')


def near(shown, values, part):
    """A percentile of the page: not below the exact one, and an eighth above it at most."""
    exact = sorted(values)[-(-len(values) * part // 100) - 1]
    number, unit = re.fullmatch(r'≈ ([0-9.]+) (\S+)', shown).groups()
    found = float(number) * {'µs': US, 'ms': 1000 * US}[unit]
    assert exact * 0.995 <= found <= exact * 1.125 * 1.005, (shown, exact)


def used():
    slow_database()
    seen = look('brush')
    everything = [['/srv/db/log', '1,200'], ['/srv/web/index', '20'], ['/srv/web/logo', '10']]
    is_equal('before', seen['before'], everything)
    # from 500 s on nobody reads the log
    is_equal('after', seen['after'], everything[1:])
    is_equal('again', seen['again'], everything)
    assert seen['said'].startswith('From '), seen['said']
    by_file = [[(50 + i) * US for i in range(30) if i % 3 // 2 == n] for n in range(2)]
    for cells_, values in zip(seen['rows'], by_file):
        near(cells_[6], values, 50)
        near(cells_[7], values, 99)
    tiles = dict(zip(seen['tiles'][::2], seen['tiles'][1::2]))
    is_equal('tiles', (tiles['Events'], tiles['Errors'], tiles['Max']), ('30', '0', '79.0 µs'))
    near(tiles['p50'], sum(by_file, []), 50)
    near(tiles['p99'], sum(by_file, []), 99)
    # 20 steps of 5 s: from 100 s, which is 101 s of the clock; the log is read each quarter of a second from 2 to 302 s
    seen = look('keys')
    is_equal('keys', (seen['said'], seen['after']), ('From 100 s to 1000 s', [['/srv/db/log', '804'], *everything[1:]]))
    seen = look('table')
    log, index, logo = (name for name, _ in everything)
    is_equal('by events', seen['count'], [[log, index, logo], 'descending'])
    is_equal('rising', seen['rising'], [[logo, index, log], 'ascending'])
    is_equal('by name', seen['name'], [[log, index, logo], 'ascending'])
    is_equal('search', seen['found'], [log, logo])
    is_equal('finding', seen['linked'], [log])
    seen = look('tab')
    is_equal('not reached', seen['missed'], [])
    assert 'INPUT fs-file-search' in seen['seen'], seen


def everything():
    """A machine with two drives, a process that waits for another one's requests, and what the page cache did."""
    calls = [profile_vm.call('WRITE', 12 * S + i, 1000, 131072 + 4096 * (i % 16), 4096, profile_vm.WEB) for i in range(32)]
    calls += [profile_vm.call('READ', 13 * S + i, 1000, 4096 * i, 4096, profile_vm.DATA) for i in range(32)]
    profile_vm.make(calls + [waits.sync(i, inode=10, path=3) for i in range(1, 150)], profile_vm.TWO, profile_vm.REGIONS,
                    [*profile_vm.PATHS, '/srv/db/wal'],
                    block=[e for i in range(1, 150) for e in (waits.by_dd(i, 750000), waits.asked('WRITE', i, 0, 10**6, queue=750000, inode=10))],
                    cache=[page('HIT' if i % 3 else 'MISS', i, index=i % 7) for i in range(100)])
    write()


def machine():
    everything()
    seen = look('look')
    text = ' '.join(seen['text'].split())
    for words in ('Drives of web', 'iotracer join shows them', 'postgres (7) waited 14.9 % of the time in fsync of /srv/db/wal',
                  'is due to dd (733)', 'The dashed line is what the page cache of the kernel did'):
        assert words in text, (words, text[:3000])
    is_equal('calls', [row[:5] for row in seen['drives'][0]],
             [['disk0', 'write', '32', '0', '128 KiB'], ['vdb', 'read', '32', '0', '128 KiB']])
    is_equal('uses', seen['drives'][1], [['disk0', 'data', '0', '0 B', '32', '128 KiB'], ['vdb', 'data', '32', '128 KiB', '0', '0 B']])
    # 66 of 100 are hits
    assert seen['legends'].count('page cache: 66.0 %') >= 1, seen['legends']
    is_equal('wider than the window', look('look', WIDTH='390')['width'], 0)
    found = look('axe')
    is_equal('violations', (found['light'], found['dark']), ([], []))


def accessible():
    slow_database()
    found = look('axe')
    is_equal('violations', (found['light'], found['dark']), ([], []))
    assert found['light passes'] > 20, found


def harmless():
    attack()
    write()
    seen = look('look')
    is_equal('hacked', seen['hacked'], None)
    assert ATTACKS[0] in seen['text'] and ATTACKS[2] in seen['text'], seen['text'][:3000]
    assert '<script>window.hacked=5</script>' in seen['header'], seen['header']
    is_equal('injected', look('inject'), {'hacked': None, 'answer': 'refused'})


def absent():
    make('t', fs=[event('READ', 2 * S, 5, 10), event('READ', 3 * S, 5, 10, sample=8, cpu=1, gap=3)])
    change('t', missed=2)
    write()
    seen = look('look')
    for words in ('The events have no paths', 'Not in the trace: requests to disks and device time (block)'):
        assert words in seen['text'], (words, seen['text'])
    for words in ('3 events were lost', '2 calls were missed', '1 of 2 records stand for several events'):
        assert words in seen['header'], (words, seen['header'])
    is_equal('marks', seen['marks'], 1)
    make('empty', fs=[])
    write('empty')
    seen = look('look', 'empty.html')
    assert 'The trace has no events of category fs.' in seen['text'], seen['text']


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
