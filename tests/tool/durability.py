# SPDX-License-Identifier: GPL-2.0
"""
What durability.bats runs: iotracer durability of traces whose events are known. A trace begins at 1 s of the
monotonic clock and lasts 999 s. Times of events are microseconds since 10 s of it.
"""
import csv
import io
import json
import random
import sys

from join import S, US, is_equal, run
from slowest import CACHE, DEVICE, FS, T, make, page, request
from slowest import call as any_call
from stats import change

FS.update({'CREATE': 5, 'SYNC_FILE_RANGE': 13, 'MMAP': 14, 'TRUNCATE': 24, 'UNLINK': 29, 'FALLOCATE': 36,
           'CHOWN': 22, 'COPY_FILE_RANGE': 41, 'CLONE': 42})
CACHE.update({'WRITEBACK_START': 3, 'WRITEBACK_END': 4})
KIND_FILE, KIND_DIR = 1, 2
ASYNC, SYNC, AIO = 1 << 1, 1 << 4, 1 << 14
O_TRUNC, MS_ASYNC, MS_SYNC, MAP_SHARED, PROT_WRITE = 0o1000, 1, 4, 1, 2
PUNCH, COLLAPSE = 2 | 1, 8
PAGE = 4096
END = 1000 * S  # of each trace


def call(op, begin, end, **more):
    return any_call(op, begin, end, **{'kind': KIND_FILE, **more})


def write(begin, end, offset=0, size=PAGE, op='WRITE', **more):
    return call(op, begin, end, offset=offset, requested=size, **{'result': size, **more})


def sync(begin, end, op='FSYNC', **more):
    return call(op, begin, end, **more)


def written_back(begin, end, index=0, pages=1, **more):
    """Events of category cache."""
    return [page('WRITEBACK_START', begin, index=index, pages=pages, **more),
            page('WRITEBACK_END', end, index=index, pages=pages, **more)]


def data(begin, end, **more):
    """A request, which shows where the filesystem is."""
    return request('WRITE', begin, end, **more)


def flush(begin, end, queue=0, **more):
    return request('FLUSH', begin, end, queue=queue, **{'requested': 0, 'result': 0, 'inode': 0, 'path': 0, **more})


def durability(*options, status=0):
    return run('iotracer', 'durability', *options, status=status)


