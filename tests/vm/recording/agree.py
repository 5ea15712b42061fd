# SPDX-License-Identifier: GPL-2.0
"""
What `iotracer stats` computes from real traces agrees with what other programs compute from the same
I/O: fio, btt, iostat, strace, sqlite3, and the kernel's own tracepoints.

Counts, bytes and errors are equal. Of times an order is known, whatever the machine does meanwhile: an
interval that lies within another one is not longer. If that holds for each pair of intervals, it holds
for sums, extremes and every percentile. The disk is null_blk, which holds each request for HELD ns.
"""
import collections
import contextlib
import json
import math
import os
import re
import sqlite3
import subprocess

from lib.iot import is_equal, is_true, load, slurp, unload, write
from lib.machine import execute, new_filesystem, new_tmpfs, umount, with_tool
from lib.suite import Suite
from workloads import blktrace_is_on, category_is_on, OPS, running, SAME

HELD = 2000000 # ns
DISK = 'nullb0'
MS = 1000000 # ns
PAGE = 4096
WORK = '/mnt/files'
PERCENTILES = {'p50': 50, 'p90': 90, 'p99': 99, 'p99_9': 99.9, 'p99_99': 99.99}
EVENTS = '/sys/kernel/tracing/events/filemap'


def setup():
    new_tmpfs(WORK)
    new_filesystem('ext4', '/dev/vda', '/mnt/disk', '64M')
    for kind, top in ('tracefs', '/sys/kernel/tracing'), ('debugfs', '/sys/kernel/debug'):
        if not os.path.ismount(top):
            execute('mount', '-t', kind, kind, top)
    with_tool()
    is_true(load(), 'insmod failed')


def teardown():
    unload()
    umount(WORK, '/mnt/disk')


def before():
    os.chdir(WORK)
    execute('find', '.', '-mindepth', '1', '-delete')


def after():
    """What a test that failed has left."""
    for name in 'fio', 'blktrace', 'iotracer':
        subprocess.run(('pkill', '-x', name), check=False)
    subprocess.run(('modprobe', '-r', 'null_blk'), check=False)


SUITE = Suite(setup=setup, teardown=teardown, before=before, after=after, tags=('plain',))

# --- what runs -----------------------------------------------------------------------------------


@contextlib.contextmanager
def null_blk():
    execute('modprobe', 'null_blk', 'nr_devices=1', 'gb=1', 'irqmode=2', f'completion_nsec={HELD}')
    yield slurp(f'/sys/class/block/{DISK}/dev').strip()
    execute('modprobe', '-r', 'null_blk')


def recording():
    """Record the requests of the whole machine into the trace t."""
    return running(('iotracer', 'record', '-c', 'block', '--strict', '-o', 't'),
                   lambda _: category_is_on('block'), stdout=subprocess.DEVNULL)


def blktrace():
    return running(('blktrace', '-d', f'/dev/{DISK}', '-o', 'blk'), blktrace_is_on, stdout=subprocess.DEVNULL)


def fio_words(*options):
    return ('fio', '--name=job', '--thread=0', '--clocksource=clock_gettime', '--randseed=3', '--bsrange=4k-16k',
            '--rw=randrw', '--direct=1', '--output-format=json', '--output=fio.json', *options)


def fio_job():
    """What fio says of its job."""
    with open('fio.json', encoding='ascii') as f:
        return json.load(f)['jobs'][0]


def stats(category, *options):
    """What stats says of the category of the trace t."""
    found, = json.loads(execute('iotracer', 'stats', 't', '-c', category, '-f', 'json', '--top=0', *options))['categories']
    is_equal([found[name] for name in ('lost', 'missed', 'unreadable', 'sampled')], [0, 0, 0, 0])
    return found


def stats_by_op(category, *options):
    """Its rows by operation."""
    return {row['op']: row for row in stats(category, *options)['rows']}


def in_order(what, *values):
    """Each value is as large as the one before it, or larger."""
    print(what, *values)
    is_true(list(values) == sorted(values), f'{what} do not rise: {values}')

# --- fio -----------------------------------------------------------------------------------------


def times_of_fio(direction):
    """The time of each I/O, ns, sorted: from before the call to after it."""
    with open('fio_clat.1.log', encoding='ascii') as f:
        lines = [[int(word) for word in line.split(',')] for line in f]
    return sorted(line[1] for line in lines if line[2] == direction)


def nearest_rank(values, percent):
    return values[max(math.ceil(len(values) * percent / 100), 1) - 1]


def beside_fio(direction, name, call, request):
    """A request is within its call, and the call within what fio measures."""
    job, times = fio_job()[name], times_of_fio(direction)
    is_true(len(times) > 20, times)
    for row in call, request:
        is_equal((name, row['count'], row['bytes'], row['errors']), (name, job['total_ios'], job['io_bytes'], 0))
    ours, inner = call['latency_ns'], request['latency_ns']
    for part, percent in PERCENTILES.items():
        in_order(f'{name} {part}', HELD, inner[part], ours[part], nearest_rank(times, percent))
    in_order(f'{name} min', HELD, inner['min'], ours['min'], times[0], job['clat_ns']['min'])
    in_order(f'{name} max', HELD, inner['max'], ours['max'], times[-1], job['clat_ns']['max'])
    in_order(f'{name} total', HELD * len(times), request['device_time_ns'], inner['total'], ours['total'], sum(times))
    in_order(f'{name} avg', ours['avg'], job['clat_ns']['mean'] + 1) # fio's has six decimals


