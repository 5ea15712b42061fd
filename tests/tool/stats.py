# SPDX-License-Identifier: GPL-2.0
"""
What stats.bats runs: iotracer stats of traces whose events are known. A trace begins at 1 s of the
monotonic clock and lasts 999 s.
"""
import csv
import glob
import io
import json
import math
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time

from join import S, is_equal, run, trace
from lib.svg import Picture
from lib.trace_file import seal_metadata

OPS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'OPEN': 4, 'FSYNC': 9, 'FDATASYNC': 10, 'MMAP': 14, 'READDIR': 26,
       'SENDFILE': 37}
PARTS = {'p50': 5000, 'p90': 9000, 'p99': 9900, 'p99_9': 9990, 'p99_99': 9999}
MIB = 1024 * 1024


def event(op, time, latency, result=0, **more):
    """An event of category fs."""
    return {'op': OPS[op], 'time': time, 'latency': latency, 'result': result, 'pid': 7, 'tid': 7, 'comm': 'fio', **more}


def shown(number):
    """A real number as JSON shows it."""
    return float(f'{number:.15g}')


def make(name, paths=(), **categories):
    trace(name, categories, list(paths), 100, None)


def stats(*options, status=0):
    return run('iotracer', 'stats', *options, status=status)


def rows(*options, status=0):
    text = stats('-f', 'csv', *options, status=status).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def numbers(found, *names):
    """These columns of rows as numbers."""
    return [tuple(int(row[name]) for name in names) for row in found]


def exported(name, category, *options):
    text = run('iotracer', 'export', '--category', category, *options, name).stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def nearest_rank(values, parts):
    """Of sorted values: the smallest that @parts of 10000 do not exceed."""
    return values[max(math.ceil(len(values) * parts / 10000), 1) - 1]


