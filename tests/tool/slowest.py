# SPDX-License-Identifier: GPL-2.0
"""
What slowest.bats runs: iotracer slowest of traces whose events are known. A trace begins at 1 s of the
monotonic clock and lasts 999 s. Times of events are microseconds since 10 s of it.
"""
import csv
import io
import json
import random
import sys

from join import REALTIME, S, US, is_equal, run, trace
from stats import change

FS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'OPEN': 4, 'FSYNC': 9, 'FDATASYNC': 10, 'SYNC': 11,
      'SYNCFS': 12, 'MSYNC': 17, 'RENAME': 30, 'SENDFILE': 37}
BLOCK = {'READ': 0, 'WRITE': 1, 'FLUSH': 2}
CACHE = {'HIT': 0, 'MISS': 1, 'DIRTY': 2, 'READAHEAD': 8}
DEVICE = 0x800001
EARLY, SYNC, WAIT = 1 << 25, 1 << 4, 1 << 1
JOURNAL = 2
T = 10 * S
PARTS = 'device', 'queue', 'cache', 'other'
FILE = {'inode': 5, 'path': 1, 'device': DEVICE}


def call(op, begin, end, tid=7, **more):
    """An event of category fs."""
    return {'op': FS[op], 'time': T + begin * US, 'latency': (end - begin) * US, 'pid': tid, 'tid': tid,
            'comm': f'p{tid}', **FILE, **more}


def request(op, begin, end, queue=0, tid=7, inside=None, **more):
    """In the device from begin + queue to end, or that long before the end."""
    inside = end - begin - queue if inside is None else inside
    return {'op': BLOCK[op], 'time': T + begin * US, 'latency': (end - begin) * US, 'queue_latency': queue * US,
            'device_latency': inside * US, 'pid': tid, 'tid': tid, 'comm': f'p{tid}', 'inode': 5, 'path': 1,
            'file_device': DEVICE, 'device': DEVICE, 'disk': 'sda', 'requested': 4096, 'result': 4096, **more}


def page(op, time, tid=7, **more):
    return {'op': CACHE[op], 'time': T + time * US, 'latency': 0, 'tid': tid, 'pid': tid, 'pages': 1, **FILE, **more}


def make(name='t', paths=('/srv/db',), **categories):
    trace(name, categories, list(paths), 5, None)


def slowest(*options, status=0):
    return run('iotracer', 'slowest', *options, status=status)


