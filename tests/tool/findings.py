# SPDX-License-Identifier: GPL-2.0
"""
What findings.bats runs: iotracer findings of traces whose faults are known. A trace begins at 1 s of the
monotonic clock and lasts 999 s.
"""
import json
import random
import sys

from join import S, is_equal, run, trace
from stats import change

MS = 10**6
KIB, MIB, PAGE = 1024, 1024 * 1024, 4096
OPS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'OPEN': 4, 'FSYNC': 9, 'FDATASYNC': 10, 'MMAP': 14,
       'GETATTR': 20, 'TRUNCATE': 24, 'ACCESS': 25}
ENOENT, EIO, EAGAIN, EACCES, EINVAL, EOPNOTSUPP = 2, 5, 11, 13, 22, 95
VARIED = 'reread', 'direct-reread', 'rewritten'  # tested by twice()


def fs(op, i, offset=0, size=0, result=None, latency=1000, **more):
    """The i-th event of category fs: a millisecond after the one before."""
    return {'op': OPS[op], 'time': 2 * S + i * MS, 'latency': latency, 'offset': offset, 'requested': size,
            'result': size if result is None else result, 'path': 1, 'pid': 7, 'tid': 7, 'comm': 'fio', 'kind': 1, **more}


def in_order(events):
    """Events at their place in the list: one each millisecond."""
    return [{**event, 'time': 2 * S + i * MS} for i, event in enumerate(events)]


def findings(*options, name='t', status=0):
    return json.loads(run('iotracer', 'findings', '-f', 'json', *options, name, status=status).stdout)['findings']


def make(paths=('/srv/a.db', '/srv/b.db'), **categories):
    trace('t', categories, list(paths), 100, None)


def found():
    return {finding['id']: finding for finding in findings()}


def finds(rule, figures, category='fs', events=(), beside=(), paths=('/srv/a.db', '/srv/b.db')):
    """The rule, and beside it those named, find something; figures: count, of, bytes and time of the rule."""
    make(paths, **{category: list(events)})
    ids = found()
    is_equal(rule, sorted(ids), sorted({rule, *beside}))
    is_equal(f'{rule}: figures', [ids[rule][k] for k in ('count', 'of', 'bytes', 'time_ns')], list(figures))
    return ids[rule]


def finds_none(what, category='fs', events=(), beside=()):
    make(**{category: list(events)})
    is_equal(f'almost {what}', sorted(found()), sorted(beside))


# --- the tests ----------------------------------------------------------------------

def listed():
    lines = run('iotracer', 'findings', '--list').stdout.splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines if line[0] != ' '}


def all_rules():
    with open(__file__, encoding='utf-8') as f:
        source = f.read()
    rules = listed()
    assert len(rules) > 20, rules
    offered = run('iotracer', 'complete', '--', 'findings', '--rule', '').stdout.splitlines()
    is_equal('a shell offers', sorted(line.split('\t')[0] for line in offered), sorted(rules))
    is_equal('rules without a test', [rule for rule in rules if f"'{rule}', (" not in source and rule not in VARIED], [])


def pages(op, nr, size=PAGE, step=PAGE, start=0, **more):
    return [fs(op, i, start + i * step, size, **more) for i in range(nr)]


