# SPDX-License-Identifier: GPL-2.0
"""
What profile_vm.bats runs: iotracer profile --vm of traces whose calls and maps are known. A trace begins at
1 s of the monotonic clock and lasts 999 s; the maps are older than its first event.
"""
import csv
import gzip
import io
import json
import os
import random
import sys

from join import S, is_equal, run, trace
from stats import change, event, nearest_rank

K = 1024
WEB, DATA = dict(device=0x800001, inode=101, path=1, kind=1), dict(device=0x800001, inode=102, path=2, kind=1)
PATHS = ['/srv/web.qcow2', '/srv/data.raw']
COLUMNS = 'image,host_offset_bytes,length_bytes,kind,guest_offset_bytes,guest_length_bytes'


def profile(*options, status=0):
    return run('iotracer', 'profile', '--vm', 'web', *options, status=status)


def rows(*options):
    return list(csv.DictReader(io.StringIO(profile('-f', 'csv', *options).stdout, newline='')))


def drives(*options):
    return json.loads(profile('-f', 'json', *options).stdout)['drives']


def call(op, begin, latency, offset, size, image, **more):
    return event(op, begin, latency, size, offset=offset, requested=max(size, 0), **{**image, **more})


def image(file, names, inode, raw=False, **more):
    return {'file': file, 'drives': names, 'device': 0x800001, 'inode': inode, 'same_offsets': raw, 'problem': None,
            'live': False, 'begin_monotonic_ns': None if raw else 10, 'end_monotonic_ns': None if raw else 20, **more}


def maps(images, regions, name='t'):
    """Maps of the trace: regions of (image, host, length, kind, guest, length on the guest's disk)."""
    directory = f'{name}/snapshots/guest_1'
    os.makedirs(directory)
    with gzip.open(directory + '/part_1.csv.gz', 'wt') as f:
        f.write(COLUMNS + '\n' + ''.join(','.join(str(n) for n in region) + '\n' for region in regions))
    with open(directory + '/snapshot.json', 'w', encoding='utf-8') as f:
        json.dump({'images': images, 'parts': [{'file': 'part_1.csv.gz'}]}, f)


def make(events, images=None, regions=(), paths=None, vm='web', **categories):
    machine = {'pid': 40, 'name': vm, 'drives': []} if vm else None
    trace('t', {'fs': events, **categories} if events is not None else categories, paths or PATHS, 101, machine)
    if images:
        maps(images, regions)


# The guest has 1M to 1M+64K at 128K of the file, and its first 64K behind that.
TWO = [image(PATHS[0], 'disk0', 101), image(PATHS[1], 'vdb', 102, raw=True)]
REGIONS = [(0, 0, 65536, 'header', '', ''), (0, 65536, 65536, 'l2', 0, 512 * K * K),
           (0, 131072, 65536, 'data', 1048576, 65536), (0, 196608, 65536, 'data', 0, 65536),
           (0, 262144, 512, 'compressed', 2097152, 65536)]


# --- the tests ----------------------------------------------------------------------

