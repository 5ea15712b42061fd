# SPDX-License-Identifier: GPL-2.0
"""
What waits.bats runs: iotracer findings of traces whose causes are known. A trace begins at 1 s of the monotonic
clock and lasts 999 s. Times of events are microseconds since 10 s of it.
"""
import json
import sys

from join import is_equal, run
from slowest import JOURNAL, call, make, request
from stats import change

SEC = 10**6  # microseconds
MIB = 1 << 20
WAL, OTHER = {'inode': 5, 'path': 1}, {'inode': 6, 'path': 2}
PATHS = ('/srv/db/wal', '/srv/db/other')
DEVICE2 = 0x800002
LOCK, PROCESS_EXEC, PROCESS_EXIT = 48, 49, 50


def waits(*options, name='t'):
    return json.loads(run('iotracer', 'findings', '-f', 'json', *options, name).stdout)['waits']


def wait(*options):
    found, = waits(*options)
    return found


def sync(i, length=SEC, **more):
    """The i-th fsync: one each five seconds."""
    return call('FSYNC', i * 5 * SEC, i * 5 * SEC + length, **{'kind': 1, 'comm': 'postgres', **more})


def asked(op, i, begin, end, **more):
    """A request for the i-th fsync."""
    at = i * 5 * SEC
    return request(op, at + begin, at + end, **{'tid': 99, 'comm': 'kworker/0:1', 'origin_pid': 7, 'origin_comm': 'postgres', **more})


def by_dd(i, end, **more):
    return request('WRITE', i * 5 * SEC, i * 5 * SEC + end, tid=733, comm='dd', inode=9, path=0, requested=MIB, result=MIB, **more)


def make_neighbour():
    """The request of each fsync waits for a second, three quarters of which the disk has one of dd."""
    make(paths=PATHS, fs=[sync(i) for i in range(150)],
         block=[e for i in range(150) for e in (by_dd(i, 750000), asked('WRITE', i, 0, SEC, queue=750000))])


def neighbour():
    make_neighbour()
    found = wait()
    # 150 s of 999 s
    is_equal('sentence', found['sentence'],
             'postgres (7) waited 15.0 % of the time in fsync of /srv/db/wal: 150 calls took 1.00s each')
    is_equal('why', found['why'],
             'Its 150 requests to sda took 1.00s each, and 75.0 % of that is due to dd (733), which wrote 150MiB.')
    is_equal('figures', (found['reason'], found['culprit'], found['kind'], found['process'], found['file'], found['disk']),
             ('neighbour', 'dd (733)', 'sync', 'postgres (7)', '/srv/db/wal', 'sda'))
    is_equal('calls', found['calls'], {'count': 150, 'bytes': 0, 'time_ns': 150 * 10**9})
    is_equal('charged', found['charged'], {'count': 150, 'bytes': 150 * MIB, 'time_ns': 150 * 750 * 10**6})
    text = run('iotracer', 'findings', 't').stdout
    assert 'wait neighbour\n  postgres (7) waited 15.0 %' in text, text
    assert max(map(len, text.splitlines())) <= 80, text
    # a rule that is named is all that is looked for
    is_equal('a rule', waits('--rule', 'fsync-storm'), [])
    # half of the wait is most of it, a microsecond less is not
    for length, reason in (500000, 'neighbour'), (499999, 'device'):
        make(paths=PATHS, fs=[sync(i) for i in range(150)],
             block=[e for i in range(150) for e in (by_dd(i, length), asked('WRITE', i, 0, SEC, queue=length))])
        is_equal(length, wait()['reason'], reason)
    # its own requests for another file are no other process
    make(paths=PATHS, fs=[sync(i) for i in range(150)],
         block=[e for i in range(150) for e in (asked('WRITE', i, 0, 900000, inode=6), asked('WRITE', i, 0, SEC, queue=900000))])
    is_equal('itself', (wait()['reason'], wait()['culprit']), ('device', None))
    # another process that reads
    make(paths=PATHS, fs=[sync(i) for i in range(150)],
         block=[e for i in range(150) for e in (request('READ', i * 5 * SEC, i * 5 * SEC + 900000, tid=8, comm='grep', inode=9, path=0),
                                                asked('WRITE', i, 0, SEC, queue=900000))])
    assert wait()['why'].endswith('90.0 % of that is due to grep (8), which read 600KiB.'), wait()