def files():
    row = finds('small-reads', (1000, 2000, 1000 * 4095, 1000 * 1000), events=pages('READ', 1000, 4095) + pages('READ', 1000))
    is_equal('row', row['rows'], [{'file': '/srv/a.db', 'process': 'fio (7)', 'count': 1000, 'of': 2000,
                                   'bytes': 4095000, 'time_ns': 1000000, 'note': ''}])
    is_equal('sentence', row['sentence'], '1000 of 2000 reads moved less than 4 KiB (3.91MiB, 1.00ms)')
    finds_none('small reads', events=pages('READ', 999, 4095))
    finds_none('small reads', events=pages('READ', 1000, 4095) + pages('READ', 1001))
    finds('small-writes', (1000, 1000, 100000, 1000000), events=pages('WRITE', 1000, 100, 100))
    finds_none('small writes', events=pages('WRITE', 1000, PAGE))
    # in the midst of pages, from the last to the first
    back = [fs('WRITE', i, (256 - i) * 2 * PAGE + 1, PAGE) for i in range(256)]
    finds('unaligned-writes', (256, 256, 256 * PAGE, 256000), events=back)
    finds_none('unaligned writes', events=back[:255])
    # each begins in the midst of a page, where the one before ended
    finds_none('unaligned writes', events=pages('WRITE', 300, 5000, 5000))
    # the last part of a page, behind which there is nothing
    finds_none('unaligned writes', events=pages('WRITE', 300, 5000, 8192))
    # the same with something behind them
    finds('unaligned-writes', (300, 301, 300 * 5000, 300000), events=pages('WRITE', 1, start=MIB * 64) +
          pages('WRITE', 300, 5000, 8192, time=3 * S))
    refused = [fs('DIO_WRITE', i, 512 * i + 512, PAGE, -EINVAL) for i in range(6)]
    finds('direct-misaligned', (10, 20, 0, 10000), events=refused + [fs('DIO_READ', i, 0, 100, -EINVAL) for i in range(4)] +
          pages('DIO_WRITE', 10))
    finds_none('misaligned', events=refused + [fs('DIO_READ', i, 0, PAGE, -EINVAL) for i in range(9)])
    ends = [fs('READ', i, 100, PAGE, 0) for i in range(1000)]
    finds('eof-polling', (1000, 2000, 0, 1000000), events=ends + pages('READ', 1000))
    finds_none('polling', events=ends[1:])
    # nothing was asked for
    finds_none('polling', events=[fs('READ', i, 0, 0, 0) for i in range(999)])
    stalls = [fs('WRITE', i, i * PAGE, PAGE, latency=100 * MS) for i in range(5)]
    finds('write-stall', (5, 10, 5 * PAGE, 500 * MS), events=stalls + pages('WRITE', 5, start=MIB, latency=99999999))
    finds_none('stalls', events=stalls[1:])
    finds_none('stalls', events=[{**e, 'latency': 100 * MS - 1} for e in stalls])
    finds_none('stalls', events=[{**e, 'op': OPS['DIO_WRITE']} for e in stalls])
    opens = [fs('OPEN', i, result=3) for i in range(1000)]
    finds('many-opens', (1000, 1000, 0, 1000000), events=opens + pages('READ', 4000))
    finds_none('opens', events=opens + pages('READ', 4001))
    finds_none('opens', events=opens[1:])
    finds_none('opens', events=[{**e, 'kind': 2} for e in opens])
    twice()


def read_waits():
    slow = [fs('READ', i, i * PAGE, PAGE, latency=9990 * MS) for i in range(10)]
    finding = finds('read-wait', (10, 20, 10 * PAGE, 99900 * MS), events=slow + pages('READ', 10))
    is_equal('note', finding['rows'][0]['note'], '9.99s each, 10.0 % of the time')
    finds('read-wait', (10, 10, 10 * PAGE, 99900 * MS), events=[{**e, 'op': OPS['DIO_READ']} for e in slow])
    finds_none('waits', events=[{**e, 'latency': 11100 * MS} for e in slow[1:]])
    finds_none('waits', events=[{**e, 'latency': 9990 * MS - 1} for e in slow])
    # memory takes a nanosecond for a byte, and 50 us
    size = 9990 * MS - 50000
    finds('read-wait', (10, 10, 10 * size, 99900 * MS), events=[fs('READ', i, 0, size, latency=9990 * MS) for i in range(10)])
    finds_none('waits', events=[fs('READ', i, 0, size + 1, latency=9990 * MS) for i in range(10)])


def twice():
    """16 MiB, and the same again; the first time half of them is of another file."""
    nr = 16 * MIB // PAGE
    for op, rule in ('READ', 'reread'), ('DIO_READ', 'direct-reread'), ('WRITE', 'rewritten'):
        half = pages(op, nr)
        finds(rule, (2 * nr, 2 * nr, 16 * MIB, 2 * nr * 1000), events=half + half)
        finds_none(rule, events=half + pages(op, nr - 1))
        finds_none(rule, events=half + [{**e, 'path': 2} for e in half])
        finds_none(rule, events=half + pages(op, nr, start=PAGE))
    # what was cut off is not written again
    half = pages('WRITE', nr)
    finds_none('rewritten', events=in_order([*half, fs('TRUNCATE', 0), *half]))
    finds_none('rewritten', events=in_order([*half, fs('OPEN', 0, result=3, flags=0x201), *half]))
    finds('rewritten', (4 * nr, 4 * nr, 32 * MIB, 4 * nr * 1000), events=in_order([*half, *half, fs('TRUNCATE', 0), *half, *half]))