def by_hand():
    make([
        # 1M, what follows it, and a call whose 8 KiB end in the guest's first block
        call('DIO_WRITE', 10 * S, 1000, 131072, 4096, WEB), call('WRITE', 11 * S, 3000, 135168, 4096, WEB),
        call('WRITE', 12 * S, 2000, 192512, 8192, WEB),
        # tables, and a place that no map has
        call('WRITE', 13 * S, 9000, 65536, 8, WEB), call('READ', 14 * S, 9000, 1 << 40, 512, WEB),
        # the cluster that has to be read for it
        call('READ', 14 * S, 500, 262144, 300, WEB),
        *(call(op, (20 + i) * S, latency, 0, 0, WEB) for i, (op, latency) in enumerate(
            (('FSYNC', 70000), ('FDATASYNC', 50000), ('FSYNC', 90000)))),
        call('FSYNC', 25 * S, 1, 0, -5, WEB), call('READ', 26 * S, 1, 131072, 0, WEB),
        call('READ', 27 * S, 1, 131072, -5, WEB), call('READ', 28 * S, 1, 0, 512, {**WEB, 'inode': 7}),
        # 0, 8K, 16K, 16K of a raw disk: the second step is as long as the first
        *(call('READ', (30 + i) * S, 100 * (i + 1), offset, 4096, DATA) for i, offset in enumerate(
            (0, 8192, 16384, 16384))),
    ], TWO, REGIONS)
    latencies = lambda *ns: [str(n) for n in ns]  # noqa: E731: p50 p90 p99 p99_9 p99_99 avg min max
    found = rows('t')
    is_equal('head', list(found[0]), [
        'drive', 'kind', 'calls', 'failed', *(f'latency_{n}_ns' for n in (
            'p50', 'p90', 'p99', 'p99_9', 'p99_99', 'avg', 'min', 'max')), 'accesses', 'bytes', 'sequential', 'strided',
        'same', 'random', 'first', 'empty', 'tables', 'unknown', 'lost', 'missed', 'unreadable', 'sampled'])
    is_equal('CSV', [list(row.values()) for row in found], [
        ['disk0', 'read', '1', '1', *latencies(500, 500, 500, 500, 500, '500.000', 500, 500), '1', '65536',
         '0', '0', '0', '0', '1', '1', '1', '1', '0', '0', '0', '0'],
        # four accesses of three calls: after 1M and 1M+4K neither 1M+60K nor 0 follows
        ['disk0', 'write', '3', '0', *latencies(2000, 3000, 3000, 3000, 3000, '2000.000', 1000, 3000), '4', '16384',
         '1', '0', '0', '2', '1', '1', '1', '1', '0', '0', '0', '0'],
        ['disk0', 'flush', '3', '1', *latencies(70000, 90000, 90000, 90000, 90000, '70000.000', 50000, 90000),
         '', '', '', '', '', '', '', '1', '1', '1', '0', '0', '0', '0'],
        ['vdb', 'read', '4', '0', *latencies(200, 400, 400, 400, 400, '250.000', 100, 400), '4', '16384',
         '0', '1', '1', '1', '1', '0', '0', '0', '0', '0', '0', '0']])
    document = json.loads(profile('-f', 'json', '--reuse', 't').stdout)
    is_equal('head', [document[name] for name in ('vm', 'pid', 'other_calls', 'records', 'reuse_blocks_percent')],
             ['web', 40, 1, 17, 100.0])
    web, data = document['drives']
    is_equal('drive', (web['drive'], web['images'], data['drive'], data['images']),
             ('disk0', PATHS[:1], 'vdb', PATHS[1:]))
    flush = web['flush']
    is_equal('flush', {n: flush[n] for n in ('calls', 'failed', 'latency_p50_ns', 'latency_max_ns', 'latency_avg_ns')},
             {'calls': 3, 'failed': 1, 'latency_p50_ns': 70000, 'latency_max_ns': 90000, 'latency_avg_ns': 70000.0})
    is_equal('none', (data['write']['accesses'], data['flush']['calls'], data['flush']['latency_p50_ns']), (None, 0, None))
    is_equal('alignment', data['read']['accesses']['aligned_to_bytes'], {'512': 4, '4096': 4, '65536': 0, '1048576': 0})
    # blocks 0 2 4 4; of the other drive four different ones, and the 16 of its compressed cluster
    is_equal('reuse', (data['reuse']['blocks'], data['reuse']['distance_blocks']['p50'], web['reuse']['accesses'],
                       web['reuse']['distance_blocks']), (3, 1, 20, None))
    text = [line.split() for line in profile('t').stdout.splitlines()]
    is_equal('title', text[:5], [
        'web: 5 reads, 3 writes, 3 flushes'.split(), 'left out: 1 calls that moved nothing'.split(),
        'left out: 1 accesses to tables of the images'.split(),
        'left out: 1 accesses to places whose use is not known'.split(), 'left out: 1 calls on other files'.split()])
    assert 'flush 3 1 70.0us 50.0us 70.0us 90.0us 90.0us 90.0us 90.0us 90.0us'.split() in text, text
    assert 'write 4 80% 16.0KiB 20% 33% 0% 0% 67% 33% 0% 0% 67%'.split() in text, text