def rows(*options):
    text = slowest('-f', 'csv', *options).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def parts(row, unit=US):
    """Of a row of CSV, in microseconds; their sum is the latency."""
    found = [int(row[f'{part}_ns']) for part in PARTS]
    is_equal('sum', sum(found), int(row['latency_ns']))
    for part, n in zip(PARTS, found):
        share = 100 * n / int(row['latency_ns']) if int(row['latency_ns']) else 0
        is_equal('share', row[f'{part}_percent'], f'{share:.3f}')
    return [n // unit for n in found]


def few():
    make(fs=[call('READ', 0, 1000, requested=8192),
             call('FSYNC', 2000, 5000, tid=8),
             call('OPEN', 100, 110, tid=9, result=-2)],
         block=[request('READ', 100, 400, queue=100), request('READ', 300, 600, queue=200),
                # had been read ahead by another process
                request('READ', -50, 50, queue=20, tid=99, offset=4096),
                # written back by the kernel; the journal, which never got to the device; a flush
                request('WRITE', 1500, 2500, tid=99, offset=1 << 30),
                request('WRITE', 3000, 3500, tid=200, queue=500, inode=0, path=0, **{'class': JOURNAL}),
                request('FLUSH', 3500, 4000, tid=0, inode=0, path=0, requested=0)],
         cache=[page('MISS', 60), page('HIT', 650, pages=3), page('HIT', 700, flags=WAIT)],
         fault=[{'op': 0, 'time': T + 6000 * US, 'latency': 300 * US, 'tid': 10, 'pid': 10, 'comm': 'p10', 'offset': 5000,
                 **FILE}])


# --- the tests ----------------------------------------------------------------------

def by_hand():
    """
    The read has requests from 0 to 50 and from 100 to 600, which are in the device from 0 to 50, 200 to 400
    and 500 to 600. From 60 to 700 it works on pages, 140 of that without a request.
    """
    few()
    fsync, read, fault, opened = rows('t')
    is_equal('read', parts(read), [350, 200, 140, 310])
    is_equal('fsync', parts(fsync), [1000, 500, 0, 1500])
    is_equal('fault', parts(fault), [0, 0, 0, 300])
    is_equal('open', parts(opened), [0, 0, 0, 10])
    is_equal('row', read, {
        'event': 'fs:0:1', 'category': 'fs', 'op': 'READ', 'time_ns': str(REALTIME + T - S), 'pid': '7', 'tid': '7',
        'command': 'p7', 'file': '/srv/db', 'offset_bytes': '0', 'size_bytes': '8192', 'result': '0',
        'latency_ns': '1000000', 'device_ns': '350000', 'device_percent': '35.000', 'queue_ns': '200000',
        'queue_percent': '20.000', 'cache_ns': '140000', 'cache_percent': '14.000', 'other_ns': '310000',
        'other_percent': '31.000', 'requests': '3', 'requests_bytes': '12288', 'requests_own': '2',
        'requests_data': '1', 'requests_sync': '0', 'pages_hit': '3', 'pages_waited': '1', 'pages_missed': '1',
        'pages_dirtied': '0', 'pages_read_ahead': '0', 'lost': '0', 'missed': '0', 'unreadable': '0', 'sampled': '0'})
    is_equal('fsync requests', [fsync[f'requests_{how}'] for how in ('own', 'data', 'sync')], ['0', '1', '2'])
    document = json.loads(slowest('-f', 'json', 't').stdout)
    is_equal('JSON', [{k: f'{v:.3f}' if isinstance(v, float) else str(v) for k, v in row.items()}
                      for row in document['slowest']],
             [{k: v for k, v in row.items() if k not in ('lost', 'missed', 'unreadable', 'sampled')}
              for row in (fsync, read, fault, opened)])
    is_equal('categories', [(c['category'], c['records']) for c in document['categories']],
             [('fs', 3), ('fault', 1), ('block', 6), ('cache', 3)])
    is_equal('text', slowest('t').stdout.splitlines(), [
        'The slowest 4 of 4',
        '',
        ' LATENCY   DEVICE    QUEUE    CACHE    OTHER OTHER%     SIZE  OP',
        '  3.00ms   1.00ms    500us      0ns   1.50ms  50.00       0B  FSYNC',
        '         +9.002000000s  fs:0:2  p8/8',
        '         /srv/db',
        '         3 requests, 8.00KiB',
        '  1.00ms    350us    200us    140us    310us  31.00  8.00KiB  READ',
        '         +9.000000000s  fs:0:1  p7/7',
        '         at 0 of /srv/db',
        '         3 requests, 12.0KiB, 3 pages hit, 1 page waited for, 1 page missed',
        '   300us      0ns      0ns      0ns    300us 100.00  4.00KiB  READ',
        '         +9.006000000s  fault:0:0  p10/10',
        '         at 4096 of /srv/db',
        '  10.0us      0ns      0ns      0ns   10.0us 100.00       0B  OPEN',
        '         +9.000100000s  fs:0:0  p9/9',
        '         failed: ENOENT',
        '         /srv/db'])


def relations():
    """One call from 0 to 100 and one request each; the request is from 10 to 60, the call waits 50 or 0."""
    other = {'tid': 99}
    write = {**other, 'offset': 8192}
    journal = {**other, 'inode': 0, 'class': JOURNAL}
    elsewhere = {'inode': 6}
    cases = [
        # own: whatever it is of
        ('RENAME', {}, 'READ', elsewhere, {}, 'own'),
        ('DIO_READ', {}, 'READ', {}, {}, 'own'),
        ('FSYNC', {}, 'WRITE', {}, {}, 'own'),
        ('READ', {}, 'READ', {'flags': EARLY}, {}, None),
        ('READ', {}, 'READ', {}, {'end': 101}, None),   # it did not wait for this one
        ('READ', {}, 'READ', {**elsewhere}, {'begin': -1}, None),
        ('READ', {}, 'READ', {}, {'begin': -9, 'end': -1}, None),
        # data of another thread's request
        ('READ', {}, 'READ', {**other, 'offset': 4095}, {}, 'data'),
        ('READ', {}, 'READ', {**other, 'offset': 4096}, {}, None),
        ('READ', {'offset': 4096}, 'READ', other, {}, None),
        ('READ', {'offset': 4095}, 'READ', other, {}, 'data'),
        ('READ', {}, 'READ', {**other, **elsewhere}, {}, None),
        ('READ', {}, 'READ', {**other, 'file_device': DEVICE + 1}, {}, None),
        ('READ', {'inode': 0}, 'READ', {**other, 'inode': 0}, {}, None),
        ('READ', {}, 'WRITE', other, {}, None),
        ('SENDFILE', {}, 'READ', other, {}, 'data'),
        ('DIO_READ', {}, 'READ', other, {}, None),
        ('WRITE', {}, 'WRITE', other, {}, None),
        ('WRITE', {'flags': SYNC}, 'WRITE', other, {}, 'data'),
        ('WRITE', {'flags': SYNC}, 'WRITE', write, {}, None),
        ('DIO_WRITE', {'flags': SYNC}, 'WRITE', other, {}, None),
        ('FSYNC', {}, 'WRITE', write, {}, 'data'),
        ('FDATASYNC', {}, 'WRITE', write, {}, 'data'),
        ('MSYNC', {}, 'WRITE', write, {}, 'data'),
        ('FSYNC', {}, 'READ', write, {}, None),
        ('FSYNC', {}, 'WRITE', {**write, **elsewhere}, {}, None),
        ('SYNCFS', {}, 'WRITE', {**write, **elsewhere}, {}, 'data'),
        ('SYNCFS', {}, 'WRITE', {**write, 'file_device': DEVICE + 1}, {}, None),
        ('SYNC', {}, 'WRITE', {**write, 'file_device': DEVICE + 1}, {}, 'data'),
        # journals and flushes
        ('FSYNC', {}, 'WRITE', journal, {}, 'sync'),
        ('FSYNC', {}, 'WRITE', {**journal, 'class': 1}, {}, None),
        ('FSYNC', {}, 'FLUSH', {**other, 'inode': 0}, {}, 'sync'),
        ('FSYNC', {}, 'FLUSH', {**other, 'inode': 0, 'device': DEVICE + 1}, {}, None),
        ('SYNC', {}, 'FLUSH', {**other, 'inode': 0, 'device': DEVICE + 1}, {}, 'sync'),
        ('DIO_WRITE', {'flags': SYNC}, 'FLUSH', {**other, 'inode': 0}, {}, 'sync'),
        ('DIO_WRITE', {}, 'FLUSH', {**other, 'inode': 0}, {}, None),
        ('READ', {}, 'FLUSH', {**other, 'inode': 0}, {}, None),
        ('RENAME', {}, 'WRITE', journal, {}, None),
    ]
    # a pair each millisecond: nothing of one may explain another
    calls, requests = [], []
    for i, (op, of_call, made, of_request, time, _) in enumerate(cases):
        begin, end = time.get('begin', 10), time.get('end', 60)
        calls.append(call(op, 1000 * i, 1000 * i + 100, **{'requested': 4096, **of_call}))
        requests.append(request(made, 1000 * i + begin, 1000 * i + end, **of_request))
    make(fs=calls, block=requests)
    found = sorted(rows('--top', '1000', 't'), key=lambda row: int(row['time_ns']))
    for row, case in zip(found, cases, strict=True):
        how = case[-1]
        is_equal(case, [row[f'requests_{name}'] for name in ('own', 'data', 'sync')],
                 [str(int(how == name)) for name in ('own', 'data', 'sync')])
        is_equal(case, parts(row), [50, 0, 0, 50] if how else [0, 0, 0, 100])


def is_waited(c, r):
    """Of a read and a request of counted(), whether the read waits for it."""
    if not c['time'] <= r['time'] + r['latency'] <= c['time'] + c['latency']:
        return False
    if r['tid'] == c['tid'] and r['time'] >= c['time']:
        return True
    return r['inode'] == c['inode'] and set(range(c['offset'], c['offset'] + c['requested'])) & set(
        range(r['offset'], r['offset'] + r['requested'])) != set()


def by_counting(c, requests, pages):
    """The parts of a read: what each nanosecond of it belongs to."""
    mine = [r for r in requests if is_waited(c, r)]
    times = [p['time'] for p in pages if p['tid'] == c['tid'] and p['inode'] == c['inode'] and
             c['time'] <= p['time'] <= c['time'] + c['latency']]
    sums = dict.fromkeys(PARTS, 0)
    for ns in range(c['time'], c['time'] + c['latency']):
        now = [r for r in mine if r['time'] <= ns < r['time'] + r['latency']]
        if any(ns >= r['time'] + r['latency'] - r['device_latency'] for r in now):
            sums['device'] += 1
        elif now:
            sums['queue'] += 1
        elif times and min(times) <= ns < max(times):
            sums['cache'] += 1
        else:
            sums['other'] += 1
    return list(sums.values())


def counted():
    rng = random.Random(1)

    def some(nr, longest):
        for _ in range(nr):
            yield {'time': T + rng.randrange(2000), 'latency': rng.randrange(longest), 'op': 0, 'tid': rng.randrange(1, 6),
                   'inode': rng.randrange(5, 8), 'path': 1, 'offset': rng.randrange(8), 'requested': rng.randrange(4)}
    calls = [{**c, 'device': DEVICE} for c in some(150, 400)]
    requests = [{**r, 'file_device': DEVICE} for r in some(300, 150)]
    for r in requests:
        r['queue_latency'] = rng.randrange(r['latency'] + 1)
        r['device_latency'] = rng.randrange(r['latency'] - r['queue_latency'] + 1)
    pages = [{**p, 'device': DEVICE} for p in some(300, 1)]
    for p in pages:
        del p['requested']
    make(fs=calls, block=requests, cache=pages)
    found = rows('--top', '1000', 't')
    ends = sorted(calls, key=lambda c: c['time'] + c['latency'])  # in the order of seq
    is_equal('calls', len(found), 150)
    for row in found:
        c = ends[int(row['event'].split(':')[2])]
        is_equal('call', parts(row, 1), by_counting(c, requests, pages))
    shown = [[int(row[f'{part}_ns']) > 0 for row in found] for part in PARTS]
    assert all(any(part) for part in shown), 'a part that no call has'


def ranked():
    rng = random.Random(2)
    calls = [call('READ', i, i + rng.randrange(50), tid=1 + i) for i in range(500)]
    requests = [request('READ', 1000 + i, 1000 + i + rng.randrange(60), tid=600) for i in range(300)]
    make(fs=calls, block=requests)
    for categories, events in ('fs', calls), ('block', requests), ('fs,block', calls + requests):
        by_latency = sorted(events, key=lambda e: (-e['latency'], e['time']))
        for nr in 1, 2, 10, 77, 1000:
            found = rows('-c', categories, '-n', str(nr), 't')
            is_equal(f'{nr} of {categories}', [(int(row['latency_ns']), int(row['time_ns']) - REALTIME + S) for row in found],
                     [(e['latency'], e['time']) for e in by_latency[:nr]])
            is_equal('text', slowest('-c', categories, '-n', str(nr), 't').stdout.splitlines()[0],
                     f'The slowest {min(nr, len(events))} of {len(events)}')
    is_equal('default', len(rows('t')), 10)
    # a trace without calls has its requests listed
    make('requests', block=[request('WRITE', 0, 100, queue=30, inside=50, tid=99, origin_pid=8, origin_comm='dd')])
    row, = rows('requests')
    is_equal('request', parts(row), [50, 30, 0, 20])
    is_equal('whom', (row['pid'], row['tid'], row['command']), ('8', '99', 'dd'))


def selected():
    few()
    read, = rows('--filter', 'comm=p7', 't')
    is_equal('read', parts(read), [350, 200, 140, 310])
    fsync, = rows('--from', '+9.002', '-c', 'fs', 't')
    is_equal('fsync', parts(fsync), [1000, 500, 0, 1500])
    # no request has this operation: its frame is read all the same
    fsync, = rows('--filter', 'op=FSYNC', 't')
    is_equal('fsync by operation', parts(fsync), [1000, 500, 0, 1500])
    is_equal('none', rows('--filter', 'comm=p77', 't'), [])
    is_equal('text', slowest('--filter', 'comm=p77', 't').stdout, 'The slowest 0 of 0\n')
    make('alone', fs=[call('READ', 0, 10)])
    is_equal('said', slowest('alone').stderr,
             'iotracer: alone: has no category block: no request explains the time of a call\n')


def merged():
    make('one', fs=[call('READ', 0, 100)], block=[request('READ', 10, 30)])
    make('two', fs=[call('READ', 0, 101)], block=[request('READ', 10, 50)])
    change('one', host='alpha')
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    is_equal('parts', [parts(row) for row in rows('both')], [[40, 0, 0, 61], [20, 0, 0, 80]])


def missing():
    few()
    make('lost', fs=[call('READ', 0, 10)], block=[request('READ', 1, 2), request('READ', 3, 4, cpu=1, gap=5, sample=4)])
    change('lost', missed=7)
    row, = rows('lost')
    is_equal('CSV', [row[k] for k in ('lost', 'missed', 'unreadable', 'sampled')], ['5', '7', '0', '1'])
    text = slowest('lost').stdout
    assert 'lost 5: ' in text and 'missed 7: ' in text and 'sampled 1: ' in text, text
    with open('t/block.iot', 'r+b') as f:
        f.truncate(4096 + 100)
    done = slowest('t', status=1)
    assert 'unreadable 6: ' in done.stdout, done.stdout
    is_equal('partial', parts(rows('--partial', 't')[0]), [0, 0, 0, 3000])


def hostile():
    """Times that do not fit into 64 bits, parts longer than the whole, and names."""
    most = 2**64 - 1
    make(fs=[call('READ', 0, 10, requested=most, offset=most, comm='\\033[31m'),
                call('READ', 0, 10, requested=most, tid=8),
             {**call('SYNC', 0, 0), 'latency': most - 5}],
         block=[{**request('READ', 1, 5), 'queue_latency': most, 'device_latency': most, 'requested': most},
                {**request('READ', 1, 5), 'device_latency': most, 'offset': most, 'tid': 8},
                {**request('WRITE', 1, 2), 'op': 77}, {**request('WRITE', 1, 2), 'latency': most}],
         cache=[{**page('HIT', 2, pages=2**32 - 1), 'op': 77}, page('MISS', 3, pages=2**32 - 1)])
    for form in 'text', 'csv', 'json':
        text = slowest('-c', 'fs,block', '-f', form, 't').stdout
        assert '\033' not in text, text
    for row in rows('-c', 'fs,block', 't'):
        for part in PARTS:
            assert 0 <= float(row[f'{part}_percent']) <= 100, row
    widths = [len(line) for line in slowest('-c', 'fs,block', 't').stdout.splitlines()]
    assert max(widths) <= 80, widths
    long = '/' + 'directory/' * 30 + 'x.db'
    make('wide', [long], fs=[call('READ', 0, 10, comm='\\040' * 15, requested=most, offset=most)])
    lines = slowest('wide').stdout.splitlines()
    assert max(map(len, lines)) == 80 and lines[-1].endswith('directory/x.db'), lines


def mistakes():
    few()

    def one_line(status, part, *options):
        done = slowest(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = done.stderr.split('\nTry ')[0].splitlines()
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which trace')
    one_line(1, 'none', 'none')
    one_line(2, '--top=0', '-n', '0', 't')
    one_line(1, 'has none of the categories fs, fault and block', '-c', 'cache', 't')
    one_line(1, 'has no category net', '-c', 'net', 't')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