@SUITE.test("agree: counts and bytes are fio's, no percentile is longer than that of fio's log")
def fio():
    with null_blk() as device:
        execute('iotracer', 'record', '-c', 'fs,block', '-f', 'fs:kind=all', '--strict', '-o', 't', '--',
                *fio_words('--ioengine=psync', f'--filename=/dev/{DISK}', '--size=16M', '--number_ios=150',
                           '--write_lat_log=fio'))
    calls = stats_by_op('fs', f'--filter=path=/dev/{DISK}')
    requests = stats_by_op('block', f'--filter=dev={device}', '--filter=op=READ,WRITE')
    beside_fio(0, 'read', calls['DIO_READ'], requests['READ'])
    beside_fio(1, 'write', calls['DIO_WRITE'], requests['WRITE'])

# --- blktrace and btt ----------------------------------------------------------------------------


def btt():
    """Of each phase of btt: minimum, average and maximum in ns, and how many there were."""
    execute('blkparse', '-q', '-O', '-i', 'blk', '-d', 'blk.bin')
    text = execute('btt', '-i', 'blk.bin')
    return {m[1]: [float(m[n]) * 1e9 for n in (2, 3, 4)] + [int(m[5])]
            for m in re.finditer(r'^([QDC]2[QDC])(?:dm)? +([\d.]+) +([\d.]+) +([\d.]+) +(\d+)$', text, re.M)}


def load_disk():
    execute(*fio_words('--ioengine=libaio', '--iodepth=4', f'--filename=/dev/{DISK}', '--size=16M',
                       '--number_ios=200'))


def beside_btt(first, second):
    """
    Returns the latencies of all requests, and the phases of btt. The kernel calls the probes of a
    tracepoint in the order in which they were attached.
    """
    with null_blk() as device:
        with first, second:
            load_disk()
    rows = stats('block', '--by=device', f'--filter=dev={device}')['rows']
    is_equal([row['device'] for row in rows], [device])
    phases = btt()
    job = fio_job()
    is_equal(rows[0]['count'], job['read']['total_ios'] + job['write']['total_ios'])
    is_equal([phases[name][3] for name in ('Q2C', 'D2C')], [rows[0]['count']] * 2)
    return rows[0], phases


@SUITE.test('agree: of each request, ours begins after Q and ends before C of blktrace: not above Q2C of btt')
def within_q2c():
    row, phases = beside_btt(recording(), blktrace())
    # btt shows nine decimals of a second: an average may be half a nanosecond more
    for name, theirs in zip(('min', 'avg', 'max'), phases['Q2C']):
        in_order(f'Q2C {name}', HELD, row['latency_ns'][name], theirs + 1)
    in_order('device time', HELD * row['count'], row['device_time_ns'], row['latency_ns']['total'],
             (phases['Q2C'][1] + 1) * row['count'])


@SUITE.test('agree: of each request, ours begins before D and ends after C of blktrace: not below D2C of btt')
def around_d2c():
    row, phases = beside_btt(blktrace(), recording())
    for name, theirs in zip(('min', 'avg', 'max'), phases['D2C']):
        in_order(f'D2C {name}', HELD, theirs, row['latency_ns'][name] + 1)

# --- iostat --------------------------------------------------------------------------------------


def iostat(*options):
    """What iostat says of the disk since it is there."""
    said = json.loads(execute('iostat', '-d', '-k', '-o', 'JSON', *options, DISK))
    disk, = said['sysstat']['hosts'][0]['statistics'][0]['disk']
    return disk


def beside_iostat(letter, row, extended):
    """
    Its kernel counts the time of a request from when it was allocated, which is before ours begins, to when it
    was accounted for, which is after ours ended; in whole ms. The average has two decimals.
    """
    count, latency = row['count'], row['latency_ns']
    in_order(f'{letter} size', extended[f'{letter}areq-sz'] - 0.0051, row['bytes'] / count / 1024,
             extended[f'{letter}areq-sz'] + 0.0051)
    in_order(f'{letter} await', HELD * count, latency['total'],
             (extended[f'{letter}_await'] + 0.0051) * MS * count + MS)


@SUITE.test("agree: bytes and sizes of requests are iostat's, no time is longer than its r_await and w_await")
def with_iostat():
    with recording():
        with null_blk() as device:
            load_disk()
            totals, extended = iostat(), iostat('-x')
    rows = stats_by_op('block', f'--filter=dev={device}')
    is_equal((rows['READ']['bytes'] / 1024, rows['WRITE']['bytes'] / 1024), (totals['kB_read'], totals['kB_wrtn']))
    beside_iostat('r', rows['READ'], extended)
    beside_iostat('w', rows['WRITE'], extended)