def change(name, host=None, killed=False, **counts):
    """Change the host that a trace is of, the counts of its first category, or take its end away."""
    file = name + '/metadata.json'
    with open(file, encoding='utf-8') as f:
        metadata = json.load(f)
    metadata['host'] = host or metadata['host']
    metadata['categories'][0].update(counts)
    if killed:
        del metadata['end']
        metadata['state'] = 'RUNNING'
    with open(file, 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata(file)


def few():
    paths = '/srv/a/one.db', '/srv/a/b/two.tar.gz', '/three', '/srv/.hidden'
    events = [event('READ', 10 * S, 1000, 4096, path=1), event('READ', 11 * S, 3000, 100, path=1),
              event('READ', 12 * S, 2000, 0, path=2), event('READ', 13 * S, 5 * S, -5, path=1),
              event('WRITE', 20 * S, 4000, 8192, path=3, pid=8, comm='dd'),
              event('FSYNC', 21 * S, 7000, 0, path=3, pid=8, comm='dd'),
              event('OPEN', 22 * S, 500, -2, path=4), event('OPEN', 23 * S, 600, 3),
              event('OPEN', 24 * S, 700, -13, path=4)]
    make('few', paths, fs=events)


# --- the tests ----------------------------------------------------------------------

HEAD = ('category,op,others,count,errors,bytes,size_avg_bytes,size_min_bytes,size_max_bytes,latency_total_ns,'
        'latency_avg_ns,latency_min_ns,latency_p50_ns,latency_p90_ns,latency_p99_ns,latency_p99_9_ns,'
        'latency_p99_99_ns,latency_max_ns,iops,mib_per_s,device_time_ns,device_time_percent,'
        'size_p50_bytes,size_p90_bytes,size_p99_bytes,size_p99_9_bytes,size_p99_99_bytes,count_low,count_high,'
        'latency_p50_low_ns,latency_p50_high_ns,latency_p90_low_ns,latency_p90_high_ns,latency_p99_low_ns,'
        'latency_p99_high_ns,latency_p99_9_low_ns,latency_p99_9_high_ns,latency_p99_99_low_ns,latency_p99_99_high_ns,'
        'lost,missed,unreadable,sampled')


def by_hand():
    """An fd is no bytes, nor is an error; a latency may have more than 32 bits."""
    few()
    is_equal('CSV', stats('-f', 'csv', 'few').stdout.splitlines(), [
        HEAD,
        'fs,WRITE,0,1,0,8192,8192.000,8192,8192,4000,4000.000,4000,4000,4000,4000,4000,4000,4000,0.001,0.000,,,'
        '8192,8192,8192,8192,8192,1,1,4000,4000,4000,4000,4000,4000,4000,4000,4000,4000,0,0,0,0',
        'fs,READ,0,4,1,4196,1398.667,0,4096,5000006000,1250001500.000,1000,2000,5000000000,5000000000,5000000000,'
        '5000000000,5000000000,0.004,0.000,,,100,4096,4096,4096,4096,4,4,2000,2000' + 8 * ',5000000000' + ',0,0,0,0',
        'fs,OPEN,0,3,2,0,,,,1800,600.000,500,600,700,700,700,700,700,0.003,0.000,,,,,,,,3,3,600,600' + 8 * ',700' +
        ',0,0,0,0',
        'fs,FSYNC,0,1,0,0,,,,7000,7000.000,7000,7000,7000,7000,7000,7000,7000,0.001,0.000,,,,,,,,1,1' + 10 * ',7000' +
        ',0,0,0,0'])
    document = json.loads(stats('-f', 'json', 'few').stdout)
    category, = document['categories']
    table = category.pop('rows')
    is_equal('category', category, {
        'category': 'fs', 'duration_s': 999.0, 'count': 9, 'errors': 3, 'bytes': 12388, 'records': 9, 'sampled': 0,
        'lost': 0, 'missed': 0, 'unreadable': 0})
    is_equal('errors', [row['errors_by_name'] for row in table], [{}, {'EIO': 1}, {'ENOENT': 1, 'EACCES': 1}, {}])
    for row, line in zip(table, rows('few'), strict=True):
        flat = {'category': 'fs', 'op': row['op'], 'others': row['others'], 'count': row['count'],
                'errors': row['errors'], 'bytes': row['bytes'], 'iops': row['iops'], 'mib_per_s': row['mib_per_s']}
        flat.update({f'size_{k}_bytes': (row['size_bytes'] or {}).get(k, '') for k in ('avg', 'min', 'max', *PARTS)})
        flat.update({f'latency_{k}_ns': v for k, v in row['latency_ns'].items()})
        flat.update(device_time_ns='', device_time_percent='')
        for i, end in enumerate(('low', 'high')):
            flat[f'count_{end}'] = row['bounds']['count'][i]
            flat.update({f'latency_{k}_{end}_ns': v[i] for k, v in row['bounds']['latency_ns'].items()})
        flat.update({k: category[k] for k in ('lost', 'missed', 'unreadable', 'sampled')})
        shown = {k: f'{v:.3f}' if isinstance(v, float) else str(v) for k, v in flat.items()}
        is_equal('JSON', shown, line)
    text = stats('few').stdout.splitlines()
    is_equal('title', text[0], 'fs: 9 events in 999s, 0.01 IOPS, 12.1KiB, 12.4B/s')
    is_equal('sizes', text[4].split(), ['READ', '4', '1', '4.10KiB', '1.37KiB', '0B', '4.00KiB', '0.00', '0.00'])
    is_equal('latencies', text[11].split(),
             ['OPEN', '1.80us', '600ns', '500ns', '600ns', '700ns', '700ns', '700ns', '700ns', '700ns'])
    at = text.index('OP                 EVENTS   BYTES LATENCY') + 1
    is_equal('shares', text[at:at + 4], [
        'WRITE               11.1%   66.1%    0.0%  ' + 36 * '█',
        'READ                44.4%   33.9%  100.0%  ' + 18 * '█' + '▌',
        'OPEN                33.3%       -    0.0%',
        'FSYNC               11.1%       -    0.0%'])
    text = stats('--sort', 'count', 'few').stdout.splitlines()
    at = text.index('OP                 EVENTS   BYTES LATENCY') + 1
    is_equal('bars by count', [(line.split()[0], line.count('█')) for line in text[at:at + 4]],
             [('READ', 36), ('OPEN', 27), ('FSYNC', 9), ('WRITE', 9)])
    assert 'EVENTS   BYTES LATENCY' not in stats('--filter', 'op=READ', 'few').stdout
    is_equal('errors', stats('--errors', 'few').stdout.splitlines()[-3:],
             ['OP               ERRORS', 'READ             EIO 1', 'OPEN             ENOENT 1, EACCES 1'])


def paths():
    few()

    def by(key, column=None):
        return {row[column or key]: int(row['count']) for row in rows('--by', key, 'few')}
    is_equal('file', by('file'), {'/srv/a/one.db': 3, '/srv/a/b/two.tar.gz': 1, '/three': 2, '/srv/.hidden': 2, '': 1})
    is_equal('directory', by('directory'), {'/srv/a': 3, '/srv/a/b': 1, '/': 2, '/srv': 2, '': 1})
    is_equal('one component', by('directory:1', 'directory'), {'/srv': 6, '/': 2, '': 1})
    is_equal('two components', by('directory:2', 'directory'), {'/srv/a': 4, '/srv': 2, '/': 2, '': 1})
    is_equal('extension', by('extension'), {'.db': 3, '.gz': 1, '': 5})
    is_equal('command', by('command'), {'fio': 7, 'dd': 2})
    is_equal('process', [(row['process'], row['command']) for row in rows('--by', 'process', 'few')],
             [('8', 'dd'), ('7', 'fio')])
    is_equal('both', [(row['command'], row['op'], row['count']) for row in rows('--by', 'command,op', 'few')],
             [('dd', 'WRITE', '1'), ('fio', 'READ', '4'), ('fio', 'OPEN', '3'), ('dd', 'FSYNC', '1')])
    assert '(none)' in stats('--by', 'file', 'few').stdout


def live():
    """Events that are recorded for the command: until the time is over, or a signal comes, and no longer kept."""
    os.mkdir('tmp')
    env = {**os.environ, 'TMPDIR': os.getcwd() + '/tmp'}
    few() # leaves its events in the directory that looks like /proc/iotracer
    expected = [(row['op'], row['count'], row['bytes']) for row in rows('few')]
    for options, end in (('--time', '1'), None), (('--time', '1h'), signal.SIGINT), ((), signal.SIGTERM):
        with open('proc/fs/control', 'w', encoding='ascii') as f:
            f.write('stop\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
        with subprocess.Popen(['iotracer', 'stats', '-f', 'csv', '--live', *options], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            while end and not glob.glob('tmp/*/live/fs.iot'):
                time.sleep(0.01)
            if end:
                child.send_signal(end)
            out, err = child.communicate(timeout=60)
        is_equal('status', (child.returncode, 'iotracer: interrupted' in err), (0, False))
        found = [(row['op'], row['count'], row['bytes']) for row in csv.DictReader(io.StringIO(out, newline=''))]
        is_equal('live', found, expected)
        is_equal('left', os.listdir('tmp'), [])
    err = run('iotracer', 'stats', '--live', 'few', status=2).stderr
    assert 'say which trace: a directory that iotracer record made, or --live' in err, err
    assert 'goes with --live' in run('iotracer', 'stats', '--time', '1', 'few', status=2).stderr


def amplification():
    """What each layer wrote, worked out by hand: of files only, what succeeded, and each disk apart."""
    def page(op, pages, **more):
        return {'op': op, 'time': 3 * S, 'latency': 0, 'pages': pages, **more}

    def request(op, requested, disk, **more):
        return {'op': op, 'time': 4 * S, 'latency': 1, 'requested': requested, 'result': requested, 'disk': disk, **more}
    make('t', fs=[event('WRITE', 2 * S, 1, 1000, kind=1), event('DIO_WRITE', 2 * S, 2, 3000, kind=1, sample=2),
                  event('WRITE', 2 * S, 3, 500, kind=4), event('WRITE', 2 * S, 4, -5, kind=1),
                  event('READ', 2 * S, 5, 900, kind=1), event('SENDFILE', 2 * S, 6, 70, kind=1)],
         cache=[page(2, 2), page(3, 2), page(4, 1)],
         block=[request(1, 8192, 'vda'), request(0, 4096, 'vda'), request(1, 512, 'v,b'), request(1, 1024, 'vda'),
                request(1, 2048, 'vda', result=-5), request(2, 0, 'vda')])
    expected = [['layer', 'disk', 'bytes', 'of_calls', 'lost', 'missed', 'unreadable', 'sampled'],
                ['calls', '', '7000', '1.000', '0', '0', '0', '1'], ['dirtied', '', '8192', '1.170', '0', '0', '0', '1'],
                ['written_back', '', '4096', '0.585', '0', '0', '0', '1'],
                ['disk', 'vda', '9216', '1.317', '0', '0', '0', '1'], ['disk', 'v,b', '512', '0.073', '0', '0', '0', '1']]
    text = stats('-f', 'csv', '--amplification', 't').stdout
    is_equal('CSV', list(csv.reader(io.StringIO(text, newline=''))), expected)
    document = json.loads(stats('-f', 'json', '--amplification', 't').stdout)
    is_equal('JSON', [(row['layer'], row['disk'] or '', str(row['bytes']), f"{row['of_calls']:.3f}")
                      for row in document['layers']], [tuple(row[:4]) for row in expected[1:]])
    is_equal('sampled', (document['sampled'], document['records']), (1, 15))
    lines = stats('--amplification', 't').stdout.splitlines()
    is_equal('text', [line.split() for line in lines[1:4]],
             [['calls', '6.84KiB', '1.00'], ['dirtied', '8.00KiB', '1.17'], ['written', 'back', '4.00KiB', '0.59']])
    assert 'sampled 1:' in '\n'.join(lines), lines
    # without calls there is nothing to compare with
    is_equal('block alone', [(row['bytes'], row['of_calls']) for row in rows('--amplification', '-c', 'block', 't')],
             [('9216', ''), ('512', '')])
    make('none', net=[{'op': 0, 'time': 2 * S, 'latency': 1, 'moved': 10}])
    assert 'has no category that --amplification is about' in stats('--amplification', 'none', status=1).stderr


def moved():
    """Bytes of what moves some, and of nothing else."""
    make('t', fs=[event('READDIR', 2 * S, 1, 500), event('MMAP', 2 * S, 2, 0x7f0000000000, address=0x7f0000000000),
                  event('SENDFILE', 2 * S, 3, 70)],
         block=[{'op': op, 'time': 2 * S, 'latency': 1, 'requested': 512, 'result': 512} for op in (0, 1, 2, 3)],
         net=[{'op': 0, 'time': 2 * S, 'latency': 1, 'result': 10, 'moved': 10},
              {'op': 1, 'time': 2 * S, 'latency': 2, 'result': 30, 'moved': 0},
              {'op': 1, 'time': 2 * S, 'latency': 3, 'result': -11, 'moved': 0}],
         cache=[{'op': 8, 'time': 2 * S, 'latency': 0, 'pages': 3}],
         uring=[{'op': 3, 'time': 2 * S, 'latency': 1, 'opcode': 22, 'result': 4096},
                {'op': 3, 'time': 2 * S, 'latency': 1, 'opcode': 18, 'result': 5},
                {'op': 0, 'time': 2 * S, 'latency': 1, 'opcode': 0xffff, 'result': 2}],
         drop=[{'op': op, 'time': 2 * S, 'latency': 0, 'size': 60} for op in (0, 2)])
    found = [(row['category'], row['op'], row['count'], row['errors'], row['bytes'], row['size_min_bytes'])
             for row in rows('--sort', 'name', 't')]
    is_equal('rows', found, [
        ('fs', 'MMAP', '1', '0', '0', ''), ('fs', 'READDIR', '1', '0', '0', ''), ('fs', 'SENDFILE', '1', '0', '70', '70'),
        ('block', 'DISCARD', '1', '0', '0', ''), ('block', 'FLUSH', '1', '0', '0', ''),
        ('block', 'READ', '1', '0', '512', '512'), ('block', 'WRITE', '1', '0', '512', '512'),
        ('net', 'RECV', '2', '1', '0', '0'), ('net', 'SEND', '1', '0', '10', '10'),
        ('cache', 'READAHEAD', '1', '0', '12288', '12288'),
        ('uring', 'COMPLETE', '2', '0', '4096', '4096'), ('uring', 'ENTER', '1', '0', '0', ''),
        ('drop', 'PACKET_DROP', '1', '0', '60', '60'), ('drop', 'RESET_SENT', '1', '0', '0', '')])
    # what is a moment has no latency to show
    cache = stats('-c', 'cache', 't').stdout
    assert 'BYTES' in cache and 'P99' not in cache, cache
    is_equal('of two', [row['category'] for row in rows('-c', 'net,drop', '--by', 'cgroup', 't')], ['net', 'drop'])


def connections():
    four = {'family': 2, 'protocol': 6, 'local': '192.0.2.1', 'local_port': 80, 'remote': '192.0.2.9', 'remote_port': 4000}
    six = {'family': 10, 'protocol': 17, 'local': '2001:db8::1', 'local_port': 53, 'remote': '', 'remote_port': 0}
    six.pop('remote')
    unix = {'family': 1, 'cookie': 77}
    make('t', net=[{'op': 0, 'time': (2 + i) * S, 'latency': 1, 'result': 10 * (i + 1), 'moved': 10 * (i + 1), **ends}
                   for i, ends in enumerate((four, six, unix, four))],
         drop=[{'op': 0, 'time': 2 * S, 'latency': 0, 'size': 9, 'protocol': 6, 'ip_version': 4, 'source': '192.0.2.9',
                'source_port': 4000, 'destination': '192.0.2.1', 'destination_port': 80}])
    is_equal('rows', [(row['category'], row['connection'], row['bytes']) for row in rows('--by', 'connection', 't')], [
        ('net', 'TCP 192.0.2.1:80 192.0.2.9:4000', '50'), ('net', 'AF_UNIX 77', '30'),
        ('net', 'UDP [2001:db8::1]:53 *:0', '20'), ('drop', 'TCP 192.0.2.9:4000 192.0.2.1:80', '9')])


def charged():
    """Writeback counts for who made the pages dirty; a flush for who wrote. All else, for who submitted it."""
    kernel = {'time': 2 * S, 'latency': 1, 'pid': 9, 'comm': 'kworker/1'}
    make('t', fs=[event('READ', 2 * S, 5, 7)], block=[
        {**kernel, 'op': 1, 'result': 4096, 'class': 4, 'origin_pid': 50, 'origin_comm': 'rsync'},
        {**kernel, 'op': 1, 'result': 512, 'class': 2},
        {**kernel, 'op': 2, 'class': 77, 'origin_pid': 50, 'origin_comm': 'a\\033[2J'},
        {**kernel, 'op': 0, 'result': 100, 'class': 4, 'pid': 50, 'comm': 'rsync'}])

    def by(key, *columns):
        return sorted(tuple(row[k] for k in (*columns, 'count', 'bytes')) for row in rows('--by', key, '-c', 'block', 't'))
    is_equal('process', by('process', 'process', 'command'), [('50', 'rsync', '3', '4196'), ('9', 'kworker/1', '1', '512')])
    is_equal('command', by('command', 'command'),
             [('a\\033[2J', '1', '0'), ('kworker/1', '1', '512'), ('rsync', '2', '4196')])
    is_equal('submitter', by('submitter', 'submitter'), [('kworker/1', '3', '4608'), ('rsync', '1', '100')])
    is_equal('both', by('submitter,command', 'submitter', 'command')[-1], ('rsync', 'rsync', '1', '100'))
    is_equal('class', by('class', 'class'), [('0x4d', '1', '0'), ('FILE_4K', '2', '4196'), ('JOURNAL', '1', '512')])
    for key in 'class', 'submitter':
        done = stats('--by', key, 't')
        assert f'fs is left out: its events have no {key}' in done.stderr, done.stderr


def merged():
    """Of two traces that are one, each process is of its trace."""
    make('one', fs=[event('READ', 2 * S, 5, 10), event('READ', 3 * S, 5, 20)])
    make('two', fs=[event('READ', 2 * S, 5, 400)])
    change('one', host='alpha')
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    is_equal('together', [(row['process'], row['bytes']) for row in rows('--by', 'process', 'both')], [('7', '430')])
    for key, names in ('trace', ('one', 'two')), ('host', ('alpha', 'beta')):
        is_equal(key, [(row[key], row['process'], row['bytes']) for row in rows('--by', f'{key},process', 'both')],
                 [(names[1], '7', '400'), (names[0], '7', '30')])


# The column of the exported rows that a key is.
COLUMNS = {'op': 'op', 'device': 'device', 'file': 'path', 'process': 'pid', 'command': 'comm', 'cgroup': 'cgroup'}
# What bytes are, in words of SQL.
BYTES = {'fs': "case when result > 0 and op in ('READ', 'WRITE', 'DIO_READ', 'DIO_WRITE', 'SENDFILE') then result else 0 end",
         'block': "case when result > 0 and op in ('READ', 'WRITE') then result else 0 end"}


def any_events(rng, category, nr, paths=60):
    ops = OPS.values() if category == 'fs' else range(4)
    for i in range(nr):
        pid = rng.randrange(5)
        yield {'op': rng.choice(list(ops)), 'time': 2 * S + i * 1000000, 'latency': int(rng.expovariate(1 / 50000)),
               'result': rng.choice((-5, -11, 0, 512, 4096, 65536)), 'path': rng.randrange(paths), 'pid': pid,
               'device': rng.choice((0x800001, 0xfd00002)), 'cgroup': rng.randrange(1500), 'sample': 1,
               'comm': f'proc{pid}', 'inode': 1}


def sums():
    rng = random.Random(1)
    names = [f'/srv/d{i % 7}/f{i}.x{i % 3}' for i in range(1999)]
    make('t', names, fs=list(any_events(rng, 'fs', 6000, 2000)), block=list(any_events(rng, 'block', 3000, 2000)))
    for category, in_bytes in BYTES.items():
        table = exported('t', category)
        base = sqlite3.connect(':memory:')
        # of the type of what is written, so that sums and comparisons are those of numbers
        types = {'latency_ns': 'integer', 'result': 'integer'}
        base.execute('create table t (%s)' % ', '.join(f'"{name}" {types.get(name, "text")}' for name in table[0]))
        base.executemany('insert into t values (%s)' % ', '.join('?' * len(table[0])), [list(r.values()) for r in table])
        for key, column in COLUMNS.items():
            expected = base.execute(
                f'select {column}, count(*), sum(result < 0), sum({in_bytes}), sum(latency_ns), min(latency_ns),'
                f' max(latency_ns) from t group by 1 order by 1').fetchall()
            found = rows('--by', key, '--top', '0', '-c', category, 't')
            whole = numbers(found, 'count', 'errors', 'bytes', 'latency_total_ns', 'latency_min_ns', 'latency_max_ns')
            assert len(expected) > 1, (category, key)
            is_equal(f'{category} by {key}', sorted((row[key], *n) for row, n in zip(found, whole)), expected)


def percentiles():
    """Of few and of many values, repeated ones, and those of more than 32 bits."""
    rng = random.Random(2)
    makers = (lambda: rng.randrange(10), lambda: int(rng.lognormvariate(10, 2)), lambda: rng.randrange(1 << 36),
              lambda: (1 << 32) - 2 + rng.randrange(5))
    events = [event('READ', 2 * S + i, makers[pid % 4](), 1, pid=pid, comm=f'p{pid}')
              for pid, nr in enumerate((1, 2, 3, 99, 100, 101, 999, 1000, 1001, 10001)) for i in range(nr)]
    make('t', fs=events)
    for top in 0, 3:
        found = rows('--by', 'process', '--top', str(top), '--sort', 'count', 't')
        shown = {int(row['process']) for row in found if row['process']}
        for row in found:
            values = sorted(e['latency'] for e in events
                            if (e['pid'] not in shown if row['others'] != '0' else e['pid'] == int(row['process'])))
            is_equal('count', int(row['count']), len(values))
            for name, parts in PARTS.items():
                is_equal(f'{name} of {len(values)}', int(row[f'latency_{name}_ns']), nearest_rank(values, parts))
    is_equal('rows', len(found), 4)


def bounds():
    """Latencies 1 to 10 us, and two calls that were missed: the sixth of twelve is between the fourth and the sixth."""
    make('t', fs=[event('READ', (2 + i) * S, 1000 * (i + 1), 1) for i in range(10)])
    change('t', missed=2)
    row, = rows('t')
    is_equal('count', (row['count_low'], row['count_high']), ('10', '12'))
    is_equal('p50', (row['latency_p50_low_ns'], row['latency_p50_high_ns']), ('4000', '6000'))
    # the eleventh of twelve is no smaller than the ninth, and may be any larger one
    is_equal('p90', (row['latency_p90_low_ns'], row['latency_p90_high_ns']), ('9000', ''))
    bound = json.loads(stats('-f', 'json', 't').stdout)['categories'][0]['rows'][0]['bounds']
    is_equal('JSON', (bound['count'], bound['latency_ns']['p50'], bound['latency_ns']['p99']),
             ([10, 12], [4000, 6000], [10000, None]))
    text = stats('t').stdout.splitlines()
    is_equal('text', text[-4:-2], [
        'OP                    AT MOST    BOUNDS OF P50           OF P90           OF P99',
        'READ                       12   4.00us..6.00us         9.00us..         10.0us..'])
    assert 'AT MOST' not in stats('--filter', 'op=WRITE', 't').stdout
    # more than there are, and more than can be
    for missed in 11, 2**63 - 1:
        change('t', missed=missed)
        row, = rows('t')
        is_equal('all may be', (row['latency_p50_low_ns'], row['latency_p50_high_ns'], row['count_high']),
                 ('0', '', str(10 + missed)))
    # of a sample it is known what was seen
    make('t', fs=[event('READ', (2 + i) * S, 1000, 1, sample=4) for i in range(3)])
    row, = rows('t')
    is_equal('sampled', [row[n] for n in ('count', 'count_low', 'count_high', 'latency_p50_low_ns', 'latency_p50_high_ns')],
             ['12', '3', '', '', ''])
    bound = json.loads(stats('-f', 'json', 't').stdout)['categories'][0]['rows'][0]['bounds']
    is_equal('JSON', (bound['count'], bound['latency_ns']['p99']), ([3, None], [None, None]))


def bounds_hold():
    """Whichever events are missing, figures of all events are between the bounds of the others."""
    rng = random.Random(4)
    for nr, missing in (1, 1), (7, 2), (40, 3), (200, 1), (200, 40), (300, 299):
        events = [event(rng.choice(('READ', 'WRITE')), 2 * S + i, int(rng.lognormvariate(8, 2)), 1) for i in range(nr + missing)]
        # of some only the slowest or the fastest are missing
        by = rng.choice((lambda e: e['latency'], lambda e: -e['latency'], lambda e: rng.random()))
        seen = sorted(events, key=by)[missing:]
        make('t', fs=seen)
        change('t', missed=missing)
        found = rows('t')
        assert found
        for row in found:
            true = sorted(e['latency'] for e in events if e['op'] == OPS[row['op']])
            assert int(row['count_low']) <= len(true) <= int(row['count_high']), row
            for name, parts in PARTS.items():
                low, high = (row[f'latency_{name}_{end}_ns'] for end in ('low', 'high'))
                assert int(low) <= nearest_rank(true, parts) <= (int(high) if high else 10**18), (name, row, true)
                assert int(low) <= int(row[f'latency_{name}_ns']) <= (int(high) if high else 10**18), (name, row)


def pages_of(start, length):
    return range(start // 4096, (start + length - 1) // 4096 + 1)


def working_sets():
    """The different blocks of 4096 bytes of each key, and how often each was written, also if they share blocks."""
    at = {'inode': 1, 'kind': 1}
    make('few', fs=[event('READ', 2 * S, 5, 1, offset=4095, **at), event('READ', 3 * S, 5, 2, offset=4095, **at),
                    event('WRITE', 4 * S, 5, 4096, offset=8192, **at), event('WRITE', 5 * S, 5, 8193, offset=4096, **at),
                    event('WRITE', 6 * S, 5, 0, offset=0, **at), event('WRITE', 7 * S, 5, -5, offset=0, **at),
                    event('WRITE', 8 * S, 5, 9, **{**at, 'kind': 4}), event('FSYNC', 9 * S, 5, 0, **at)])
    names = 'working_set_bytes', 'written_set_bytes', 'write_invalidation_factor'

    def few_by(key):
        return {row[key]: tuple(row[n] for n in names) for row in rows('--working-set', '--by', key, 'few')}
    is_equal('ops', few_by('op'), {'READ': ('8192', '0', ''), 'WRITE': ('12288', '12288', '1.333'),
                                   'FSYNC': ('0', '0', '')})
    is_equal('both', few_by('process'), {'7': ('16384', '12288', '1.333')})
    text = stats('--working-set', 'few').stdout.splitlines()
    is_equal('text', text[text.index('OP                  TOUCHED   WRITTEN       WIF') + 1].split(),
             ['WRITE', '12.0KiB', '12.0KiB', '1.33'])
    category, = json.loads(stats('--working-set', '-f', 'json', '--by', 'process', '--top', '0', 'few').stdout)['categories']
    is_equal('JSON', [category['rows'][0][n] for n in names[:2]] + [category['working_sets_are_complete']],
             [16384, 12288, True])
    assert 'working_set' not in stats('-f', 'json', 'few').stdout
    rng = random.Random(11)
    places = [2**40 + 4096 * rng.randrange(300) for _ in range(300)] + [2**63 - 5, 2**64 - 4096, 2**50, 0, 262143]
    fs = [event(rng.choice(('READ', 'WRITE', 'DIO_WRITE')), 2 * S + i, 5, rng.choice((1, 4096, 5000, 300000, 900000)),
                offset=rng.choice(places), inode=rng.randrange(3), device=rng.randrange(2), pid=rng.randrange(3),
                tid=rng.randrange(2), kind=1) for i in range(3000)]
    block = [{'op': rng.choice((0, 1, 1, 3)), 'time': 2 * S + i, 'latency': 9, 'sector': rng.randrange(3000),
              'result': 512 * rng.randrange(99), 'requested': 512 * 100, 'device': rng.randrange(2),
              'pid': rng.randrange(3)} for i in range(3000)]
    make('t', fs=fs, block=block)
    for category, made in ('fs', fs), ('block', block):
        expected = {}
        for e in made:
            start = e['offset'] if category == 'fs' else 512 * e['sector']
            is_write, is_discard = e['op'] in (1, 3), category == 'block' and e['op'] == 3
            length = min(e['requested'] if is_discard else e['result'], 2**64 - start)
            if not length:
                continue
            pages = {(e['device'], e.get('inode'), page) for page in pages_of(start, length)}
            touched, written, writes = expected.setdefault(str(e['pid']), (set(), set(), [0]))
            writes[0] += len(pages) if is_write else 0
            touched |= pages if not is_discard else set()
            written |= pages if is_write and not is_discard else set()
        is_equal(category, {row['process']: tuple(row[n] for n in names) for row in
                            rows('--working-set', '--by', 'process', '-c', category, 't')},
                 {pid: (str(4096 * len(touched)), str(4096 * len(written)), f'{writes[0] / len(written):.3f}')
                  for pid, (touched, written, writes) in expected.items()})
    # what others touched together is not known
    is_equal('others', [row[n] for row in rows('--working-set', '--by', 'process', '--top', '2', 't')
                        if row['others'] == '1' for n in names], 6 * [''])
    # a record that claims more than a call can move
    make('t', fs=[event('READ', 2 * S, 5, 2**62, offset=0, **at)])
    is_equal('most', rows('--working-set', 't')[0]['working_set_bytes'], str(2**31))


def device_times():
    """A request is in the device for the last part of its latency. A device is busy if any request is in it."""
    def request(begin, end, device=0x800001, **more):
        return {'op': 1, 'time': begin - 50, 'latency': end - begin + 50, 'device_latency': end - begin, 'device': device,
                'result': 512, 'pid': 1, 'queue_latency': 50, **more}

    def figures():
        category, = json.loads(stats('--by', 'process', '-f', 'json', 't').stdout)['categories']
        return ({row['process']: (row['device_time_ns'], row['device_time_percent']) for row in category['rows']},
                {d['device']: (d['busy_ns'], d['device_time_ns'], d['requests_while_busy']) for d in category['devices']})
    make('t', block=[request(2 * S, 3 * S), request(2 * S, 4 * S), request(5 * S, 6 * S, pid=2),
                     request(3 * S, 5 * S, 0x800002), request(7 * S, 8 * S, sample=4, pid=2)])
    is_equal('few', figures(), ({'1': (5 * S, 50.0), '2': (5 * S, 50.0)},
                                {'8:1': (4 * S, 8 * S, 2.0), '8:2': (2 * S, 2 * S, 1.0)}))
    is_equal('CSV', [(row['device_time_ns'], row['device_time_percent']) for row in rows('--by', 'process', 't')],
             2 * [(str(5 * S), '50.000')])
    text = stats('--by', 'process', 't').stdout.splitlines()
    assert '2                   5.00s    50.0%' in text, text
    is_equal('busy', text[-6:-3], ['', '8:1 was busy for 4.00s of 999s, with 2.00 requests on average',
                                   '8:2 was busy for 2.00s of 999s, with 1.00 requests on average'])
    rng = random.Random(12)
    # many gaps, more than are kept; none of these requests begins before the periods that were forgotten
    made = []
    for i in range(20000):
        begin = 2 * S + i * 1000 + rng.randrange(500)
        made.append(request(begin, begin + rng.choice((1, 100, 600, 3000)), 0x800001 + i % 2, pid=i % 5))
    make('t', block=made)
    by_process, devices = figures()
    total = sum(e['device_latency'] for e in made)
    for pid in range(5):
        time = sum(e['device_latency'] for e in made if e['pid'] == pid)
        is_equal('time', (by_process[str(pid)][0], round(by_process[str(pid)][1], 6)), (time, round(100 * time / total, 6)))
    for name, number in ('8:1', 0x800001), ('8:2', 0x800002):
        spans = sorted((e['time'] + 50, e['time'] + e['latency']) for e in made if e['device'] == number)
        busy, until = 0, 0
        for begin, end in spans:
            busy += max(0, end - max(begin, until))
            until = max(until, end)
        is_equal('busy', devices[name][0], busy)
    # one that was in the device all the time, and a device that claims more time than the request took
    make('t', block=[request(2 * S + 10 * i, 2 * S + 10 * i + 5) for i in range(100)] + [request(2 * S, 9 * S)] +
         [{**request(10 * S, 11 * S, 0x800003), 'device_latency': 2**64 - 1}])
    is_equal('all', {name: d[0] for name, d in figures()[1].items()}, {'8:1': 7 * S, '8:3': S + 50})


def sampled():
    """A record counts as the events that it stands for; 0 is as 1."""
    make('t', fs=[event('READ', 2 * S, 100, 10, sample=8), event('READ', 3 * S, 300, -5, sample=8),
                  event('READ', 4 * S, 500, 7, sample=1), event('WRITE', 5 * S, 1, 3)])
    read, write = rows('t')
    is_equal('sums', numbers([read, write], 'count', 'errors', 'bytes', 'latency_total_ns', 'sampled'),
             [(17, 8, 87, 3700, 2), (1, 0, 3, 1, 2)])
    # 100 eight times, 300 eight times, 500: the ninth and the sixteenth are 300
    is_equal('percentiles', numbers([read], 'latency_p50_ns', 'latency_p90_ns', 'latency_p99_ns'), [(300, 300, 500)])
    is_equal('sizes', (read['size_avg_bytes'], read['size_min_bytes'], read['size_max_bytes']), ('9.667', '7', '10'))
    is_equal('notes', stats('t').stdout.splitlines()[-2:],
             ['sampled 2: records that stand for several events each, and are',
              'scaled: 4 records are counted as 18 events'])
    category, = json.loads(stats('-f', 'json', 't').stdout)['categories']
    is_equal('JSON', [category[k] for k in ('count', 'records', 'sampled')], [18, 4, 2])


def heavy():
    """The largest sample, three times, of one latency, and less than a hundredth of another."""
    most = 2**32 - 1
    make('t', fs=[event('READ', (2 + i) * S, 40, 1, sample=most) for i in range(3)] +
         [event('READ', 9 * S, 9, 1, sample=10**6), event('READ', 10 * S, 50, 1, sample=10**8)])
    is_equal('figures', numbers(rows('t'), 'count', 'bytes', 'latency_total_ns', 'latency_p50_ns', 'latency_p99_ns',
                                'latency_p99_9_ns', 'latency_min_ns'),
             [(3 * most + 101000000, 3 * most + 101000000, 120 * most + 9000000 + 5 * 10**9, 40, 40, 50, 9)])


def top():
    rng = random.Random(3)
    events = list(any_events(rng, 'fs', 2000))
    make('t', [f'/f{i}' for i in range(59)], fs=events)
    sizes = 'count', 'errors', 'bytes', 'latency_total_ns'
    for how, column in ('bytes', 'bytes'), ('count', 'count'), ('latency', 'latency_total_ns'):
        every = rows('--by', 'file', '--sort', how, '--top', '0', 't')
        values = [int(row[column]) for row in every]
        is_equal('order', values, sorted(values, reverse=True))
        is_equal('files', len(every), 60)
        for nr in 1, 20, 59, 60, 1000:
            found = rows('--by', 'file', '--sort', how, '--top', str(nr), 't')
            is_equal('sums', [sum(n) for n in zip(*numbers(found, *sizes))], [sum(n) for n in zip(*numbers(every, *sizes))])
            is_equal('first rows', found[:nr], every[:nr])
            is_equal('others', [row['others'] for row in found[nr:]], [str(60 - nr)] if nr < 60 else [])
    names = [row['file'] for row in rows('--by', 'file', '--sort', 'name', '--top', '0', 't')]
    is_equal('names', names, sorted(names))
    is_equal('default', len(rows('--by', 'file', 't')), 21)
    assert re.search(r'^40 others ', stats('--by', 'file', 't').stdout, re.M)


def intervals():
    rng = random.Random(4)
    # also one that began before the trace
    events = [event(rng.choice(('READ', 'WRITE', 'FSYNC')), rng.randrange(S // 2, 12 * S), rng.randrange(3 * S), 100,
                    pid=rng.randrange(6)) for _ in range(800)]
    make('t', fs=events)
    for nr in 0, 2:
        found = rows('--by', 'process', '--interval', '0.5s', '--sort', 'count', '--top', str(nr), 't')
        totals = {pid: sum(e['pid'] == pid for e in events) for pid in range(6)}
        shown = sorted(totals, key=lambda pid: (-totals[pid], str(pid)))[:nr or 6]
        expected = {}
        for e in events:
            bytes_ = e['result'] if e['op'] in (0, 1) else 0
            key = (e['time'] - S) // (S // 2) / 2, str(e['pid']) if e['pid'] in shown else ''
            one = expected.setdefault(key, [0, 0, 0])
            expected[key] = [one[0] + 1, one[1] + bytes_, max(one[2], e['latency'])]
        is_equal('rows', {(float(row['since_s']), row['process']): list(n) for row, n in
                          zip(found, numbers(found, 'count', 'bytes', 'latency_max_ns'))}, expected)
        times = [float(row['since_s']) for row in found]
        is_equal('order', times, sorted(times))
        assert times[0] < 0, times
        # each interval has half a second; those before the trace have no part in its time
        for row in found:
            rate = f"{int(row['count']) / 0.5:.3f}" if float(row['since_s']) >= 0 else ''
            is_equal('IOPS', row['iops'], rate)
    assert re.search(r'^\+1.5s ', stats('--interval', '0.5s', 't').stdout, re.M)


def series_text():
    """8, 4, 2, 1, 0, 0, 0 and 8 events in eight seconds; bytes in the first; the 99th percentile is the slowest of few."""
    us = 1000
    events = [event('READ', S + 100 + i, 700 * us + i, MIB) for i in range(7)] + [event('FSYNC', S + 150 * 10**6, 800 * us)]
    events += [event('READ', 2 * S, 700 * us), event('WRITE', 2 * S, 10 * us)] + 2 * [event('OPEN', 2 * S, us)]
    events += [event('OPEN', 3 * S, 100 * us), event('OPEN', 3 * S, us), event('OPEN', 5 * S - 1, us)]
    events += 7 * [event('FSYNC', 8 * S, us)] + [event('OPEN', 9 * S - 1, 400 * us)]
    make('t', fs=events)
    options = '--interval=1', '--from=+0', '--to=+8', 't'
    is_equal('UTF-8', stats(*options).stdout.splitlines()[1:7], [
        '', '           MIN     MAX  +0s to +8s',
        'IOPS         0       8  █▄▂▁   █',
        'MiB/s        0       7  █' + 7 * ' ',
        'P99     1.00us   800us  █▇▁▁   ▄',
        24 * ' ' + 'a column is 1.00s'])
    is_equal('ASCII', run('iotracer', 'stats', *options, env={**os.environ, 'LC_ALL': 'C'}).stdout.splitlines()[3:6], [
        'IOPS         0       8  #-._   #', 'MiB/s        0       7  #' + 7 * ' ', 'P99     1.00us   800us  #*__   -'])
    # 80 intervals are 40 columns, each of which has the larger of two: in the first seven events, then one
    text = stats('--interval=0.1', *options[1:]).stdout.splitlines()
    is_equal('joined', (text[3], text[6]), (
        'IOPS         0      70  █' + 4 * ' ' + '▅' + 4 * ' ' + '▂' + 8 * ' ' + '▁' + 15 * ' ' + '█' + 3 * ' ' + '▁',
        24 * ' ' + 'a column is 100ms, the largest of 2'))
    is_equal('without', [line for line in stats('t').stdout.splitlines() if 'a column' in line], [])
    # an interval of which the time has half: what is not in the time is in no column
    make('half', fs=[event('OPEN', S // 2, 5), event('OPEN', 2 * S, 5), event('OPEN', 2 * S + S // 4, 5), event('OPEN', 4 * S, 5)])
    text = stats('--interval=1', '--to=+1.5', 'half').stdout.splitlines()
    is_equal('half', text[2:4], ['           MIN     MAX  +0s to +1.5s', 'IOPS         0       4   █'])
    # times that cannot be: 2^63 ns, of which an interval has one
    make('wide', fs=[event('READ', time, 2**63 - 1, 2**62) for time in (0, S, 2 * S, 2**62, 2**63 - 1)])
    for options in ['--interval', '0.001'], ['--interval', '40000d']:
        assert max(map(len, stats(*options, 'wide').stdout.splitlines())) <= 80
        stats(*options, '-o', 'x.svg', 'wide')
        assert list(Picture('x.svg').marks('iops'))
    change('wide', killed=True)
    assert 'MAX' in stats('--interval', '0.001', '--partial', 'wide').stdout
    stats('--interval', '0.001', '--partial', '-o', 'x.svg', 'wide')
    assert Picture('x.svg').texts()
    make('moments', drop=[{'op': 0, 'time': 2 * S, 'latency': 0}])
    is_equal('no latency', [line.split()[0] for line in stats('--interval=100', 'moments').stdout.splitlines()[3:5]], ['IOPS', 'a'])


def series():
    """What JSON has of each interval; and a picture of that."""
    rng = random.Random(14)
    events = [event(rng.choice(('READ', 'WRITE', 'FSYNC')), rng.randrange(S // 2, 990 * S), int(rng.lognormvariate(11, 2)),
                    rng.randrange(MIB), pid=rng.randrange(9), sample=rng.choice((1, 1, 5))) for _ in range(3000)]
    events.append(event('READ', S // 2, 10, 1, sample=1))
    make('t', fs=events, drop=[{'op': 0, 'time': (2 + i) * S, 'latency': 0} for i in range(9)])
    for options in ['-c', 'fs,drop'], ['-c', 'fs', '--by', 'process', '--top', '1']:
        fs, *others = json.loads(stats('--interval', '7', '-f', 'json', *options, 't').stdout)['categories']
        for point in fs['intervals']:
            inside = [e for e in events if (e['time'] - S) // (7 * S) * 7 == point['since_s']]
            values = sorted(e['latency'] for e in inside for _ in range(e['sample']))
            moved = sum(e['result'] * e['sample'] for e in inside if e['op'] in (0, 1))
            seconds = max(min(7, 999 - point['since_s']), 0) if point['since_s'] >= 0 else None
            rate = shown(len(values) / seconds) if seconds else None
            is_equal('point', point, {'since_s': point['since_s'], 'count': len(values), 'bytes': moved, 'iops': rate, 'mib_per_s':
                                      shown(moved / MIB / seconds) if seconds else None,
                                      'latency_p99_ns': nearest_rank(values, 9900)})
        is_equal('all', sum(p['count'] for p in fs['intervals']), sum(e['sample'] for e in events))
        is_equal('output', stats('--interval', '7', '-o', 'x.svg', *options, 't').stdout, '')
        picture = Picture('x.svg')
        inside = [p for p in fs['intervals'] if p['since_s'] >= 0]
        assert 0 < len(inside) < len(fs['intervals']), fs['intervals'][:2]
        drops = [point for other in others for point in other['intervals']]
        for name, of, digits in ('iops', [*inside, *drops], 6), ('mib-per-s', inside, 6), ('latency-p99-ns', inside, 0):
            marks = list(picture.marks(name))
            is_equal(name, [(float(m['since-s']), m[name]) for m in marks],
                     [(p['since_s'], f"{p[name.replace('-', '_')]:.{digits}f}") for p in of])
            # the largest is the highest
            top = min(marks[:len(inside)], key=lambda m: m['y'])
            is_equal('top', float(top[name]), max(float(m[name]) for m in marks[:len(inside)]))
        assert any('sampled' in text for text in picture.texts()), picture.texts()


def selected():
    rng = random.Random(5)
    make('t', [f'/srv/d{i % 3}/f{i}' for i in range(59)], fs=list(any_events(rng, 'fs', 2000)))
    for options in (('--filter', 'path=/srv/d1'), ('--filter', 'op=read,fsync min_latency=20us'),
                    ('--from', '+1.5', '--to', '+2'), ('--from', '2017-07-14T02:40:02', '--filter', 'comm=proc2')):
        expected = exported('t', 'fs', *options)
        found = rows(*options, 't')
        assert expected, options
        is_equal(str(options), [sum(n) for n in zip(*numbers(found, 'count', 'latency_total_ns'))],
                 [len(expected), sum(int(row['latency_ns']) for row in expected)])
    few()
    # from 10 s on, four seconds
    row, = rows('--from', '+9', '--to', '+13', 'few')
    is_equal('rates', (row['op'], row['count'], row['iops']), ('READ', '4', '1.000'))
    make('large', fs=[event('READ', 2 * S, 5, 3 * MIB)])
    row, = rows('--from', '+0', '--to', '+2', 'large')
    is_equal('rates', (row['iops'], row['mib_per_s']), ('0.500', '1.500'))
    is_equal('nothing', stats('--filter', 'pid=4242', 'few').stdout, 'fs: 0 events in 999s, 0 IOPS\n')


def missing():
    events = [event('READ', (2 + i) * S, 5, 1) for i in range(6)]
    events[5].update(cpu=1, gap=5)  # the first of its CPU that was kept
    make('t', fs=events)
    change('t', missed=7)
    is_equal('CSV', numbers(rows('t'), 'count', 'lost', 'missed', 'unreadable'), [(6, 5, 7, 0)])
    done = stats('t')
    is_equal('notes', done.stdout.splitlines()[-2:], ["lost 5: events overwritten or dropped before they were read",
                                                     "missed 7: calls that the kernel's hooks missed"])
    is_equal('once', done.stderr, '')
    # two frames more were recorded, metadata.json says, than there are
    change('t', events=16)
    done = stats('t', status=1)
    assert 'unreadable 10: events that are damaged or missing in the trace' in done.stdout, done.stdout
    assert 't: is incomplete, so the exit status is 1' in done.stderr, done.stderr
    stats('--partial', 't')
    category, = json.loads(stats('-f', 'json', '--partial', 't').stdout)['categories']
    is_equal('JSON', [category[k] for k in ('count', 'lost', 'missed', 'unreadable')], [6, 5, 7, 10])
    # a file that ends in the midst of its frame
    with open('t/fs.iot', 'r+b') as f:
        f.truncate(4096 + 100)
    done = stats('--partial', 't')
    assert done.stdout.startswith('fs: 0 events') and 'unreadable 16' in done.stdout, done.stdout
    make('whole', fs=events[:3])
    assert 'lost' not in stats('whole').stdout
    # the recorder was killed: from 1 s until the last event, of whatever process, ends at 4 s and 5 ns
    change('whole', killed=True)
    done = stats('--filter', 'pid=4242', 'whole', status=1)
    assert 'has no end: its recorder was killed' in done.stderr and '0 events in 3.00s' in done.stdout, done


def width():
    long = ['/' + 'directory/' * 30 + f'{i}.db' for i in range(3)] + ['/' + 'ü' * 100, '/' + 'x' * 78, '/' + 'x' * 79]
    most = 2**32 - 1
    make('t', long, fs=[event(op, (2 + i) * S, 10**15 * i, (-1) ** i * i * 10**14 if i % 5 else -1 - i, path=i % 7,
                              sample=most if i % 2 else 3, pid=2**31 + i, comm='a\\040name\\040of\\04015\\040c')
                        for i, op in enumerate(list(OPS) * 9)])
    wide = {(len(line), line) for by in ('op', 'file', 'directory,op', 'process,file', 'extension', 'cgroup,command')
            for line in stats('--by', by, '--errors', 't').stdout.splitlines() +
            stats('--by', by, '--interval', '0.25s', '--top', '0', 't').stdout.splitlines()}
    assert max(wide)[0] == 80, max(wide)
    text = stats('--by', 'file', 't').stdout
    assert '\n...' in text and 'directory/2.db\n' in text, text
    errors = [event('OPEN', (2 + i) * S, 5, -1 - i) for i in range(30)]
    make('errors', fs=errors)
    text = stats('--errors', 'errors').stdout
    is_equal('errors', len(re.findall(r'\bE[A-Z0-9]+ 1\b', text)), 30)
    assert max(map(len, text.splitlines())) <= 80, text


def names():
    make('t', ['/srv/a,"b"', '/x\\033[31m'], fs=[event('READ', 2 * S, 5, 1, comm='=cmd()', path=1),
                                                event('READ', 3 * S, 5, 1, comm='\\033[2J', path=2)])
    is_equal('commands', sorted(row['command'] for row in rows('--by', 'command', 't')), ['\\033[2J', '\\075cmd()'])
    is_equal('files', sorted(row['file'] for row in rows('--by', 'file', 't')), ['/srv/a,"b"', '/x\\033[31m'])
    for form in 'text', 'csv', 'json':
        assert '\033' not in stats('--by', 'command,file', '-f', form, 't').stdout


def mistakes():
    few()

    def one_line(status, part, *options):
        done = stats(*options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith('Try ')]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which trace')
    one_line(1, 'none', 'none')
    one_line(2, 'there is no key "opp"; the nearest is op', '--by', 'opp', 'few')
    one_line(2, 'only directory has a depth', '--by', 'file:2', 'few')
    one_line(2, 'only directory has a depth', '--by', 'directory:0', 'few')
    one_line(2, 'op is given twice', '--by', 'op,op', 'few')
    one_line(2, 'two keys at most', '--by', 'op,file,device', 'few')
    one_line(2, 'events of category fs have no connection', '--by', 'connection', '-c', 'fs', 'few')
    one_line(2, 'events of category fs have no host', '--by', 'host', '-c', 'fs', 'few')
    one_line(1, 'has no category block', '-c', 'block', 'few')
    one_line(2, 'there is no category "fss"', '-c', 'fss', 'few')
    one_line(2, 'fs twice', '-c', 'fs,fs', 'few')
    one_line(2, 'no category has an operation "OPENN"; the nearest is OPEN', '--filter', 'op=OPENN', 'few')
    one_line(2, 'there is no key "pat"', '--filter', 'pat=/', 'few')
    one_line(2, '--output makes a picture instead of --format=csv', '-o', 'x.svg', '-f', 'csv', '--interval', '5', 'few')
    one_line(2, '--interval', '-o', 'x.svg', 'few')
    one_line(2, '--interval=0', '--interval', '0', 'few')
    one_line(2, '--sort=size', '--sort', 'size', 'few')
    one_line(2, '--top=-1', '--top=-1', 'few')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