def syncs():
    # 999 s of which 10 % are 99.9 s
    storm = [fs('FSYNC', i, latency=9990 * MS) for i in range(10)]
    finding = finds('fsync-storm', (10, 10, 0, 99900 * MS), events=in_order(
        [e for sync in storm for e in (fs('WRITE', 0, 0, 16 * KIB), sync)]))
    is_equal('note', finding['rows'][0]['note'], '0.0 a second, 10.0 % of the time')
    finds_none('storm', events=in_order([e for sync in storm[1:] for e in (
        fs('WRITE', 0, 0, 16 * KIB), {**sync, 'latency': 11100 * MS})]))
    finds_none('storm', events=in_order([e for sync in storm for e in (
        fs('WRITE', 0, 0, 16 * KIB), {**sync, 'latency': 9990 * MS - 1})]))

    def small(nr, size, rest=0, **more):
        """fsyncs after so many bytes, and others after 16 KiB."""
        return in_order([e for i in range(nr + rest) for e in (
            fs('WRITE', 0, i * 16 * KIB, size if i < nr else 16 * KIB), fs('FDATASYNC', 0, **more))])
    finding = finds('fsync-small', (100, 200, 409600, 100000), events=small(100, 4096, 100))
    is_equal('note', finding['rows'][0]['note'], '4.00KiB written for each on average')
    finds_none('small fsyncs', events=small(99, 4096))
    finds_none('small fsyncs', events=small(100, 4096, 101))
    finds_none('small fsyncs', events=small(100, 16 * KIB))
    finds_none('small fsyncs', events=small(100, 4096, result=-EIO))
    # the first fsync may have something to do from before the trace
    idle = [fs('FSYNC', 0)] * 101
    finds('fsync-idle', (100, 101, 0, 100000), events=in_order(idle))
    finds_none('idle fsyncs', events=in_order(idle[1:]))
    finds('fsync-idle', (100, 101, 0, 100000), events=in_order([e for sync in idle for e in (sync, fs('GETATTR', 0))]))
    for op, more in ('WRITE', {'size': PAGE * 4}), ('TRUNCATE', {}), ('OPEN', {'flags': 0x201, 'result': 3}):
        finds_none(f'idle fsyncs after {op}', events=in_order([e for sync in idle for e in (sync, fs(op, 0, **more))]))
    finds_none('idle fsyncs of what is mapped', events=in_order([fs('MMAP', 0, flags=1, flags2=3, result=0), *idle]))
    finds_none('idle fsyncs of a directory', events=[{**e, 'kind': 2} for e in in_order(idle)])


def processes():
    missing = [fs('OPEN', i, result=-ENOENT) for i in range(1000)]
    finding = finds('missing-files', (1000, 4000, 0, 1000000), events=missing + pages('GETATTR', 3000))
    is_equal('row', finding['rows'][0]['process'], 'fio (7)')
    finds_none('missing files', events=missing + pages('GETATTR', 3001))
    finds_none('missing files', events=missing[1:])
    failing = [fs('OPEN', i, result=-EACCES) for i in range(1000)]
    finding = finds('failing-calls', (1000, 4000, 0, 1000000), events=failing + pages('GETATTR', 3000))
    is_equal('note', finding['rows'][0]['note'], 'the last one with EACCES')
    finds_none('failing calls', events=failing + pages('GETATTR', 3001))
    finds_none('failing calls', events=failing[1:])
    finds_none('failing calls', events=[fs('READ', i, result=-EAGAIN) for i in range(2000)])
    # two processes with half of them each
    finds_none('failing calls', events=[{**e, 'pid': i % 2} for i, e in enumerate(failing)])
    # 999 s of which 5 % are 49.95 s
    storm = pages('GETATTR', 5000, 0, latency=9990000)
    finds('metadata-storm', (5000, 6666, 0, 49950 * MS), events=storm + pages('READ', 1666))
    finds_none('metadata', events=storm + pages('READ', 1667))
    finds_none('metadata', events=storm[1:])
    finds_none('metadata', events=pages('GETATTR', 5000, 0, latency=9989999))


def request(op, i, latency=1000, queue=0, size=64 * KIB, **more):
    return {'op': op, 'time': 2 * S + i * MS, 'latency': latency, 'queue_latency': queue, 'device_latency': latency - queue,
            'requested': size, 'result': size, 'sector': i * 1000, 'depth': 8, 'pid': 7, 'comm': 'fio', 'disk': 'sda', **more}