# --- the page cache ------------------------------------------------------------------------------


def page_cache_of(path, work):
    """The pages of the file that the kernel's tracepoint reports as added to the page cache meanwhile."""
    status = os.stat(path)
    event = f'{EVENTS}/mm_filemap_add_to_page_cache'
    number = os.major(status.st_dev) << 20 | os.minor(status.st_dev)
    write('/sys/kernel/tracing/trace', b'\n')
    write(f'{event}/filter', f'i_ino == {status.st_ino} && s_dev == {number}')
    write(f'{event}/enable', '1')
    try:
        work()
        text = slurp('/sys/kernel/tracing/trace')
    finally:
        write(f'{event}/enable', '0')
        write(f'{event}/filter', '0')
    return sum(1 << int(order) for order in re.findall(r' mm_filemap_add_to_page_cache: .* order=(\d+)', text))


@SUITE.test('agree: MISS and READAHEAD are the pages that the kernel adds to the page cache, HIT those that fio reads again')
def page_cache():
    path = '/mnt/disk/file'
    execute('dd', 'if=/dev/zero', f'of={path}', 'bs=1M', 'count=2', 'conv=fsync', 'status=none')
    execute('dd', f'of={path}', 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none')
    # Reads of random pages, with fadvise(2) that says so: the kernel reads no other ones ahead.
    added = page_cache_of(path, lambda: execute(
        'iotracer', 'record', '-c', 'fs,cache', '--strict', '-o', 't', '--',
        *fio_words('--rw=randread', '--bsrange=4k-4k', '--direct=0', '--invalidate=0', '--ioengine=psync',
                   f'--filename={path}', '--size=2M', '--norandommap', '--number_ios=600')))
    of_file = f'--filter=path={path}'
    rows = {op: row['bytes'] // PAGE for op, row in stats_by_op('cache', of_file).items()}
    reads = fio_job()['read']['total_ios']
    is_equal(stats_by_op('fs', of_file)['READ']['count'], reads)
    is_true(0 < added < reads, (added, reads))
    is_equal(rows, {'MISS': added, 'READAHEAD': added, 'HIT': reads - added})

# --- strace and sqlite3 --------------------------------------------------------------------------


def summary_of_strace():
    """Calls and errors by our operation. unlinkat may be either of two."""
    counts = collections.defaultdict(lambda: [0, 0])
    for line in slurp('strace').splitlines()[2:]:
        words = line.split()
        op = {'unlinkat': 'UNLINK'}.get(words[-1]) or OPS.get(words[-1])
        if op:
            counts[op][0] += int(words[3])
            counts[op][1] += int(words[4]) if len(words) > 5 else 0
    return dict(counts)


def work_of_sqlite():
    """A database with a journal, a file that is not there, and a directory."""
    lines = ['create table t (n integer primary key, text);']
    for transaction in range(5):
        lines += ['begin;', *(f"insert into t(text) values ('{n * 99991}');"
                              for n in range(transaction, transaction + 100)), 'commit;']
    lines += ["select count(*), sum(length(text)) from t;", 'vacuum;', "attach '/nowhere/db' as a;"]
    with open('script', 'w', encoding='ascii') as f:
        f.write('\n'.join(lines) + '\n')


@SUITE.test('agree: calls and errors of each operation are those of strace -c, sums those of sqlite3')
def with_strace():
    work_of_sqlite()
    execute('iotracer', 'record', '-c', 'fs', '-f', 'kind=all', '--strict', '-o', 't', '--',
            'sh', '-c', 'strace -f -c -o strace sqlite3 db <script; true')
    ours = collections.defaultdict(lambda: [0, 0])
    for row in stats('fs', '--by=command,op')['rows']:
        op = SAME.get(row['op'], row['op'])
        if row['command'] == 'sqlite3' and op in OPS.values() and op != 'PROCESS_EXEC':
            ours[op][0] += row['count']
            ours[op][1] += row['errors']
    theirs = summary_of_strace()
    is_equal(theirs.pop('PROCESS_EXEC'), [1, 0])
    is_true(theirs['OPEN'][1] and theirs['FDATASYNC'][0] + theirs.get('FSYNC', [0])[0], theirs)
    is_equal(dict(ours), theirs)
    sums_of_sqlite()


def sums_of_sqlite():
    """The same trace, exported and summed by sqlite3."""
    execute('iotracer', 'export', 't', '--format=sqlite', '-o', 'exported.db')
    with contextlib.closing(sqlite3.connect('exported.db')) as base:
        theirs = base.execute('select op, count(*), sum(result < 0), sum(latency_ns), min(latency_ns), max(latency_ns)'
                              ' from fs group by op').fetchall()
    ours = [(row['op'], row['count'], row['errors'], *(row['latency_ns'][name] for name in ('total', 'min', 'max')))
            for row in stats('fs')['rows']]
    is_equal(sorted(ours), sorted(theirs))