def began():
    """Calls of several threads that end in any order are sequential if they began so."""
    rng = random.Random(1)
    make([call('DIO_READ', 2 * S + i, 1000 + rng.randrange(10**6), 4096 * i, 4096, DATA, tid=rng.randrange(8))
          for i in range(2000)], TWO, REGIONS)
    row, = rows('t')
    is_equal('sequential', (row['sequential'], row['first']), ('1999', '1'))
    assert 'no calls: disk0' in profile('t').stdout


def scattered():
    """A qcow2 image whose clusters are shuffled, and calls within one cluster each."""
    rng = random.Random(2)
    guests = rng.sample(range(4096), 300)
    regions = [(0, (i + 5) * 65536, 65536, 'data', guest * 65536, 65536) for i, guest in enumerate(guests)]
    made, last = [], {}
    for _ in range(3000):
        op, size = rng.choice(('READ', 'DIO_WRITE')), rng.choice((512, 4096))
        cluster, within = rng.randrange(300), rng.choice((0, 4096, 8192, 61440))
        # some go on where the last one of their kind ended, or begin where it did, as long as its cluster does
        if op in last and rng.randrange(2):
            cluster, within = last[op][0], min(last[op][1] + rng.choice((0, 512, 4096)), 61440)
        last[op] = cluster, within
        made.append((cluster, within, size, rng.randrange(1, 10**6), op))
    make([call(op, 2 * S + 10**7 * i, latency, (cluster + 5) * 65536 + within, size, WEB)
          for i, (cluster, within, size, latency, op) in enumerate(made)], TWO, regions)
    row = {row['kind']: row for row in rows('t')}
    for kind, op in ('read', 'READ'), ('write', 'DIO_WRITE'):
        end, sequential, same, last, its = None, 0, 0, None, [c for c in made if c[4] == op]
        for cluster, within, size, _, _ in its:
            start = guests[cluster] * 65536 + within
            sequential += start == end
            same += start == last and start != end
            last, end = start, start + size
        assert sequential and same
        latencies = sorted(c[3] for c in its)
        found = row[kind]
        is_equal(kind, (found['sequential'], found['same'], found['calls']), (str(sequential), str(same), str(len(its))))
        is_equal(kind, [found[f'latency_{n}_ns'] for n in ('p50', 'p90', 'p99', 'max')],
                 [str(nearest_rank(latencies, part)) for part in (5000, 9000, 9900, 10000)])


def shared():
    images = [image('/srv/top', 'disk0', 101), image('/srv/base', 'disk0', 102, raw=True),
              image('/srv/gold', 'disk0,vdb', 103, raw=True), image('/srv/lonely', '', 104, raw=True)]
    make([call('READ', 2 * S, 10, 131072, 4096, WEB), call('READ', 3 * S, 20, 1048576 + 4096, 4096, DATA),
          call('READ', 4 * S, 30, 0, 512, {**DATA, 'inode': 103}), call('READ', 5 * S, 40, 0, 512, {**DATA, 'inode': 104})],
         images, REGIONS)
    # 1M of the top is at 128K of its file, and what follows it is in the backing file
    is_equal('drives', [(row['drive'], row['accesses'], row['sequential']) for row in rows('t')],
             [('disk0', '2', '1'), ('disk0,vdb', '1', '0'), ('/srv/lonely', '1', '0')])
    is_equal('images', drives('t')[0]['images'], ['/srv/top', '/srv/base'])


def selected():
    make([call('READ', (2 + i) * S, 10, 4096 * i, 4096, DATA, sample=4) for i in range(10)], TWO, REGIONS)
    row, = rows('--from', '+1.5', '--to', '+4.5', 't')
    is_equal('sampled', [row[n] for n in ('calls', 'accesses', 'sampled')], ['12', '12', '3'])
    is_equal('filter', rows('--filter', 'path=/srv/web.qcow2', 't'), [])
    change('t', missed=3)
    is_equal('missing', rows('t')[0]['missed'], '3')
    assert "missed 3: calls that the kernel's hooks missed" in profile('t').stdout
    is_equal('by PID', run('iotracer', 'profile', '--vm', '40', 't').stdout, profile('t').stdout)