def requests(op, nr, latency=1000, **more):
    return [request(op, i, latency, **more) for i in range(nr)]


def disks():
    block = 'block'
    finding = finds('io-errors', (1, 3, 0, 1000), block, [*requests(0, 2), request(1, 3, result=-EIO)])
    is_equal('row', (finding['severity'], finding['rows'][0]['disk'], finding['rows'][0]['note']),
             ('critical', 'sda', 'the last one with EIO'))
    finds_none('errors', block, requests(3, 5, result=-EOPNOTSUPP) + requests(0, 5, result=-EAGAIN, flags=1 << 11))
    few = requests(0, 1000, depth=4)
    finds('deep-queue', (1000, 2000, 65536000, 4000000), block, few + requests(0, 1000, 4000, depth=32))
    finds_none('deep', block, few + requests(0, 1000, 3999, depth=32))
    finds_none('deep', block, few + requests(0, 1000, 4000, depth=31))
    finds_none('deep', block, few[1:] + requests(0, 1000, 4000, depth=32))
    finds_none('deep', block, few + requests(0, 999, 4000, depth=32))
    slow = {'latency': 2 * MS - 1, 'queue': MS}
    finds('queue-wait', (1000, 2000, 65536000, 1000 * (2 * MS - 1)), block, requests(1, 1000, **slow) + requests(1, 1000))
    finds_none('waits', block, requests(1, 1000, **slow) + requests(1, 1001))
    finds_none('waits', block, requests(1, 1000, latency=2 * MS - 1, queue=MS - 1))
    finds_none('waits', block, requests(1, 1000, latency=2 * MS, queue=MS))
    finds_none('waits', block, requests(1, 1000, flags=1 << 25, **slow))
    flushes = [request(2, i, MS, size=0) for i in range(10)]
    finding = finds('slow-flush', (10, 40, 0, 10 * MS), block, flushes + requests(1, 30, MS))
    is_equal('note', finding['rows'][0]['note'], '1.00ms each')
    finds_none('flushes', block, flushes + requests(1, 31, MS))
    finds_none('flushes', block, [request(2, i, MS - 1, size=0) for i in range(10)])
    finds_none('flushes', block, flushes[1:])
    finds_none('flushes', block, [{**e, 'flags': 1 << 24} for e in flushes])
    discards = [request(3, i, 10 * MS) for i in range(10)]
    finds('slow-discard', (10, 910, 0, 100 * MS), block, discards + requests(1, 900, MS))
    finds_none('discards', block, discards + requests(1, 901, MS))
    finds_none('discards', block, discards[1:])
    finds_none('discards', block, [request(3, i, 10 * MS - 1) for i in range(10)])

    def adjacent(nr, size, rest=0):
        """All but the first one begin where the one before ended."""
        return [request(1, i, size=size, sector=8 + i * size // 512) for i in range(nr + 1)] + \
            [request(1, nr + 1 + i, size=size, sector=7 * i + 10**9) for i in range(rest)]
    finds('small-requests', (1000, 2000, 1000 * 8192, 1000000), block, adjacent(1000, 8192, 999))
    finds_none('small requests', block, adjacent(1000, 8192, 1000))
    finds_none('small requests', block, adjacent(999, 8192))
    finds_none('small requests', block, adjacent(1000, 16 * KIB))
    neighbours()
    behind()


def neighbours():
    """A hog with half of the device's time, and others that take twice as long beside it."""
    def of_all(hog=1000, alone=100, busy=100, slower=2000, share=300000):
        # a hog takes as long as all others together
        return [request(1, i, share // 1000, pid=1, comm='hog', depth=2 + i % 2 * 6) for i in range(hog)] + \
            requests(0, alone, 1000, depth=2, pid=8) + requests(0, busy, slower, depth=8, pid=9)
    finding = finds('noisy-neighbour', (1000, 1200, 65536000, 300000), 'block', of_all())
    is_equal('row', [finding['rows'][0][k] for k in ('process', 'disk', 'note')],
             ['hog (1)', 'sda', 'others: 2.00us each, and 1.00us with at most 2 in the device'])
    for almost in {'hog': 999}, {'alone': 99}, {'busy': 99}, {'slower': 1999}, {'share': 299000}:
        finds_none('noisy', 'block', of_all(**almost))
    # what it has others write back is its own
    finding = finds('noisy-neighbour', (1000, 1200, 65536000, 300000), 'block', [
        {**e, 'pid': 99, 'origin_pid': 1, 'origin_comm': 'hog'} if e['pid'] == 1 else e for e in of_all()])
    is_equal('originator', finding['rows'][0]['process'], 'hog (1)')


def behind():
    """10 requests that wait one after another, and a hog that has the device for 10 % of the trace's 999 s."""
    def waits(nr=10, each=9990 * MS, total=99900 * MS, hog=None):
        # where victim is in the queue only, all that it waits is charged to the hog
        return [request(0, 0, each, each, time=2 * S + i * each, path=1) for i in range(nr)] + \
            [{**request(1, 0, total, path=2, pid=1, comm='hog', time=2 * S), **(hog or {})}]
    rule = 'behind-others', (10, 10, 655360, 99900 * MS), 'block'
    finding = finds(*rule, waits())
    is_equal('row', [finding['rows'][0][k] for k in ('process', 'file', 'note')],
             ['fio (7)', '/srv/a.db', '100 % of its wait behind hog (1), at work on /srv/b.db'])
    finds_none('waits', 'block', waits(9, 11100 * MS))
    finds_none('waits', 'block', waits(total=99900 * MS - 1))
    finds_none('waits for itself', 'block', waits(hog={'pid': 7, 'comm': 'fio'}))
    finds_none('waits on another disk', 'block', waits(hog={'disk': 'sdb'}))
    finds_none('waits for the filesystem', 'block', waits(hog={'path': 0}))
    finds_none('waits without a file', 'block', [{**e, 'path': 0 if e['pid'] == 7 else 2} for e in waits()])
    # a quarter of its wait
    finding = finds(*rule, waits(each=39960 * MS))
    is_equal('note', finding['rows'][0]['note'], '25 % of its wait behind hog (1), at work on /srv/b.db')
    finds_none('waits for other reasons', 'block', waits(each=39961 * MS))
    # writeback is for the process that wrote the data
    finds(*rule, [{**e, 'pid': 99, 'comm': 'kworker', 'origin_pid': e['pid'], 'origin_comm': e['comm']} for e in waits()])
    # of two others, the one that it waits for most is named: the device is theirs by halves for 50 s
    finding = finds('behind-others', (10, 10, 655360, 100 * S), 'block', waits(each=15 * S, total=125 * S) + [
        request(1, 0, 50 * S, path=2, pid=2, comm='other', time=2 * S)])
    is_equal('note', finding['rows'][0]['note'], '67 % of its wait behind hog (1), at work on /srv/b.db')


def page(op, nr, i=0, **more):
    return {'op': op, 'time': 2 * S + i * MS, 'latency': 0, 'pages': nr, 'path': 1, 'pid': 7, 'comm': 'fio', 'file_pages': 5000,
            **more}


HIT, MISS, INVALIDATE, READAHEAD, RECLAIM = 0, 1, 6, 8, 9


def cache():
    rule = 'readahead-wasted', (4096, 8192, 16 * MIB, 0), 'cache'
    events = [page(READAHEAD, 8192), page(MISS, 96), page(HIT, 4000)]
    finds(*rule, [*events, page(RECLAIM, 5000)])
    finds(*rule, [*events, page(INVALIDATE, 4096)])
    finds_none('wasted', 'cache', [*events, page(RECLAIM, 4095)])  # those that are in memory may be used
    finds_none('wasted', 'cache', [*events, page(HIT, 1), page(RECLAIM, 5000)])
    finds_none('wasted', 'cache', [*events, page(READAHEAD, 1), page(HIT, 1), page(RECLAIM, 5000)])
    finds_none('wasted', 'cache', [*events, page(HIT, 0, flags=4), page(RECLAIM, 5000)])
    # what is missed as often as that does not fit, either
    small = {'beside': ['cache-too-small']}
    rule = 'reclaimed-early', (5000, 10000, 5000 * PAGE, 0), 'cache'
    finds(*rule, [page(MISS, 10000), page(RECLAIM, 5000)], **small)
    finds_none('reclaimed', 'cache', [page(MISS, 9999), page(RECLAIM, 5000)], **small)
    finds_none('reclaimed', 'cache', [page(MISS, 10000), page(RECLAIM, 4999)])
    finds_none('reclaimed', 'cache', [page(MISS, 10000), page(INVALIDATE, 5000)])
    finds_none('reclaimed', 'cache', [page(MISS, 8190, file_pages=4095), page(RECLAIM, 5000)], **small)
    finds('cache-too-small', (256, 1024, MIB, 0), 'cache', [page(MISS, 256), page(HIT, 768), page(RECLAIM, 128)])
    finds_none('too small', 'cache', [page(MISS, 255), page(RECLAIM, 255)])
    finds_none('too small', 'cache', [page(MISS, 256), page(HIT, 769), page(RECLAIM, 128)])
    finds_none('too small', 'cache', [page(MISS, 256), page(HIT, 768), page(RECLAIM, 127), page(INVALIDATE, 256)])


def sockets():
    ends = {'family': 2, 'type': 1, 'protocol': 6, 'local': '192.0.2.1', 'local_port': 80, 'remote': '192.0.2.9',
            'remote_port': 4000, 'cookie': 77, 'pid': 7, 'comm': 'nginx'}

    def sends(nr, size=255, rest=0, **more):
        return [{'op': 0, 'time': 2 * S + i * MS, 'latency': 1000, 'result': size if i <= nr else 256,
                 'moved': size if i <= nr else 256, **ends, **more} for i in range(nr + 1 + rest)]
    finding = finds('small-sends', (1000, 2000, 255000, 1000000), 'net', sends(1000, rest=999))
    is_equal('row', finding['rows'][0]['connection'], 'TCP 192.0.2.1:80 192.0.2.9:4000')
    finds_none('small sends', 'net', sends(1000, rest=1000))
    finds_none('small sends', 'net', sends(999))
    finds_none('small sends', 'net', sends(1000, size=256))
    finds_none('small sends', 'net', sends(1000, flags=0x8000))
    finds_none('small sends', 'net', sends(1000, protocol=17, type=2))
    # each is an answer
    finds_none('small sends', 'net', [{**e, 'op': i % 2} for i, e in enumerate(sends(3000))])
    way = {'protocol': 6, 'ip_version': 4, 'source': '192.0.2.9', 'source_port': 4000, 'destination': '192.0.2.1',
           'destination_port': 80, 'latency': 0, 'size': 100, 'op': 1}
    resent = [{'time': 2 * S + i * MS, 'trigger': 1 + i % 2, **way} for i in range(100)]
    finding = finds('retransmits', (100, 100, 10000, 0), 'drop', resent)
    is_equal('row', [finding['rows'][0][k] for k in ('connection', 'process', 'note')],
             ['TCP 192.0.2.9:4000 192.0.2.1:80', '', '50 by the timer: no ACK came in time'])
    finds_none('retransmits', 'drop', resent[1:] + [{**e, 'op': 0} for e in resent])


def calls():
    def waits(nr, rest=0, apart=MS, **more):
        return [{'op': 5 + i % 3, 'time': 2 * S + i * apart, 'latency': 0, 'timeout': 0, 'result': 0 if i < nr else 1,
                 'pid': 7, 'comm': 'loop', **more} for i in range(nr + rest)]
    finds('poll-spin', (1000, 2000, 0, 0), 'epoll', waits(1000, 1000))
    finds_none('spinning', 'epoll', waits(1000, 1001))
    finds_none('spinning', 'epoll', waits(999))
    finds_none('spinning', 'epoll', waits(1000, timeout=1))
    finds_none('spinning', 'epoll', waits(1000, apart=11 * MS))

    def enters(nr, rest=0, **more):
        return [{'op': 0, 'time': 2 * S + i * MS, 'latency': 1000, 'to_submit': 1 if i < nr else 2, 'min_complete': 1, 'result': 1,
                 'opcode': 0xffff, 'pid': 7, 'comm': 'fio', **more} for i in range(nr + rest)]
    finds('uring-single', (1000, 1111, 0, 1000000), 'uring', enters(1000, 111))
    finds_none('single', 'uring', enters(1000, 112))
    finds_none('single', 'uring', enters(999))
    finds_none('single', 'uring', enters(1000, min_complete=0))


def idle():
    make(**{category: [] for category in ('fs', 'block', 'net', 'cache', 'uring', 'epoll', 'drop')})
    done = run('iotracer', 'findings', 't').stdout
    assert done.startswith('nothing found\n'), done
    is_equal('none', findings(), [])
    finds_none('anything', events=[fs(op, i, 0, 100, result) for i, op in enumerate(OPS) for result in (0, 100, -ENOENT, -EIO)])
    text = run('iotracer', 'findings', 't').stdout
    assert 'not checked (category missing): block, cache, uring, net, epoll, drop' in text, text


def again():
    """Against every byte that was read, counted one by one."""
    rng = random.Random(1)
    for _ in range(4):
        unit = 65536
        reads = [(rng.randrange(400), rng.randrange(1, 9)) for _ in range(1500)]
        make(fs=[fs('READ', i, at * unit, nr * unit) for i, (at, nr) in enumerate(reads)])
        touched = set()
        for at, nr in reads:
            touched.update(range(at, at + nr))
        really = (sum(nr for _, nr in reads) - len(touched)) * unit
        least = found()['reread']['bytes']
        # all of the range was read
        assert really * 0.9 < least <= really, (least, really)
    make(fs=[fs('READ', i, rng.randrange(10**6) * PAGE, PAGE) for i in range(20000)])
    is_equal('spread over a large file', found(), {})


def rows_of():
    names = [f'/srv/f{i}' for i in range(10)]
    events = [fs('READ', i, size=i + 1, latency=1000 * (i + 1), path=i + 1, pid=i, comm=f'p{i}') for i in range(10) for _ in range(1000 + i)]
    make(names, fs=events)
    for nr in 3, 10, 0:
        finding, = findings('--top', str(nr))
        rows = finding['rows']
        is_equal('rows', [(r['file'], r['process'], r['count'], r['bytes']) for r in rows],
                 [(f'/srv/f{i}', f'p{i} ({i})' if i else '', 1000 + i, (1000 + i) * (i + 1)) for i in reversed(range(10))][:nr or 10])
        is_equal('sums', [finding[k] for k in ('count', 'of', 'subjects')], [10045, 10045, 10])
    text = run('iotracer', 'findings', '--top', '3', 't').stdout
    assert '7 more: see --top' in text and 'small-reads (fs): 10 files' in text, text
    # of two processes
    make(fs=[fs('READ', i, size=10, pid=i % 2 + 1) for i in range(2000)])
    finding, = findings()
    is_equal('processes', finding['rows'][0]['process'], 'fio (1) and others')
    # a file is known by its number, whatever path it has
    make(fs=[fs('READ', i, size=10, inode=5, path=i % 2 + 1) for i in range(1999)])
    finding, = findings()
    is_equal('one file', [(r['file'], r['count']) for r in finding['rows']], [('/srv/a.db', 1999)])
    is_equal('--rule', findings('--rule', 'small-writes,many-opens'), [])
    is_equal('--rule', [f['id'] for f in findings('--rule', 'many-opens', '--rule', 'small-reads')], ['small-reads'])
    is_equal('selected', findings('--filter', 'path=/srv/b.db'), [])
    is_equal('selected', findings('--from', '+2'), [])


def order():
    """The most severe first, of these what took most time, whatever category it is of."""
    reads = pages('READ', 1000, 10, latency=2000, inode=1)
    writes = pages('WRITE', 1000, 10, latency=1000, inode=2)
    flushes = [request(2, i, MS, size=0, time=3 * S + i * MS) for i in range(10)]
    for block, order_of in (flushes, ['slow-flush', 'small-reads', 'small-writes']), (
            flushes + requests(1, 1, result=-EIO), ['io-errors', 'slow-flush', 'small-reads', 'small-writes']):
        make(fs=reads + writes, block=block)
        is_equal('order', [f['id'] for f in findings()], order_of)
    make(fs=[{**e, 'latency': 3000} if e['op'] == 1 else e for e in reads + writes], block=flushes)
    is_equal('order', [f['id'] for f in findings()], ['slow-flush', 'small-writes', 'small-reads'])


def missing():
    events = in_order([fs('FSYNC', 0)] * 200)
    make(fs=events)
    is_equal('whole', list(found()), ['fsync-idle'])
    is_equal('selected', findings('--filter', 'op=fsync'), [])
    # 199 fsyncs are a hundred times as many as one event, not as two
    change('t', missed=2)
    is_equal('missed', found(), {})
    change('t', missed=1)
    is_equal('missed', list(found()), ['fsync-idle'])
    make(fs=[*events[:-1], {**events[-1], 'cpu': 1, 'gap': 2}])
    is_equal('lost', found(), {})
    text = run('iotracer', 'findings', 't').stdout
    assert 'lost 2: events overwritten or dropped before they were read' in text, text


def many():
    """One busy file among more files than are kept; it comes before, among and after them."""
    busy = [fs('READ', i * 70, size=10, inode=1) for i in range(1200)]
    others = [fs('READ', i, size=10, inode=2 + i, path=0) for i in range(80000)]
    make(fs=busy + others)
    document = json.loads(run('iotracer', 'findings', '-f', 'json', 't').stdout)
    is_equal('finding', [(f['id'], f['count'], f['subjects']) for f in document['findings']], [('small-reads', 1200, 1)])
    assert 0 < document['dropped'] <= 80000, document['dropped']


def sampled():
    make(fs=[fs('READ', i, size=10, sample=10) for i in range(100)])
    is_equal('scaled', [found()['small-reads'][k] for k in ('count', 'bytes', 'time_ns')], [1000, 10000, 1000000])
    assert 'scaled: 100 records are counted as 1000 events' in run('iotracer', 'findings', 't').stdout
    # what was between them is not known
    make(fs=[{**e, 'sample': 10} for e in in_order([fs('FSYNC', 0)] * 200)])
    is_equal('idle', found(), {})


def hostile():
    """Random bits in each field: no crash, no negative numbers, and whatever JSON is."""
    rng = random.Random(2)

    def any_bits(size):
        return rng.choice((0, 1, rng.getrandbits(size), (1 << size) - 1, 1 << (size - 1)))
    fields = {'fs': {'offset': 64, 'requested': 64, 'result': 63, 'inode': 64, 'inode2': 64, 'path': 64, 'path2': 64, 'flags': 32,
                     'op': 6, 'kind': 16, 'sample': 32, 'device': 32},
              'block': {'queue_latency': 64, 'device_latency': 64, 'sector': 64, 'requested': 64, 'depth': 32, 'op': 16,
                        'flags': 32, 'sample': 32, 'origin_pid': 32, 'path': 64},
              'cache': {'pages': 32, 'file_pages': 64, 'op': 4, 'path': 64, 'inode': 64, 'sample': 32, 'flags': 32},
              'net': {'cookie': 64, 'moved': 64, 'type': 16, 'protocol': 16, 'op': 16, 'family': 16, 'sample': 32},
              'drop': {'op': 2, 'protocol': 8, 'sample': 32, 'trigger': 8, 'size': 32},
              'epoll': {'op': 16, 'timeout': 63, 'result': 63, 'sample': 32},
              'uring': {'op': 16, 'to_submit': 32, 'min_complete': 32, 'result': 63, 'opcode': 16, 'sample': 32}}
    make(**{category: [{'time': 2 * S + any_bits(40), 'latency': any_bits(40), 'pid': any_bits(32),
                        **{name: any_bits(size) for name, size in sizes.items()}} for _ in range(3000)]
            for category, sizes in fields.items()})
    for finding in findings('--top', '0'):
        assert finding['subjects'] == len(finding['rows']), finding
    run('iotracer', 'findings', '--top', '0', 't')


def width():
    long = ['/' + 'directory/' * 30 + 'x.db', '/' + 'ü' * 100, '/' + 'x' * 75, '/' + 'x' * 76, '/x\\033[31m']
    events = [fs('READ', j, size=10, path=1 + i, comm='\\033[2J\\040a\\040long\\040name'[:30], pid=2**31 + i, latency=10**13 + i)
              for i in range(5) for j in range(1000)]
    make(long, fs=events, block=requests(1, 3, result=-EIO, disk='sda\\033[31m'))
    text = run('iotracer', 'findings', 't').stdout
    assert max(map(len, text.splitlines())) <= 80, max(text.splitlines(), key=len)
    assert '\033' not in text and 'sda\\033[31m' in text and '    ...' in text, text
    assert '\033' not in run('iotracer', 'findings', '-f', 'json', 't').stdout
    for line in run('iotracer', 'findings', '--list').stdout.splitlines():
        assert len(line) <= 160, line


def mistakes():
    make(fs=[fs('READ', 0)])

    def one_line(status, part, *options):
        done = run('iotracer', 'findings', *options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information.'))]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which trace')
    one_line(2, '--list is about no trace', '--list', 't')
    one_line(1, 'none', 'none')
    one_line(2, 'there is no rule "small-read"; the nearest is small-reads', '--rule', 'small-read', 't')
    one_line(2, '--format=csv', '--format', 'csv', 't')
    one_line(1, 'has no category block', '-c', 'block', 't')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