def reasons():
    calls = [sync(i) for i in range(150)]
    # data for 0.2 s, then a flush for 0.6 s
    make(paths=PATHS, fs=calls, block=[e for i in range(150) for e in (
        asked('WRITE', i, 0, 200000), asked('FLUSH', i, 200000, 800000, inode=0, path=0, requested=0))])
    is_equal('flush', (wait()['reason'], wait()['why']), ('flush', 'It waited for the flushes of sda: 150 took 600ms each.'))
    make(paths=PATHS, fs=calls, block=[asked('WRITE', i, 0, 900000) for i in range(150)])
    is_equal('device', (wait()['reason'], wait()['why']),
             ('device', 'It waited for the disk. Its 150 requests to sda took 900ms each.'))
    make(paths=PATHS, fs=calls, block=[asked('WRITE', i, 0, 499999) for i in range(150)])
    is_equal('elsewhere', (wait()['reason'], wait()['why']),
             ('elsewhere', 'Its requests to disks add up to 50.0 % of that: it waited for something else.'))
    make(paths=PATHS, fs=calls)
    is_equal('no category block', wait()['reason'], 'unknown')
    make(paths=PATHS, fs=calls, block=[])
    is_equal('no requests', wait()['reason'], 'elsewhere')
    make(paths=PATHS, fs=calls, block=[asked('WRITE', i, 0, 900000, sample=2) for i in range(150)])
    is_equal('sampled', wait()['reason'], 'unknown')
    reads = [call('READ', i * 200000, i * 200000 + 100000, kind=1, requested=10, result=10) for i in range(1000)]
    make(paths=PATHS, fs=reads)
    is_equal('small', (wait()['reason'], wait()['why']),
             ('small', 'Each moved only 10B, so that the calls themselves cost more than the data.'))
    make(paths=PATHS, fs=[{**e, 'requested': 4096, 'result': 4096} for e in reads])
    is_equal('a page', wait()['reason'], 'unknown')
    # 999 calls that take a tenth of the time
    make(paths=PATHS, fs=[{**e, 'latency': 101 * 10**6} for e in reads[1:]])
    is_equal('few', wait()['reason'], 'unknown')