def hostile():
    top = 2**64 - 1
    bad = '/x\\033[2J"\n,' + 'y' * 200
    images = [image(bad, 'disk\n,\033[2J', 101), image('/b', bad, 102, raw=True)]
    regions = [(0, 0, 4096, 'data', top - 100, top), (0, 4096, 4096, 'data', 0, 0), (0, 8192, 512, 'compressed', top, top),
               (0, 12288, 4096, 'l2', top, top), (0, 16384, 512, 'compressed', 0, 2**40), (0, 20480, top - 20480, 'data', top - 4096, top - 20480)]
    rng = random.Random(3)
    offsets = 0, 1, 4095, 4096, 8192, 12288, 16384, 20480, 2**63, top - 5, top
    make([call(rng.choice(('READ', 'WRITE', 'FSYNC')), 2 * S + i, rng.choice((0, 1, 2**40)), rng.choice(offsets),
               rng.choice((0, 1, 4096, 2**31, 2**63 - 1)), rng.choice((WEB, DATA)), sample=rng.choice((1, 1000)))
          for i in range(300)], images, regions, vm='web')
    for form in 'text', 'csv', 'json':
        out = profile('-f', form, '--reuse', '--memory', '4M', 't').stdout
        assert out and '\033' not in out, out
    wide = max((len(line), line) for line in profile('t').stdout.splitlines())
    assert wide[0] <= 80, wide
    assert all(int(row['bytes'] or 0) <= 2**32 * int(row['accesses'] or 0) for row in rows('t'))
    run('truncate', '-s', '-3', 't/snapshots/guest_1/part_1.csv.gz')
    done = profile('t', status=1)
    assert 'is damaged' in done.stderr, done.stderr


def one_line(status, part, *options):
    done = run('iotracer', 'profile', *options, status=status)
    is_equal('output', done.stdout, '')
    lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information.'))]
    assert len(lines) == 1 and part in lines[0], (part, done.stderr)


def mistakes():
    make([call('READ', 2 * S, 10, 0, 4096, DATA)], TWO, REGIONS)
    one_line(2, '--vm: say which trace, made with record --vm=web, or --live', '--vm', 'web')
    one_line(2, 'goes without --by, --sort and --top', '--vm', 'web', '--by', 'op', 't')
    one_line(2, '--window is for', '--vm', 'web', '--window', '5', 't')
    one_line(2, 'is made from category fs', '--vm', 'web', '-c', 'block', 't')
    one_line(1, 't: is of the virtual machine web, PID 40, not of db', '--vm', 'db', 't')
    one_line(1, 'none: no such trace', '--vm', 'web', 'none')
    make([call('READ', 2 * S, 10, 0, 4096, DATA)])
    one_line(1, "t: has no maps of the machine's disk images", '--vm', 'web', 't')
    make([call('READ', 2 * S, 10, 0, 4096, DATA)], vm=None)
    one_line(1, 't: is not of a virtual machine: record one with iotracer record --vm=web', '--vm', 'web', 't')
    make(None, TWO, REGIONS, net=[{'op': 0, 'time': 2 * S, 'latency': 1}])
    one_line(1, 't: has no category fs', '--vm', 'web', 't')


def targets():
    """Directories, processes and devices that are no targets: each has a line with the command that answers."""
    make([call('READ', 2 * S, 10, 0, 4096, DATA)], block=[])
    with open('proc/control', 'w', encoding='ascii'):
        pass
    os.mkdir('d')
    one_line(1, 'd: is a directory: for the files below it use iotracer profile --live --filter=path=' + os.path.abspath('d'), 'd')
    one_line(1, 'pid=7: means processes: use iotracer record -o TRACE --filter=pid=7, then iotracer profile TRACE', 'pid=7')
    one_line(1, 'none: not traced: no such file', 'none')
    for name in filter(os.path.exists, ('/dev/loop0', '/dev/vda', '/dev/sda')):
        number = os.stat(name).st_rdev
        one_line(1, f'{name}: is a device that is not traced: add it (iotracer add {name}), or use iotracer profile --live '
                 f'-c block --by=device --filter=dev={os.major(number)}:{os.minor(number)}', name)
    # what they say can be said
    for options in ('--filter=path=/d',), ('-c', 'block', '--by=device', '--filter=dev=7:0'):
        run('iotracer', 'profile', '--live', '--time=0.1', *options)
    run('iotracer', 'record', '-o', 'r', '--filter=pid=7', '--', 'true')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