def rows(*options):
    text = durability('-f', 'csv', *options).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def ranges(*options):
    """(offset, size, state, microseconds since the trace's begin from when on writes may be lost)."""
    document = json.loads(durability('--by', 'range', '--top', '0', '-f', 'json', *options).stdout)
    at = document['at_monotonic_ns']
    return sorted((r['offset_bytes'], r['size_bytes'], r['state'],
                   None if r['exposed_ns'] is None else (at - r['exposed_ns'] - T) // US)
                  for f in document['files'] for r in f['ranges'])


def files(*options):
    return {f['file']: f for f in json.loads(durability('-f', 'json', *options).stdout)['files']}


# --- by hand ------------------------------------------------------------------------

def few():
    # the second half of the second write is written anew
    make(paths=['/srv/db', '/srv/log'],
         fs=[write(0, 10), sync(20, 120), write(200, 210, PAGE, 2 * PAGE), write(300, 340, 2 * PAGE),
             sync(350, 400), sync(500, 510), write(600, 610, 100, 50),
             write(0, 5, 0, 1000, inode=6, path=2)],
         block=[], cache=[])


def by_hand():
    few()
    # exposed: 4096 bytes for 110 us, 8192 for 190, 4096 for 60; 50 and 1000 bytes at the end
    last = END - T
    is_equal('ranges', ranges('--file', '/srv/db', 't'),
             [(0, 100, 'durable', None), (100, 50, 'memory', 610), (150, 3 * PAGE - 150, 'durable', None)])
    document = json.loads(durability('-f', 'json', 't').stdout)
    is_equal('sums', (document['at_risk_bytes'], document['removed_bytes'], document['at_monotonic_ns']), (1050, 0, END))
    is_equal('JSON', document['files'][1], {
        'file': '/srv/db', 'host': None, 'inode': 5, 'name': 'old', 'at_risk_bytes': 50, 'memory_bytes': 50,
        'writeback_bytes': 0, 'cache_bytes': 0, 'unproven_bytes': 0, 'unknown_bytes': 0,
        'durable_bytes': 3 * PAGE - 50, 'longest_exposure_ns': last - 610 * US, 'exposure_p50_ns': 110000,
        'exposure_p90_ns': 190000, 'exposure_p99_ns': 190000, 'exposure_p99_9_ns': 190000,
        'exposure_p99_99_ns': 190000, 'writes': 4, 'written_bytes': 4 * PAGE + 50, 'mapped_pages': 0, 'syncs': 3,
        'idle_syncs': 1, 'failed_syncs': 0, 'followed': True, 'ranges': []})
    is_equal('CSV', durability('-f', 'csv', '--file', '/srv/log', 't').stdout.splitlines(), [
        'file,inode,name,offset_bytes,size_bytes,state,exposed_ns,lost,missed,unreadable,sampled',
        f'/srv/log,6,old,0,1000,memory,{last - 5 * US},0,0,0,0'])
    is_equal('CSV by file', [(r['file'], r['at_risk_bytes'], r['syncs']) for r in rows('t')],
             [('/srv/log', '1000', '0'), ('/srv/db', '50', '3')])
    is_equal('text', durability('--file', '/srv/db', 't').stdout.splitlines(), [
        '50B may be lost at +999.000000000s, the end of the trace',
        'memory 50B  writeback 0B  cache 0B  unproven 0B  unknown 0B  durable 12.0KiB',
        '',
        ' AT RISK LONGEST     P50     P99  WRITTEN SYNCS IDLE NAME    FILE',
        '     50B    990s   110us   190us  16.0KiB     3    1 -       /srv/db',
        '',
        '/srv/db',
        '              OFFSET      SIZE  STATE      EXPOSED',
        '                 100       50B  memory        990s',
        '                   0      100B  durable          -',
        '                 150   11.9KiB  durable          -',
        '',
        'only calls prove that data is durable: see --in-place'])


# --- the device ---------------------------------------------------------------------

def device():
    base = [write(0, 10), sync(20, 30), write(100, 110)]
    pages = written_back(200, 300)

    def states(flushes, *options, fs=(), cache=None):
        make(fs=[*base, *fs], block=[data(200, 290), *flushes], cache=pages if cache is None else cache)
        return ranges(*options, 't')
    is_equal('dirty', states([], '--in-place', cache=[]), [(0, PAGE, 'memory', 110)])
    is_equal('on its way', states([], '--in-place', cache=pages[:1]), [(0, PAGE, 'writeback', 110)])
    is_equal('cache', states([], '--in-place'), [(0, PAGE, 'cache', 110)])
    is_equal('no cache', states([], '--in-place', '--write-cache=none'), [(0, PAGE, 'durable', None)])
    # 150 us in the queue: issued at 300 us; a moment before it has another one
    is_equal('flushed', states([flush(150, 400, queue=150)], '--in-place'), [(0, PAGE, 'durable', None)])
    is_equal('exposed', files('--in-place', 't')['/srv/db']['longest_exposure_ns'], 290 * US)
    is_equal('too early', states([flush(150, 400, queue=149)], '--in-place'), [(0, PAGE, 'cache', 110)])
    is_equal('failed', states([flush(310, 400, result=-5)], '--in-place'), [(0, PAGE, 'unknown', None)])
    is_equal('elsewhere', states([flush(310, 400, disk='sdb')], '--in-place'), [(0, PAGE, 'cache', 110)])
    is_equal('no proof', states([flush(310, 400)]), [(0, PAGE, 'unproven', 110)])
    # the filesystem has two disks
    is_equal('several', states([data(200, 290, disk='sdb'), flush(310, 400)], '--in-place'), [(0, PAGE, 'cache', 110)])
    # bytes beyond those that were durable, also of the same write
    is_equal('new', states([flush(310, 400)], '--in-place', fs=[write(120, 130, 0, 2 * PAGE)],
                           cache=written_back(200, 300, pages=2)),
             [(0, PAGE, 'durable', None), (PAGE, PAGE, 'unproven', 130)])
    # the page became dirty anew meanwhile: the first version is durable, the second is in memory
    is_equal('anew', states([flush(310, 400)], '--in-place', fs=[write(250, 260)]), [(0, PAGE, 'memory', 260)])
    is_equal('both', states([], '--in-place', fs=[write(250, 260)]), [(0, PAGE, 'memory', 110)])
    # sync_file_range is no flush
    is_equal('range', states([], '--in-place', fs=[sync(190, 310, 'SYNC_FILE_RANGE', requested=PAGE)]),
             [(0, PAGE, 'cache', 110)])
    make(fs=base)
    is_equal('fs alone', ranges('--in-place', 't'), [(0, PAGE, 'memory', 110)])
    text = durability('t').stdout
    assert 'no category block: ' in text and 'no category cache: ' in text, text


def direct():
    base = [write(0, 10), sync(20, 30)]

    def states(*calls, flushes=()):
        make(fs=[*base, *calls], block=[data(100, 190), *flushes], cache=[])
        return ranges('--in-place', 't')
    dio = write(100, 200, op='DIO_WRITE')
    is_equal('cache', states(dio), [(0, PAGE, 'cache', 200)])
    is_equal('flushed', states(dio, flushes=[flush(200, 300)]), [(0, PAGE, 'durable', None)])
    is_equal('too early', states(dio, flushes=[flush(199, 300)]), [(0, PAGE, 'cache', 200)])
    is_equal('part', states({**dio, 'result': 512}), [(0, 512, 'cache', 200), (512, PAGE - 512, 'durable', None)])
    # a buffered write that ended while the direct one ran is not part of it
    is_equal('beside', states(write(90, 110), dio, flushes=[flush(200, 300)]), [(0, PAGE, 'memory', 110)])
    is_equal('before', states(write(90, 100), dio, flushes=[flush(200, 300)]), [(0, PAGE, 'durable', None)])
    # fsync does not wait for it
    is_equal('async', states({**dio, 'flags': ASYNC | AIO}, sync(300, 400)), [(0, PAGE, 'unknown', None)])
    is_equal('anew', states({**dio, 'flags': ASYNC}, write(300, 310), sync(320, 400)), [(0, PAGE, 'durable', None)])
    is_equal('O_SYNC', states({**dio, 'flags': SYNC}, write(210, 220, PAGE, flags=SYNC)), [(0, 2 * PAGE, 'durable', None)])
    is_equal('its own range', states(write(40, 50, 0, 2 * PAGE), write(60, 70, PAGE, flags=SYNC)),
             [(0, PAGE, 'memory', 50), (PAGE, PAGE, 'durable', None)])
    is_equal('failed', states(write(40, 50), write(60, 70, 2 * PAGE, flags=SYNC, result=-5)), [(0, PAGE, 'unknown', None)])
    is_equal('refused', states(write(40, 50), write(60, 70, result=-28)), [(0, PAGE, 'memory', 50)])


# --- syncs --------------------------------------------------------------------------

def syncs():
    base = [write(0, 10), write(0, 20, 2 * PAGE)]
    done, lost = [(0, PAGE, 'durable', None), (2 * PAGE, PAGE, 'durable', None)], [(0, PAGE, 'memory', 10), (2 * PAGE, PAGE, 'memory', 20)]
    unknown = [(0, PAGE, 'unknown', None), (2 * PAGE, PAGE, 'unknown', None)]

    def states(*calls, block=None):
        make(fs=[*base, *calls], **({} if block is None else {'block': block}))
        return ranges('t')
    is_equal('none', states(), lost)
    for op in 'FSYNC', 'FDATASYNC', 'SYNCFS':
        is_equal(op, states(sync(20, 30, op)), done)
    is_equal('begins too early', states(sync(19, 30)), [(0, PAGE, 'durable', None), (2 * PAGE, PAGE, 'memory', 20)])
    is_equal('another file', states(sync(20, 30, inode=6)), lost)
    is_equal('another device', states(sync(20, 30, 'SYNCFS', device=DEVICE + 1)), lost)
    # sync(2) does not tell of failures, so the requests must be there
    is_equal('sync', states(sync(20, 30, 'SYNC', inode=0, device=0), block=[data(20, 29)]), done)
    is_equal('sync alone', states(sync(20, 30, 'SYNC', inode=0, device=0)), lost)
    is_equal('msync', states(sync(20, 30, 'MSYNC', offset=0, requested=PAGE, flags=MS_SYNC)), [done[0], lost[1]])
    is_equal('MS_ASYNC', states(sync(20, 30, 'MSYNC', offset=0, requested=PAGE, flags=MS_ASYNC)), lost)
    # what failed once is not repaired by the next sync, but by another write
    is_equal('failed', states(sync(20, 30, result=-5), sync(40, 50)), unknown)
    is_equal('not tried', states(sync(20, 30, result=-9)), lost)
    is_equal('again', states(sync(20, 30, result=-5), write(35, 36), sync(40, 50)), [done[0], unknown[1]])
    is_equal('request', states(sync(40, 50), block=[data(20, 30, result=-5)]), unknown)
    is_equal('later request', states(sync(40, 50), block=[data(50, 60, result=-5)]), done)
    # syncs that have nothing to do: not the first, nor behind a change
    make(fs=[sync(0, 1), sync(2, 3), call('CHOWN', 4, 5), sync(6, 7), call('READ', 8, 9), sync(10, 11)])
    found = files('t')['/srv/db']
    is_equal('idle', (found['syncs'], found['idle_syncs']), (4, 2))


def truncated():
    base = [write(0, 10, 0, 4 * PAGE), sync(20, 30), write(40, 50, 0, 4 * PAGE)]

    def states(*calls, block=(), cache=(), options=()):
        make(fs=[*base, *calls], block=list(block), cache=list(cache))
        return ranges(*options, 't')
    is_equal('truncate', states(call('TRUNCATE', 60, 70, requested=PAGE)), [(0, PAGE, 'memory', 50)])
    is_equal('refused', states(call('TRUNCATE', 60, 70, requested=PAGE, result=-1)), [(0, 4 * PAGE, 'memory', 50)])
    is_equal('O_TRUNC', states(call('OPEN', 60, 70, result=3, flags=O_TRUNC)), [])
    is_equal('hole', states(call('FALLOCATE', 60, 70, offset=PAGE, requested=PAGE, flags=PUNCH)),
             [(0, PAGE, 'memory', 50), (2 * PAGE, 2 * PAGE, 'memory', 50)])
    is_equal('space', states(call('FALLOCATE', 60, 70, offset=PAGE, requested=PAGE)), [(0, 4 * PAGE, 'memory', 50)])
    is_equal('collapse', states(call('FALLOCATE', 60, 70, offset=PAGE, requested=PAGE, flags=COLLAPSE), sync(80, 90)),
             [(0, PAGE, 'durable', None), (PAGE, 4 * PAGE, 'unknown', None)])
    # where a hole was, a flush proves nothing
    again = [call('FALLOCATE', 60, 70, offset=0, requested=PAGE, flags=PUNCH), write(80, 90)]
    is_equal('in the hole', states(*again, block=[data(100, 110), flush(120, 130)], cache=written_back(95, 115, pages=4),
                                   options=['--in-place']),
             [(0, PAGE, 'unproven', 90), (PAGE, 3 * PAGE, 'durable', None)])
    # nor if blocks may be shared
    is_equal('clone', states(call('CLONE', 60, 70, inode2=9, device2=DEVICE, requested=PAGE), block=[data(100, 110), flush(120, 130)],
                             cache=written_back(95, 115, pages=4), options=['--in-place']), [(0, 4 * PAGE, 'unproven', 50)])
    make(fs=[call('COPY_FILE_RANGE', 0, 10, inode=9, path=0, inode2=5, device2=DEVICE, path2=1, result=700)])
    is_equal('copied', files('t')['/srv/db']['unknown_bytes'], 700)
    make(fs=[call('COPY_FILE_RANGE', 0, 10, inode=9, path=0, inode2=5, device2=DEVICE, path2=1, result=700), sync(10, 20)])
    is_equal('copied and synced', files('t')['/srv/db']['unknown_bytes'], 0)
    # the inode's next file is another one
    make(paths=['/srv/db', '/srv/new'],
         fs=[write(0, 10), call('UNLINK', 20, 30), call('CREATE', 40, 50, result=3, path=2), write(60, 70, 0, 5, path=2),
             sync(80, 90, path=2)])
    found = files('t')
    is_equal('again', [(found[p]['name'], found[p]['at_risk_bytes'], found[p]['durable_bytes']) for p in ('/srv/db', '/srv/new')],
             [('removed', PAGE, 0), ('old', 0, 5)])
    document = json.loads(durability('-f', 'json', 't').stdout)
    is_equal('sums', (document['at_risk_bytes'], document['removed_bytes']), (0, PAGE))


def names():
    paths = ['/srv/db', '/srv/new', '/srv', '/srv/sub']

    def name(*calls):
        make(paths=paths, fs=[write(100, 110), *calls])
        return {f['inode']: f['name'] for f in files('t').values()}[5]
    created = call('CREATE', 0, 10, result=3)
    directory = {'inode': 4, 'path': 3, 'kind': KIND_DIR}
    renamed = call('RENAME', 200, 210, path2=2)
    is_equal('old', name(), 'old')
    is_equal('created', name(created), 'new')
    for op in 'FSYNC', 'FDATASYNC', 'SYNCFS':
        is_equal(op, name(created, sync(120, 130, op)), 'old')
    is_equal('early', name(created, sync(9, 130)), 'new')
    is_equal('directory', name(created, sync(120, 130, **directory)), 'old')
    is_equal('directory before', name(created, sync(9, 130, **directory)), 'new')
    is_equal('another directory', name(created, sync(120, 130, **{**directory, 'path': 4})), 'new')
    is_equal('renamed', name(renamed), 'moved')
    is_equal('renamed as new', name(created, renamed), 'new')
    is_equal('fdatasync', name(renamed, sync(220, 230, 'FDATASYNC')), 'moved')
    is_equal('fsync', name(renamed, sync(220, 230)), 'old')
    is_equal('replaced', name(call('RENAME', 200, 210, inode=6, path=2, path2=1, inode2=5, device2=DEVICE)), 'removed')
    is_equal('refused', name(call('RENAME', 200, 210, path2=2, result=-2)), 'old')


def mapped():
    opened = call('MMAP', 0, 10, flags=MAP_SHARED, flags2=PROT_WRITE, result=4096)
    dirty = page('DIRTY', 100, index=3, pages=2)

    def states(*calls, cache=(dirty,), options=()):
        make(fs=[*calls], block=[], cache=list(cache))
        return ranges(*options, 't')
    is_equal('stored', states(opened), [(3 * PAGE, 2 * PAGE, 'memory', 100)])
    is_equal('private', states({**opened, 'flags': 2}, write(0, 1, 0, 1)), [(0, 1, 'memory', 1)])
    is_equal('msync', states(opened, sync(100, 120, 'MSYNC', offset=3 * PAGE, requested=PAGE, flags=MS_SYNC)),
             [(3 * PAGE, PAGE, 'durable', None), (4 * PAGE, PAGE, 'memory', 100)])
    is_equal('fsync', states(opened, sync(100, 120)), [(3 * PAGE, 2 * PAGE, 'durable', None)])
    is_equal('stored anew', states(opened, sync(100, 120), cache=(dirty, page('DIRTY', 110, index=3))),
             [(3 * PAGE, PAGE, 'memory', 110), (4 * PAGE, PAGE, 'durable', None)])
    make(fs=[opened, write(20, 30)])
    assert '1 files are mapped: ' in durability('t').stdout


# --- at random ----------------------------------------------------------------------

def history(rng, nr, often):
    """Events of a file of two pages, one after the other or at the same time."""
    events = {'fs': [], 'block': [data(0, 1)], 'cache': []}
    now, way = 10, [None, None]
    for _ in range(nr):
        now += rng.randrange(1, 30)
        took = rng.randrange(1, 60)
        offset = rng.randrange(2 * PAGE - 1)
        size = rng.randrange(1, 2 * PAGE - offset)
        index = rng.randrange(2)
        what = rng.choices(range(6), often)[0]
        if what == 0:
            events['fs'].append(write(now, now + took, offset, size))
        elif what == 1:
            events['fs'].append(write(now, now + took, offset, size, 'DIO_WRITE'))
        elif what == 2:
            events['fs'].append(sync(now, now + took))
        elif what == 3 and not way[index]:
            events['cache'].append(page('WRITEBACK_START', now, index=index))
            way[index] = now
        elif what == 4 and way[index]:
            events['cache'].append(page('WRITEBACK_END', now, index=index))
            way[index] = None
        elif what == 5:
            events['block'].append(flush(now, now + took, queue=rng.randrange(took)))
    return events


def end_of(event):
    return event['time'] + event['latency']


def when_durable(at, flushes, call_ends):
    """The first time at which a flush, or a call, made a version durable; None: never."""
    by_flush = [end_of(f) for f in flushes if at is not None and end_of(f) - f['device_latency'] >= at]
    return min([*by_flush, *call_ends], default=None)


def expected_of(byte, events, in_place):
    """(state, since) of a byte, by its history; None: it was not written."""
    writes = sorted((e for e in events['fs'] if e['op'] in (FS['WRITE'], FS['DIO_WRITE']) and
                     e['offset'] <= byte < e['offset'] + e['result']), key=end_of)
    calls = [e for e in events['fs'] if e['op'] == FS['FSYNC']]
    flushes = [e for e in events['block'] if e['op'] == 2]
    pages = [e for e in events['cache'] if e.get('index', 0) == byte // PAGE]
    if not writes:
        return None, 0
    versions, synced = [], any(s['time'] >= end_of(writes[0]) for s in calls)
    for w in writes:
        ack = end_of(w)
        start = min((p['time'] for p in pages if p['op'] == CACHE['WRITEBACK_START'] and p['time'] >= ack), default=None)
        at = ack if w['op'] == FS['DIO_WRITE'] else min(
            (p['time'] for p in pages if start is not None and p['op'] == CACHE['WRITEBACK_END'] and p['time'] >= start), default=None)
        by_call = [end_of(s) for s in calls if s['time'] >= ack]
        durable = when_durable(at if in_place and synced else None, flushes, by_call)
        versions.append((ack, w['time'], durable, at, start, w))
    lost = [v for v in versions if v[2] is None and
            not any(w[2] is not None and w[0] >= v[0] and v[0] <= w[1] for w in versions)]
    exact = len(versions) <= 3  # of more, some are not told apart
    return ('durable', None) if not lost else ('exposed', min(v[0] for v in lost)), exact


def counted():
    for seed in range(40):
        rng = random.Random(seed)
        events = history(rng, rng.choice((10, 40, 120)), rng.choice(([4, 1, 1, 4, 4, 3], [3, 2, 3, 3, 3, 3], [8, 4, 1, 6, 6, 4])))
        make(**events)
        for in_place in False, True:
            found = ranges(*(['--in-place'] if in_place else []), 't')
            for byte in sorted({0, 1, PAGE - 1, PAGE, 2 * PAGE - 2, *rng.sample(range(2 * PAGE), 60)}):
                own = [(state, since) for offset, size, state, since in found if offset <= byte < offset + size]
                expected, exact = expected_of(byte, events, in_place)
                is_equal(f'seed {seed}, byte {byte}: ranges', len(own), 1 if expected else 0)
                if not expected:
                    continue
                state, since = own[0]
                if state == 'durable':
                    is_equal(f'seed {seed}, byte {byte}', expected[0], 'durable')
                elif expected[0] == 'exposed':
                    assert T + since * US <= expected[1], (seed, byte, since, expected)
                if exact:
                    is_equal(f'seed {seed}, byte {byte}, exact',
                             ('durable', None) if state == 'durable' else ('exposed', T + since * US), expected)


# --- the rest -----------------------------------------------------------------------

def selected():
    few()
    text = durability('--at', '+9.000300', 't').stdout
    assert text.startswith('8.98KiB may be lost at +9.000300000s\n'), text
    is_equal('before', ranges('--at', '+9.000399', '--file', '/srv/db', 't'),
             [(0, PAGE, 'durable', None), (PAGE, PAGE, 'memory', 210), (2 * PAGE, PAGE, 'memory', 210)])
    is_equal('at', ranges('--at', '+9.000400', '--file', '/srv/db', 't'), [(0, 3 * PAGE, 'durable', None)])
    is_equal('a time of day', ranges('--at', '2017-07-14T02:40:09.000400', '--file', '/srv/db', 't'), [(0, 3 * PAGE, 'durable', None)])
    is_equal('filter', [r['file'] for r in rows('--filter', 'path=/srv/log', 't') if int(r['writes'])], ['/srv/log'])
    is_equal('top', len(rows('--top', '1', 't')), 1)
    assert '1 files more' in durability('--top', '1', 't').stdout
    is_equal('the sum stays', durability('--top', '1', 't').stdout.splitlines()[0], durability('t').stdout.splitlines()[0])


def missing():
    def states(**more):
        make(fs=[write(0, 10), sync(20, 30), write(40, 50, PAGE)], **more)
    states()
    is_equal('all there', ranges('t'), [(0, PAGE, 'durable', None), (PAGE, PAGE, 'memory', 50)])
    make(fs=[write(0, 10), sync(20, 30), write(40, 50, PAGE, cpu=1, gap=5)])
    is_equal('lost', ranges('t'), [(0, PAGE, 'unknown', None), (PAGE, PAGE, 'memory', 50)])
    text = durability('t').stdout
    assert 'lost 5: ' in text and 'nothing is called durable' in text and 'durable 0B' in text, text
    # also of another category that is read
    states(cache=[page('DIRTY', 0), page('DIRTY', 1, cpu=1, gap=1)])
    is_equal('cache', ranges('t')[0][2], 'unknown')
    is_equal('not read', ranges('-c', 'fs', 't')[0][2], 'durable')
    make(fs=[write(0, 10), sync(20, 30, sample=2)])
    is_equal('sampled', ranges('t'), [(0, PAGE, 'unknown', None)])


def hostile():
    most = 2**64 - 1
    odd = [write(0, 10, most, 5), write(0, 11, 2**63 - 2, 100), {**write(0, 12), 'result': 2**63 - 1},
           {**write(20, 30), 'latency': most}, {**write(20, 30, 2**62, 7), 'result': -2**63},
           call('TRUNCATE', 40, 50, requested=most), call('FALLOCATE', 40, 50, offset=most, requested=most, flags=PUNCH),
           call('FALLOCATE', 40, 50, offset=0, requested=most, flags=COLLAPSE), call('MSYNC', 40, 50, offset=most, requested=most, flags=MS_SYNC),
           {**write(60, 70), 'op': 60000}, write(60, 70, 0, most, flags=ASYNC, result=0), sync(80, 90)]
    make(paths=['/srv/\\033[31m\\075cmd()'], fs=odd, block=[flush(0, 1), {**flush(0, 1), 'latency': most, 'device_latency': most}],
         cache=[page('DIRTY', 5, index=most, pages=2**32 - 1), page('WRITEBACK_START', 6, index=0, pages=2**32 - 1),
                page('WRITEBACK_END', 7, index=most // PAGE, pages=1), {**page('DIRTY', 8), 'op': 999}])
    for form in 'text', 'csv', 'json':
        for options in [], ['--in-place'], ['--at', '+0'], ['--at', '+9000000000']:
            text = durability('--by', 'range', '-f', form, *options, 't').stdout
            assert '\033' not in text, text
            assert form != 'text' or max(map(len, text.splitlines())) <= 80, text
    for i in range(3):
        make('t', fs=[write(n, n + 1, 2 * n * (i + 1), 1, inode=1 + n % 7) for n in range(3000)])
        is_equal('bytes', sum(int(r['at_risk_bytes']) for r in rows('t')), 3000)
    make('one', fs=[write(0, 10), sync(20, 30)])
    make('two', fs=[write(0, 10, PAGE)])
    change('one', host='alpha')
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    document = json.loads(durability('-f', 'json', 'both').stdout)
    is_equal('merged', sorted((f['host'], f['at_risk_bytes'], f['durable_bytes']) for f in document['files']),
             [('alpha', 0, PAGE), ('beta', PAGE, 0)])


def mistakes():
    few()

    def one_line(status, part, *options):
        done = durability(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = done.stderr.split('\nTry ')[0].splitlines()
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which trace')
    one_line(2, '--at=soon: say a time', '--at', 'soon', 't')
    one_line(2, '--by=process', '--by', 'process', 't')
    one_line(2, '--write-cache=some', '--write-cache', 'some', 't')
    one_line(1, 'has no write or sync of /srv/none', '--file', '/srv/none', 't')
    make('requests', block=[data(0, 1)])
    one_line(1, 'has no category fs: record it with --categories=fs,block,cache', 'requests')
    with open('t/fs.iot', 'r+b') as f:
        f.truncate(4096 + 100)
    assert 'nothing is called durable' in durability('t', status=1).stdout
    durability('--partial', 't')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
