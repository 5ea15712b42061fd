# SPDX-License-Identifier: GPL-2.0
"""What path.bats runs: iotracer path of traces whose events are known (slowest.py makes them)."""
import csv
import io
import json
import sys

from join import REALTIME, S, US, is_equal, run
import slowest
from slowest import CACHE, JOURNAL, SYNC, T, call, few, make, page, request
from stats import change

CACHE.update(WRITEBACK_START=3, WRITEBACK_END=4)
DIRECT = 3
KERNEL = {'tid': 99, 'pid': 99, 'comm': 'kworker', 'origin_pid': 7, 'origin_comm': 'p7'}


def path(*options, status=0):
    return run('iotracer', 'path', *options, status=status)


def rows(*options):
    text = path('-f', 'csv', *options).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def steps(*options):
    """(level, op, relation, since, took) in microseconds of each step."""
    return [(row['level'], row['op'], row['relation'], int(row['since_ns']) // US, int(row['took_ns']) // US)
            for row in rows(*options)]


def meanwhile(*options):
    document = json.loads(path('-f', 'json', *options).stdout)
    return [(n['disk'], n['pid'], n['requests'], n['bytes'], n['overlap_ns'] // US) for n in document['meanwhile']]


def both(block):
    """A merged trace of two machines, with one call each, the first one's longer."""
    for name, host, tid, end in ('one', 'alpha', 8, 30), ('two', 'beta', 9, 50):
        categories = {'block': [request('READ', 10, end, tid=tid)]} if block else {}
        make(name, fs=[call('READ', 0, 200 - tid)], **categories)
        change(name, host=host)
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')


# --- the tests ----------------------------------------------------------------------

def by_hand():
    few()
    is_equal('text', path('--event', 'fs:0:1', 't').stdout.splitlines(), [
        'READ of 8.00KiB at 0 took 1.00ms',
        '  +9.000000000s  fs:0:1  p7/7',
        '  /srv/db',
        '',
        '      AT   TOOK  QUEUE DEVICE  WHAT',
        ' -50.0us  100us 20.0us 80.0us      READ 4.00KiB at 4096, data, block:0:0, p99/99',
        '    +0ns 1.00ms                READ 8.00KiB at 0, fs:0:1',
        ' +60.0us                         MISS, 1 page',
        '  +100us  300us  100us  200us      READ 4.00KiB at 0, own, block:0:1',
        '  +300us  300us  200us  100us      READ 4.00KiB at 0, own, block:0:2',
        '  +650us 50.0us                  HIT, 4 pages',
        '',
        'device     350us   35.00 %',
        'queue      200us   20.00 %',
        'cache      140us   14.00 %',
        'other      310us   31.00 %',
        '',
        'Meanwhile the disk had no other requests.'])
    first = rows('--event', '1', 't')[0]
    is_equal('CSV', first, {
        'since_ns': '-50000', 'took_ns': '100000', 'queue_ns': '20000', 'device_ns': '80000', 'level': 'request',
        'op': 'READ', 'relation': 'data', 'event': 'block:0:0', 'pid': '99', 'command': 'p99', 'file': '/srv/db',
        'offset_bytes': '4096', 'size_bytes': '4096', 'pages': '', 'lost': '0', 'missed': '0', 'unreadable': '0',
        'sampled': '0'})
    document = json.loads(path('-f', 'json', '--event', '0:1', 't').stdout)
    is_equal('parts', document['parts'], {'device_ns': 350000, 'queue_ns': 200000, 'cache_ns': 140000, 'other_ns': 310000})
    is_equal('steps', [{k: '' if v is None else str(v) for k, v in step.items()} for step in document['steps']],
             [{k: v for k, v in row.items() if k not in ('lost', 'missed', 'unreadable', 'sampled')}
              for row in rows('--event', 'fs:1', 't')])
    is_equal('event', (document['event']['event'], document['event']['time_ns']), ('fs:0:1', REALTIME + T - S))
    is_equal('fault', steps('-c', 'fault', '--event', '0', 't'), [('call', 'READ', 'subject', 0, 300)])


def writeback():
    """The first writeback of its pages, and the first requests that write its bytes."""
    make(fs=[call('WRITE', 0, 10, requested=8192, result=8192)],
         cache=[page('DIRTY', 5, pages=2), page('WRITEBACK_END', 20, tid=99), page('WRITEBACK_START', 900, tid=99, index=2),
                page('WRITEBACK_START', 1000, tid=99), page('WRITEBACK_START', 1010, tid=99, index=1),
                page('WRITEBACK_END', 1200, tid=99), page('WRITEBACK_START', 2000, tid=99),
                page('WRITEBACK_END', 2200, tid=99), page('DIRTY', 11), page('DIRTY', 6, tid=8)],
         block=[request('WRITE', -50, 100, **KERNEL), request('WRITE', 500, 600, offset=8192, **KERNEL),
                request('WRITE', 700, 800, **KERNEL, **{'class': DIRECT}), request('READ', 700, 810, tid=99),
                request('WRITE', 1000, 1200, **KERNEL), request('WRITE', 1300, 1400, offset=4095, requested=4097, **KERNEL),
                request('WRITE', 2000, 2200, requested=8192, **KERNEL)])
    is_equal('steps', steps('--event', '0', 't'), [
        ('call', 'WRITE', 'subject', 0, 10), ('pages', 'DIRTY', '', 5, 0), ('pages', 'WRITEBACK_START', '', 1000, 10),
        ('request', 'WRITE', 'later', 1000, 200), ('pages', 'WRITEBACK_END', '', 1200, 0),
        ('request', 'WRITE', 'later', 1300, 100)])
    is_equal('pages', [row['pages'] for row in rows('--event', '0', 't') if row['pages']], ['2', '2', '1'])


def up():
    """Two writes to its bytes and two elsewhere; a sync that waits, one that is over before, a read of the data."""
    make(fs=[call('WRITE', 0, 10, requested=4096), call('WRITE', 100, 110, requested=4096), call('WRITE', 600, 610, requested=4096),
             call('WRITE', 200, 210, requested=4096, offset=4096), call('FSYNC', 400, 1100, tid=8),
             call('FSYNC', 400, 900, tid=9), call('READ', 400, 1200, tid=9, requested=10)],
         block=[request('WRITE', 500, 1000, queue=100, **KERNEL),
                request('WRITE', 5000, 5100, inode=0, path=0, tid=30, **{'class': JOURNAL}),
                request('WRITE', 6000, 6100, **{'class': DIRECT})],
         fault=[{'op': 0, 'time': T + 490 * US, 'latency': 600 * US, 'tid': 10, 'pid': 10, 'inode': 5, 'device': 0x800001}])
    is_equal('steps', steps('-c', 'block', '--event', '0', 't'), [
        ('call', 'WRITE', 'writer', -400, 10), ('call', 'FSYNC', 'data', -100, 700), ('request', 'WRITE', 'subject', 0, 500)])
    is_equal('journal', steps('--event', 'block:0:1', 't'), [('request', 'WRITE', 'subject', 0, 100)])
    is_equal('direct', steps('--event', 'block:0:2', 't'), [('request', 'WRITE', 'subject', 0, 100)])
    # a write that waits for its own data is there once
    make('sync', fs=[call('WRITE', 0, 100, requested=4096, flags=SYNC)], block=[request('WRITE', 10, 90)])
    is_equal('sync', steps('--event', 'block:0', 'sync'), [
        ('call', 'WRITE', 'own', -10, 100), ('request', 'WRITE', 'subject', 0, 80)])
    make('read', block=[request('READ', 0, 100)], fault=[
        {'op': 0, 'time': T - 5 * US, 'latency': 200 * US, 'tid': 9, 'inode': 5, 'device': 0x800001, 'offset': 4095}])
    is_equal('fault', steps('--event', 'block:0', 'read'), [
        ('call', 'READ', 'data', -5, 200), ('request', 'READ', 'subject', 0, 100)])


def meanwhile_():
    make(fs=[call('READ', 0, 100, requested=4096), call('OPEN', 0, 100, tid=8)],
         block=[request('READ', 10, 50), request('READ', -50, 20, tid=20), request('READ', 90, 200, tid=20),
                request('READ', -50, 200, tid=21, origin_pid=22, origin_comm='db'), request('READ', -50, 0, tid=23),
                request('READ', 100, 200, tid=23), request('READ', 0, 100, tid=24, disk='sdb', inode=9)])
    # the first request of thread 20 has data that the read waits for
    is_equal('read', meanwhile('--event', 'fs:0:0', 't'), [('sda', 22, 1, 4096, 100), ('sda', 20, 1, 4096, 10)])
    is_equal('open', meanwhile('--event', 'fs:0:1', 't'), [
        ('sda', 22, 1, 4096, 100), ('sdb', 24, 1, 4096, 100), ('sda', 7, 1, 4096, 40), ('sda', 20, 2, 8192, 30)])
    is_equal('request', meanwhile('--event', 'block:0:1', 't'), [('sda', 22, 1, 4096, 70), ('sda', 23, 1, 4096, 50), ('sda', 7, 1, 4096, 10)])
    is_equal('request', meanwhile('--event', 'block:0:2', 't'), [('sda', 22, 1, 4096, 40), ('sda', 20, 1, 4096, 10)])
    is_equal('text', path('--event', 'fs:0:0', 't').stdout.splitlines()[-4:], [
        'Meanwhile the disk also had requests of:', '   COUNT   BYTES    TIME  DISK FOR',
        '       1 4.00KiB   100us  sda db/22', '       1 4.00KiB  10.0us  sda p20/20'])
    both(block=True)
    names = [row['event'] for row in slowest.rows('both')]
    is_equal('merged', [meanwhile('--event', name, 'both') for name in names],
             [[('sda', 8, 1, 4096, 20)], [('sda', 9, 1, 4096, 40)]])


def found():
    paths = '/srv/db', '/srv/a\\040b'
    make('t', paths, fs=[call('READ', 0, 10, requested=100), call('READ', 20, 50, requested=100, offset=100),
                         call('READ', 60, 80, requested=100, offset=199), call('READ', 90, 99, requested=100, path=2),
                         call('OPEN', 100, 200), call('READ', 300, 301, cpu=1, requested=5)],
         block=[request('READ', 0, 500)])

    def which(*options):
        row, = [row for row in rows(*options, 't') if row['relation'] == 'subject']
        return row['event']
    is_equal('file', which('--file', '/srv/db'), 'fs:0:4')
    for byte, event in (0, 'fs:0:0'), (99, 'fs:0:0'), (100, 'fs:0:1'), (199, 'fs:0:1'), (200, 'fs:0:2'), (298, 'fs:0:2'):
        is_equal(byte, which('--file', '/srv/db', '--offset', str(byte)), event)
    is_equal('block', which('-c', 'block', '--file', '/srv/db'), 'block:0:0')
    is_equal('both', which('-c', 'block,fs', '--file', '/srv/db'), 'block:0:0')
    is_equal('escaped', which('--file', '/srv/a b'), 'fs:0:3')
    is_equal('filtered', which('--file', '/srv/db', '--filter', 'op=READ'), 'fs:0:1')
    is_equal('later', which('--file', '/srv/db', '--from', '+9.00006', '--to', '+9.0001'), 'fs:0:2')
    is_equal('of CPU', which('--event', '1:0'), 'fs:1:0')
    assert '  the slowest of 2\n' in path('--file', '/srv/db', '--offset', '199', 't').stdout
    both(block=False)
    names = [row['event'] for row in slowest.rows('both')]
    done = path('--event', '0', 'both', status=1)
    is_equal('of two', done.stderr, 'iotracer: both: 2 events are number 0 of their CPUs: say which, '
             f'--event={", ".join(reversed(names))}\n')
    for options, part in ((('--event', '0:5'), 'has no such event of category fs'),
                          (('--event', 'fault:0'), 'has no category fault'),
                          (('--file', '/srv/x'), 'has no I/O of /srv/x'),
                          (('--file', '/srv/db', '--offset', '299'), 'has no I/O of byte 299 of /srv/db')):
        done = path(*options, 't', status=1)
        lines = done.stderr.splitlines()
        assert not done.stdout and len(lines) == 1 and part in lines[0], done


def limits():
    requests = [request('READ', i, i + 1, offset=4096 * i) for i in range(150)]
    strangers = [request('READ', 0, 200, tid=1000 + i, inode=6) for i in range(300)]
    make(fs=[call('READ', 0, 200)] + [call('FSYNC', 0, 300, tid=2000 + i) for i in range(30)],
         block=requests + strangers + [request('WRITE', 0, 250, tid=99)])
    document = json.loads(path('-f', 'json', '--event', '0', 't').stdout)
    is_equal('requests', (len(document['steps']), document['more_requests']), (101, 50))
    is_equal('whole', document['parts']['device_ns'], 150 * US)
    is_equal('neighbours', (len(document['meanwhile']), document['meanwhile_others']), (256, 45))
    document = json.loads(path('-f', 'json', '--event', 'block:0:450', 't').stdout)
    is_equal('calls', (len(document['steps']), document['more_calls']), (21, 10))
    text = path('--event', '0', 't').stdout
    assert '\n' + ' ' * 31 + '50 requests more\n' in text and 'others, on any disk\n' in text, text


def hostile():
    most = 2**64 - 1
    make(fs=[{**call('WRITE', 0, 10, requested=most, offset=most, comm='\\033[31m'), 'latency': most},
             call('WRITE', 0, 10, requested=most, tid=8), call('READ', 0, 10, tid=8, requested=5, path=77)],
         block=[{**request('WRITE', 1, 5), 'queue_latency': most, 'device_latency': most, 'requested': most},
                {**request('WRITE', 1, 5, comm='\\033' * 15, disk='\\033' * 31), 'requested': most, 'offset': most, 'tid': 8},
                {**request('WRITE', 2, 3), 'latency': most, 'op': 99}],
         cache=[{**page('HIT', 2, pages=2**32 - 1), 'op': 77}, page('WRITEBACK_START', 3, pages=2**32 - 1, index=most)])
    for event in 'fs:0:0', 'fs:0:1', 'fs:0:2', 'block:0:0', 'block:0:1', 'block:0:2':
        for form in 'text', 'csv', 'json':
            assert '\033' not in path('-f', form, '--event', event, 't').stdout
        lines = path('--event', event, 't').stdout.splitlines()
        assert max(map(len, lines)) <= 80, lines
        parts = json.loads(path('-f', 'json', '--event', event, 't').stdout)['parts']
        assert all(ns >= 0 for ns in parts.values()), parts


def mistakes():
    few()

    def one_line(status, part, *options):
        done = path(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = done.stderr.split('\nTry ')[0].splitlines()
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which I/O', 't')
    one_line(2, 'not both', '--event', '0', '--file', '/srv/db', 't')
    one_line(2, '--offset', '--offset', '5', '--event', '0', 't')
    for event in 'x', 'fs:', 'fs:0:', ':0', '0:', '-1', '0:0:0', 'fs:0:0x', '', '4294967295:0', 'fs:x':
        one_line(2, 'is no event: [CATEGORY:][CPU:]SEQ' if event[:1] != ':' and event != 'x' else '', '--event', event, 't')
    one_line(2, 'the category is none of fs, fault and block', '--event', 'cache:0', 't')
    one_line(2, 'the category is none of fs, fault and block', '-c', 'cache', '--event', '0', 't')
    one_line(2, 'say one category', '-c', 'fs,block', '--event', '0', 't')
    one_line(1, 'has none of the categories fs and fault', '-c', 'cache', '--file', '/srv/db', 't')
    make('lost', fs=[call('READ', 0, 10)], block=[request('READ', 1, 2), request('READ', 3, 4, cpu=1, gap=5)])
    assert 'lost 5: ' in path('--event', '0', 'lost').stdout
    with open('t/block.iot', 'r+b') as f:
        f.truncate(4096 + 100)
    assert 'unreadable 6: ' in path('--event', '0', 't', status=1).stdout


if __name__ == '__main__':
    globals()[sys.argv[1] + ('_' if sys.argv[1] == 'meanwhile' else '')]()