def rows():
    # a tenth of 999 s, and a nanosecond less
    for latency, nr in (99900 * 10**6, 1), (99900 * 10**6 - 1, 0):
        make(paths=PATHS, fs=[{**sync(0), 'latency': latency}])
        is_equal(latency, len(waits()), nr)
    # of a selected second, a tenth of that: 0.1 s
    for latency, nr in (10**8, 1), (10**8 - 1, 0):
        make(paths=PATHS, fs=[{**sync(0), 'latency': latency}])
        is_equal(latency, len(waits('--from', '+9', '--to', '+10')), nr)
    make(paths=PATHS, fs=[sync(0, 200 * SEC)])
    assert wait()['sentence'].endswith('fsync of /srv/db/wal: 1 call took 200s'), wait()
    # several threads at a time: 20 that wait for 300 s each
    make(paths=PATHS, fs=[sync(i, 300 * SEC, tid=100 + i) for i in range(20)])
    is_equal('processes', (len(waits()), waits()[0]['sentence'].split(' in ')[0]), (5, 'postgres (100) waited 30.0 % of the time'))
    make(paths=PATHS, fs=[sync(i, 300 * SEC, tid=100 + i, pid=7) for i in range(20)])
    is_equal('threads', wait()['sentence'].split(' in ')[0], 'postgres (7) had 6.0 threads at a time that waited')
    # eight processes, of which the fourth waited longest
    lengths = [100, 105, 110, 200, 120, 130, 140, 101]
    make(paths=PATHS, fs=[sync(i, length * SEC, tid=i + 1) for i, length in enumerate(lengths)])
    is_equal('longest', [w['calls']['time_ns'] // 10**9 for w in waits()], [200, 140, 130, 120, 110])
    # what is no wait for a disk: a socket, a lock, a program that ends
    make(paths=PATHS, fs=[sync(0, 300 * SEC, kind=5), *({**sync(1, 300 * SEC), 'op': op} for op in (LOCK, PROCESS_EXEC, PROCESS_EXIT))])
    is_equal('none', waits(), [])


def belong():
    """Requests of 0.9 s that belong, or do not, to an fsync of a second of the log by process 7."""
    def explained(op, **more):
        make(paths=PATHS, fs=[sync(i) for i in range(150)], block=[asked(op, i, 0, 900000, **more) for i in range(150)])
        return wait()['requests']['count']
    is_equal('its data', explained('WRITE'), 150)
    is_equal('data of others', explained('WRITE', origin_pid=8), 150)
    is_equal('another file', explained('WRITE', inode=6), 0)
    is_equal('another filesystem', explained('WRITE', file_device=DEVICE2), 0)
    is_equal('a read', explained('READ'), 0)
    is_equal('the journal', explained('WRITE', inode=0, path=0, **{'class': JOURNAL}), 150)
    is_equal('another journal', explained('WRITE', inode=0, path=0, device=DEVICE2, **{'class': JOURNAL}), 0)
    is_equal('a flush', explained('FLUSH', inode=0, path=0), 150)
    is_equal('another flush', explained('FLUSH', inode=0, path=0, device=DEVICE2), 0)
    is_equal('it ends after the call', explained('WRITE', latency=1001 * 10**6), 0)
    is_equal('it ends with the call', explained('WRITE', latency=10**9), 150)
    is_equal('it ends before the call', explained('WRITE', time=10**9 * 11, latency=1), 0)
    # a read needs its range, whoever had it read
    reads = [call('READ', i * 5 * SEC, i * 5 * SEC + SEC, kind=1, requested=4096, result=4096) for i in range(150)]
    for more, nr in ({'origin_pid': 8}, 150), ({'offset': 4096}, 0), ({'tid': 7, 'offset': 4096}, 150):
        make(paths=PATHS, fs=reads, block=[asked('READ', i, 0, 900000, **more) for i in range(150)])
        is_equal('a read', wait()['requests']['count'], nr)
    # a write to the page cache does not wait for its writeback, which the fsync after it does
    writes = [call('WRITE', i * 5 * SEC + 2 * SEC, i * 5 * SEC + 4 * SEC, kind=1, requested=4096, result=4096) for i in range(150)]
    make(paths=PATHS, fs=sorted([*writes, *(sync(i) for i in range(150))], key=lambda e: e['time']),
         block=[e for i in range(150) for e in (asked('WRITE', i, 0, 900000), asked('WRITE', i, 2 * SEC, 3 * SEC))])
    is_equal('writeback', [(w['kind'], w['reason'], w['requests']['count']) for w in waits()],
             [('write', 'elsewhere', 0), ('sync', 'device', 150)])
    # only what is selected: the first 50 fsyncs begin before 259 s of the trace
    make(paths=PATHS, fs=[sync(i) for i in range(150)], block=[asked('WRITE', i, 0, 900000) for i in range(150)])
    found = wait('--to', '+259')
    is_equal('selected', (found['calls']['count'], found['requests']['count']), (50, 50))


def machines():
    for name, process, length in ('one', 'postgres', SEC), ('two', 'mysql', 2 * SEC):
        make(name, paths=PATHS, fs=[sync(i, length, comm=process) for i in range(150)],
             block=[asked('WRITE', i, 0, 900000) for i in range(150)])
        change(name, host=f'of{name}')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    found = waits(name='both')
    is_equal('processes', [w['process'] for w in found], ['mysql (7) of oftwo', 'postgres (7) of ofone'])
    is_equal('calls and requests', [(w['calls']['count'], w['requests']['count']) for w in found], [(150, 150)] * 2)


if __name__ == '__main__':
    globals()[sys.argv[1]]()
