# SPDX-License-Identifier: GPL-2.0
"""
What export_formats.bats runs: iotracer export of traces whose events are known, to the formats of other
programs. A trace begins at 1 s of the monotonic clock, which is BOOT + 1 s of the time of day.
"""
import collections
import os
import random
import re
import sqlite3
import subprocess
import sys

from join import REALTIME, S, US, is_equal, run
from stats import change, exported, make
from lib.trace_file import block, one_frame

FS = {'READ': 0, 'WRITE': 1, 'DIO_READ': 2, 'DIO_WRITE': 3, 'OPEN': 4, 'CREATE': 5, 'CLOSE': 6, 'RELEASE': 7, 'FLUSH': 8,
      'FSYNC': 9, 'FDATASYNC': 10, 'GETATTR': 20}
BLOCK = {'READ': 0, 'WRITE': 1, 'FLUSH': 2, 'DISCARD': 3, 'WRITE_ZEROES': 5, 'ZONE_APPEND': 6, 'DRV_IN': 12}
SYNC, META, FUA, PREFLUSH, RAHEAD, EARLY, BIO = (1 << n for n in (3, 4, 9, 10, 11, 25, 26))
FILE, DEVICE, PIPE = 1, 6, 4
VDA, VDB = 254 << 20, 254 << 20 | 16
TICKS = 116444736000000000


def call(op, time, path=1, offset=0, size=0, latency=1000, **more):
    """An event of category fs, @time after 2 s."""
    return {'op': FS[op], 'time': 2 * S + time, 'latency': latency, 'path': path, 'offset': offset, 'requested': size,
            'result': size, 'kind': FILE, 'pid': 7, 'tid': 7, 'comm': 'fio', **more}


def request(op, time, sector=0, size=4096, queue=0, service=1000, **more):
    """An event of category block, @time after 2 s."""
    return {'op': BLOCK[op], 'time': 2 * S + time, 'latency': queue + service, 'queue_latency': queue,
            'device_latency': service, 'sector': sector, 'requested': size, 'result': size, 'device': VDA, 'disk': 'vda',
            'pid': 7, 'tid': 7, 'comm': 'fio', **more}


def export(form, name, *options, status=0):
    return run('iotracer', 'export', '-f', form, *options, name, status=status)


def read(name):
    with open(name, encoding='utf-8') as f:
        return f.read()


# --- fio ----------------------------------------------------------------------------

def fio_by_hand():
    """The read ends after what follows it, and begins before; the second file is opened when it is used."""
    make('t', ['/srv/a/one.db', '/two'], fs=[
        call('OPEN', 0, result=3), call('READ', 10 * US, size=4096, latency=900 * US, requested=8192),
        call('DIO_WRITE', 20 * US, 2, 100, 10), call('FSYNC', 30 * US, 2), call('OPEN', 35 * US, result=4),
        call('FDATASYNC', 40 * US), call('CLOSE', 41 * US), call('RELEASE', 45 * US), call('WRITE', 47 * US, 1, 9, 1),
        call('RELEASE', 50 * US), call('RELEASE', 60 * US, 2), call('RELEASE', 61 * US, 2), call('READ', 70 * US, 2, 7, 5)])
    log = ['fio version 3 iolog', '1 srv!a!one.db add', '1 srv!a!one.db open', '11 srv!a!one.db read 0 4096',
           '21 two add', '21 two open', '21 two write 100 10', '31 two sync 0 0', '41 srv!a!one.db datasync 0 0',
           '48 srv!a!one.db write 9 1', '51 srv!a!one.db close', '61 two close', '71 two open', '71 two read 7 5']
    done = export('fio', 't')
    is_equal('messages', done.stderr, '')
    is_equal('on standard output', done.stdout.splitlines(), log)
    is_equal('with a directory', export('fio', 't', '-o', 'd').stdout, '')
    is_equal('log', read('d/trace.log').splitlines(), log)
    is_equal('prepare', read('d/prepare.log').splitlines(), ['fio version 3 iolog'] + [
        f'1 {name} {word}' for name, size in (('srv!a!one.db', 4096), ('two', 12))
        for word in ('add', 'open', f'write {size - 1} 1', 'close')])
    assert 'is there already' in export('fio', 't', '-o', 'd', status=1).stderr
    # nothing is read, so nothing is prepared
    export('fio', 't', '-o', 'e', '--filter', 'op=DIO_WRITE')
    is_equal('files', sorted(os.listdir('e')), ['trace.fio', 'trace.log'])
    assert 'prepare' not in read('e/trace.fio').replace('"', '')


CALLS = {'pread64': 'READ', 'pwrite64': 'WRITE', 'fsync': 'FSYNC', 'fdatasync': 'FDATASYNC'}


def replayed(directory):
    """What fio did, by process: the operation, the name of the file, the offset and the size."""
    run('strace', '-f', '-y', '-q', '-s', '0', '-o', '../calls', '-e', 'trace=' + ','.join(CALLS), 'fio', 'trace.fio',
        cwd=directory)
    found = collections.defaultdict(list)
    for line in read('calls').splitlines():
        line = re.match(r'(\d+) +(\w+)\(\d+<([^>]*)>(?:, [^,]*, (\d+), (\d+))?\) += (\d+)', line)
        if line and os.path.dirname(line[3]) == os.path.realpath(directory):
            if line[4]:
                is_equal('all of it', line[6], line[4])
            found[line[1]].append((CALLS[line[2]], os.path.basename(line[3]), int(line[5] or 0), int(line[4] or 0)))
    return list(found.values())


def fio_replays():
    """The latencies are such that operations do not end in the order in which they begin."""
    rng = random.Random(4)
    names = ['/a', '/b/c', '/b/d e', '/\u00e9']
    events = []
    for i in range(300):
        op = rng.choice(('READ', 'WRITE', 'DIO_READ', 'DIO_WRITE', 'FSYNC', 'FDATASYNC', 'OPEN', 'RELEASE'))
        size = rng.choice((1, 512, 4096, 70000)) if 'READ' in op or 'WRITE' in op else 0
        events.append(call(op, i * 20 * US, rng.randrange(1, 5), rng.randrange(1 << 20), size,
                           rng.choice((1, 100, 10000)) * US))
    make('t', [name.replace(' ', '\\040') for name in names], fs=events)
    export('fio', 't', '-o', 'd')
    prepare, replay = replayed('d')
    shown = [None, 'a', 'b!c', 'b!d%20e', '%C3%A9']
    kinds = {number: name.replace('DIO_', '') for name, number in FS.items()}
    expected = [(kinds[e['op']], shown[e['path']], e['offset'] if e['result'] else 0, e['result']) for e in events
                if kinds[e['op']] in CALLS.values()]
    is_equal('replayed', replay, expected)
    ends = collections.Counter()
    for op, name, offset, size in expected:
        if op == 'READ':
            ends[name] = max(ends[name], offset + size)
    is_equal('prepared', sorted(prepare), sorted(('WRITE', name, end - 1, 1) for name, end in ends.items()))


def fio_names():
    """Each path has another name, of at most 250 characters, without what ends a word."""
    long = '/' + 'x' * 200 + '/' + 'y' * 200
    names = ['/', '/.', '/..', '/-', '/a b', '/a!b', '/a/b', '/a%20b', long, long + 'z', '/x' + long, '/\\033[2J', '/a\\\\b',
             '/' + '\u20ac' * 80, '/...', '/--']
    make('t', [name.replace(' ', '\\040') for name in names],
         fs=[call('WRITE', i * US, i + 1, 0, 1) for i in range(len(names))])
    log = export('fio', 't').stdout.splitlines()[1:]
    words = [line.split() for line in log]
    added = [word[1] for word in words if word[2] == 'add']
    is_equal('names', len(set(added)), len(names))
    is_equal('short names', added[:8], ['%', '%.', '%..', '%-', 'a%20b', 'a%21b', 'a!b', 'a%2520b'])
    is_equal('last ones', added[-2:], ['...', '--'])
    for name in added:
        assert re.fullmatch(r'[!-~]{1,250}', name) and '/' not in name and name not in ('.', '..', '-'), name
    # one path that has two ids is one file, however long it is
    make('u', [long, '/a', long, '/a'], fs=[call('WRITE', i * US, i + 1, 0, 1) for i in range(4)])
    is_equal('files of two ids', export('fio', 'u').stdout.count(' add\n'), 2)
    export('fio', 't', '-o', 'd')
    replay, = replayed('d')
    is_equal('replayed', [name for _, name, _, _ in replay], added)


def fio_block():
    rng = random.Random(5)
    events = [request(rng.choice(('READ', 'WRITE')), i * 30 * US, rng.randrange(1 << 12), 512 * rng.randrange(1, 64),
                      service=rng.choice((10, 5000)) * US, depth=rng.randrange(1, 9)) for i in range(200)]
    events.append(request('READ', 200 * 30 * US, 0, 512, depth=9))
    make('t', block=events)
    export('fio', 't', '-o', 'd')
    job = read('d/trace.fio')
    assert 'iodepth=9\n' in job and 'ioengine=libaio\n' in job and 'direct=1\n' in job, job
    with open('d/trace.fio', 'w', encoding='ascii') as f:
        f.write(job.replace('direct=1', 'direct=0'))  # the filesystem may not have it
    run('strace', '-f', '-q', '-v', '-s', '0', '-o', '../calls', '-e', 'trace=io_submit', 'fio', 'trace.fio', cwd='d')
    found = [(op, int(size), int(offset)) for op, size, offset in re.findall(
        r'aio_lio_opcode=IOCB_CMD_P(READ|WRITE).*?aio_nbytes=(\d+), aio_offset=(\d+)', read('calls'))]
    kinds = {number: name for name, number in BLOCK.items()}
    is_equal('replayed', found, [(kinds[e['op']], e['requested'], 512 * e['sector']) for e in events])
    make('u', block=[request('DISCARD', 0, 8, 8192, device=VDB, disk='vdb'), request('FLUSH', US, size=0),
                     request('WRITE', 2 * US, 16, 512), request('WRITE', 3 * US, size=0, flags=PREFLUSH)])
    is_equal('log', export('fio', 'u').stdout.splitlines()[1:], [
        '1 vdb add', '1 vdb open', '1 vdb trim 4096 8192', '2 vda add', '2 vda open', '2 vda sync 0 0', '3 vda write 8192 512', '4 vda sync 0 0'])


# --- blktrace -----------------------------------------------------------------------

def blkparse(name, *options):
    """The lines of a disk, without blkparse's table."""
    done = run('blkparse', '-i', name, '-q', '-f', r'%M,%m %c %z %T.%t %p %a %d %S %N %C %e\n', *options, cwd='d',
               env={**os.environ, 'TZ': 'UTC'})
    is_equal('complaints', [line for line in done.stderr.splitlines() if 'added' not in line], [])
    return [' '.join(line.split()) for line in done.stdout.splitlines() if 'Input file' not in line]


def blkparse_steps():
    """Of requests that waited, that did not, of a partition, of bios and of one made before the trace."""
    make('t', block=[
        request('READ', 0, 8, queue=100 * US, service=200 * US, submit_cpu=0, cpu=1),
        request('WRITE', 1000 * US, 800, 8192, service=50 * US, device=VDA + 1, partition=1, flags=SYNC | FUA, pid=8,
                comm='dd'),
        request('FLUSH', 2000 * US, size=0, service=10 * US, flags=PREFLUSH),
        request('DISCARD', 3000 * US, 64, 65536, service=10 * US, flags=SYNC, result=-5),
        request('READ', 4000 * US, 16, 1024, service=5 * US, flags=BIO | RAHEAD | META),
        request('READ', 5000 * US, 24, 512, service=0, flags=EARLY)])
    export('blktrace', 't', '-o', 'd')
    is_equal('files', sorted(os.listdir('d')), ['vda.blktrace.0', 'vda.blktrace.1'])
    is_equal('steps', blkparse('vda'), [
        '254,0 0 02:40:01.000000 0.000000000 7 Q R 8 4096 fio 0', '254,0 0 02:40:01.000000 0.000000000 7 G R 8 4096 fio 0',
        '254,0 0 02:40:01.000000 0.000000000 7 I R 8 4096 fio 0', '254,0 0 02:40:01.000100 0.000100000 7 D R 8 4096 fio 0',
        '254,0 1 02:40:01.000300 0.000300000 7 C R 8 4096 fio 0',
        '254,0 0 02:40:01.001000 0.001000000 8 Q WFS 800 8192 dd 0', '254,0 0 02:40:01.001000 0.001000000 8 G WFS 800 8192 dd 0',
        '254,0 0 02:40:01.001000 0.001000000 8 D WFS 800 8192 dd 0', '254,0 0 02:40:01.001050 0.001050000 8 C WFS 800 8192 dd 0',
        '254,0 0 02:40:01.002000 0.002000000 7 Q FN 0 0 fio 0', '254,0 0 02:40:01.002000 0.002000000 7 G FN 0 0 fio 0',
        '254,0 0 02:40:01.002000 0.002000000 7 D FN 0 0 fio 0', '254,0 0 02:40:01.002010 0.002010000 7 C FN 0 0 fio 0',
        '254,0 0 02:40:01.003000 0.003000000 7 Q DS 64 65536 fio 0', '254,0 0 02:40:01.003000 0.003000000 7 G DS 64 65536 fio 0',
        '254,0 0 02:40:01.003000 0.003000000 7 D DS 64 65536 fio 0',
        f'254,0 0 02:40:01.003010 0.003010000 7 C DS 64 65536 fio {2**16 - 5}',
        '254,0 0 02:40:01.004000 0.004000000 7 Q RAM 16 1024 fio 0', '254,0 0 02:40:01.004005 0.004005000 7 C RAM 16 1024 fio 0',
        '254,0 0 02:40:01.005000 0.005000000 7 C R 24 512 fio 0'])


def totals(name):
    """blkparse's totals of a disk: the counts and KiB of "Reads Queued" and so on."""
    text = run('blkparse', '-i', name, cwd='d').stdout
    return {word: (int(count), int(size)) for word, count, size in re.findall(
        r'(\w+ \w+): +(\d+), +(\d+)KiB', text[text.index('Total ('):])}


def blkparse_sums():
    rng = random.Random(6)
    disks = {'vda': VDA, 'vdb': VDB}
    events = [request(rng.choice(('READ', 'WRITE')), i * US, rng.randrange(1 << 30), 1024 * rng.randrange(1, 512),
                      rng.choice((0, 0, 1000, 10**8)), rng.choice((10, 10**6, 10**9)), disk=disk, device=disks[disk],
                      submit_cpu=rng.randrange(3), cpu=rng.randrange(4), pid=rng.randrange(1, 9))
              for i in range(4000) for disk in (rng.choice(list(disks)),)]
    make('t', block=events)
    export('blktrace', 't', '-o', 'd')
    is_equal('files', sorted(os.listdir('d')), [f'{disk}.blktrace.{cpu}' for disk in disks for cpu in range(4)])
    for disk in disks:
        found = totals(disk)
        for op, queued, dispatched, completed in (
                ('READ', 'Reads Queued', 'Read Dispatches', 'Reads Completed'),
                ('WRITE', 'Writes Queued', 'Write Dispatches', 'Writes Completed')):
            sizes = [e['requested'] // 1024 for e in events if e['disk'] == disk and e['op'] == BLOCK[op]]
            for word in queued, dispatched, completed:
                is_equal(f'{disk}: {word}', found[word], (len(sizes), sum(sizes)))
        steps = blkparse(disk)
        times = [float(line.split()[3]) for line in steps]
        is_equal('times', times, sorted(times))
        mine = [e for e in events if e['disk'] == disk]
        is_equal('steps', collections.Counter(line.split()[5] for line in steps), {
            'Q': len(mine), 'G': len(mine), 'I': sum(e['queue_latency'] > 0 for e in mine), 'D': len(mine), 'C': len(mine)})


def btt_latencies():
    """btt's averages, to a nanosecond; no two requests are of one sector, by which it finds the steps of one."""
    rng = random.Random(7)
    events = [request(rng.choice(('READ', 'WRITE')), i * 100 * US, i * 64, 4096, rng.choice((0, 0, 5000, 40000)),
                      rng.randrange(10000, 90000), submit_cpu=i % 2, cpu=i % 3) for i in range(500)]
    make('t', block=events)
    export('blktrace', 't', '-o', 'd')
    run('blkparse', '-i', 'vda', '-q', '-O', '-d', 'all.bin', cwd='d')
    text = run('btt', '-i', 'all.bin', cwd='d').stdout
    text = text[text.index('All Devices'):text.index('Device Overhead')]
    found = {word: [float(n) for n in numbers] + [int(count)] for word, *numbers, count in re.findall(
        r'^(\w+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+)$', text, re.M)}
    queues = [e['queue_latency'] for e in events if e['queue_latency']]
    for word, values in (('D2C', [e['device_latency'] for e in events]), ('I2D', queues),
                         ('Q2Cdm', [e['latency'] for e in events])):
        least, average, most, count = found[word]
        is_equal(f'{word} count', count, len(values))
        is_equal(f'{word} range', (least, most), (min(values) / 1e9, max(values) / 1e9))
        assert abs(average * 1e9 - sum(values) / len(values)) <= 1, (word, average, sum(values) / len(values))
    run('iowatcher', '-t', 'vda', '-o', 'picture.svg', cwd='d')
    assert '</svg>' in read('d/picture.svg')


def blktrace_odd():
    """The number of a disk is known from a record of all of it, or follows from that of a partition."""
    make('t', block=[
        request('READ', 0, 8, device=(8 << 20) + 17, partition=1, disk='sdb'),
        request('READ', 1 * US, 8, device=(259 << 20) + 7, partition=2, disk='nvme0n1'),
        request('READ', 2 * US, 8, device=(259 << 20) + 3, disk='nvme0n1'),
        request('READ', 3 * US, 8, device=(259 << 20) + 9, partition=1, disk='nvme1n1'),
        request('READ', 4 * US, 8, device=VDA, disk='../x/y'), request('READ', 5 * US, 8, device=VDA, disk='.x'),
        request('READ', 6 * US, 8, device=VDA, disk='cciss!c0d0'),
        request('DISCARD', 7 * US, 8, 1 << 33, device=VDA, disk='vda'),
        request('READ', 8 * US, 8, device=VDA, disk='')])
    done = export('blktrace', 't', '-o', 'd')
    names = 'sdb', 'nvme0n1', 'nvme1n1', '_._x_y', '_x', 'cciss!c0d0', 'vda', '_'
    is_equal('files', sorted(os.listdir('d')), sorted(f'{name}.blktrace.0' for name in names))
    is_equal('devices', [blkparse(name)[0].split()[0] for name in names],
             ['8,16', '259,3', '259,9', '254,0', '254,0', '254,0', '254,0', '254,0'])
    is_equal('size', {line.split()[8] for line in blkparse('vda')}, {str(2**32 - 1)})
    assert 'a size of 4 GiB or more' in done.stderr
    done = export('blktrace', 't', '-o', 'e', '--filter', 'op=WRITE')
    assert 'no request was selected' in done.stderr
    is_equal('directory', os.path.exists('e'), False)


# --- msr ----------------------------------------------------------------------------

def msr_by_hand():
    make('t', block=[
        request('WRITE', 1000, 9, 4096, 700, 2345), request('READ', 0, 8, 512, 0, 10 * S, disk='sdb'),
        request('ZONE_APPEND', 2099, 1 << 33, 8192, 0, 99), request('FLUSH', 3000, size=0), request('READ', 4000, flags=EARLY),
        request('READ', 5000, result=-5), request('WRITE', 6000, size=0, flags=PREFLUSH)])
    change('t', host='web,1')
    done = export('msr', 't')
    begin = (REALTIME + S) // 100 + TICKS
    is_equal('lines', done.stdout.splitlines(), [
        f'{begin},"web,1",1,Read,4096,512,100000000', f'{begin + 10},"web,1",0,Write,4608,4096,30',
        f'{begin + 20},"web,1",0,Write,{1 << 42},8192,0'])
    is_equal('messages', [line.split(': ', 2)[2] for line in done.stderr.splitlines()], [
        'disk 0 is vda of "web,1"', 'disk 1 is sdb of "web,1"',
        'operations that --format=msr does not have are left out: FLUSH 1', '2 events are left out: they failed, or moved no data',
        '1 events are left out: they began before the trace'])
    is_equal('packed', subprocess.run(['gzip', '-d'], check=True, stdout=subprocess.PIPE, input=subprocess.run(
        ['iotracer', 'export', '-z', '-f', 'msr', 't'], check=True, stdout=subprocess.PIPE).stdout).stdout.decode(), done.stdout)
    export('msr', 't', '-o', 'd')
    is_equal('file', [read('d/block/' + name) for name in os.listdir('d/block')], [done.stdout])


def msr_merged():
    for name, size in ('one', 512), ('two', 1024):
        make(name, block=[request('READ', size, 8, size)])
        change(name, host='host-' + name)
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    is_equal('hosts', [line.split(',')[1:6] for line in export('msr', 'both').stdout.splitlines()], [
        ['host-one', '0', 'Read', '4096', '512'], ['host-two', '1', 'Read', '4096', '1024']])


# --- folded -------------------------------------------------------------------------

def folded_by_hand():
    """One path that has two ids is one stack; names cannot end a frame or a stack."""
    names = ['/srv/a/one.db', '/srv/a/one.db', '/', 'pipe:[7]', '/a;b/c\\040d 9']
    make('t', [name.replace(' ', '\\040') for name in names], fs=[
        call('READ', 0, 1, latency=100), call('READ', 1, 2, latency=23), call('WRITE', 2, 1, latency=5, sample=4),
        call('FSYNC', 3, 3, latency=7), call('READ', 4, 4, latency=8), call('READ', 5, 5, latency=9, comm='a;\\040b'),
        call('GETATTR', 6, 0, latency=10), call('GETATTR', 7, 77, latency=11), call('GETATTR', 8, 1, latency=0)],
        block=[request('WRITE', 0, service=50, path=1, comm='kworker', origin_comm='db'),
               request('READ', 1, queue=1000, service=60, path=1, comm='db'), request('READ', 2, flags=EARLY, path=1)])
    is_equal('fs', export('folded', 't', '--category', 'fs').stdout.splitlines(), [
        'a\\073\\040b;a\\073b;c\\040d\\0409;READ 9', 'fio;(none);GETATTR 10', 'fio;/;FSYNC 7', 'fio;?;GETATTR 11',
        'fio;pipe:[7];READ 8', 'fio;srv;a;one.db;READ 123', 'fio;srv;a;one.db;WRITE 20'])
    is_equal('block', export('folded', 't').stdout.splitlines(), ['db;srv;a;one.db;READ 60', 'db;srv;a;one.db;WRITE 50'])
    make('u', fs=[call('READ', i, 0, latency=2**64 - 10**10, sample=2**32 - 1) for i in range(2)])
    is_equal('too much', export('folded', 'u').stdout, f'fio;(none);READ {2**64 - 1}\n')


def folded_sums():
    rng = random.Random(8)
    names = [f'/d{i % 5}/e{i % 3}/f{i % 50}' for i in range(100)]
    make('t', names, fs=[call(rng.choice(list(FS)), i, rng.randrange(1, 101), latency=rng.randrange(10**6),
                              comm=f'p{rng.randrange(4)}') for i in range(4000)])
    base = sqlite3.connect(':memory:')
    base.execute('create table t (command text, path text, op text, ns integer)')
    base.executemany('insert into t values (?, ?, ?, ?)',
                     [(r['comm'], r['path'], r['op'], r['latency_ns']) for r in exported('t', 'fs')])
    expected = base.execute("select command || replace(path, '/', ';') || ';' || op as stack, sum(ns) from t"
                            ' group by stack order by stack').fetchall()
    found = [line.rsplit(' ', 1) for line in export('folded', 't').stdout.splitlines()]
    is_equal('sums', [(stack, int(ns)) for stack, ns in found], expected)


# --- all of them --------------------------------------------------------------------

def selected():
    """--filter, --from and --to select; --anonymize hashes as rows are hashed."""
    make('t', ['/srv/secret.db', '/srv/other'], fs=[call('READ', i * S, i % 2 + 1, i, 100, comm='private') for i in range(10)],
         block=[request('READ', i * S, i, comm='private', path=1) for i in range(10)])
    change('t', host='hidden')
    options = '--from', '+3', '--to', '+7', '--filter', 'path=/srv/other'
    is_equal('fio', [line.split()[3] for line in export('fio', 't', *options).stdout.splitlines() if ' read ' in line],
             ['3', '5'])
    is_equal('msr', len(export('msr', 't', '--to', '+7').stdout.splitlines()), 6)
    with open('key', 'w', encoding='ascii') as f:
        f.write('0123456789abcdef' * 2)
    hide = '--anonymize', '--key-file', 'key'
    row = exported('t', 'fs', *hide)[0]
    hidden = row['path'].strip('/').split('/')
    is_equal('fio', export('fio', 't', *hide).stdout.splitlines()[1], '1 {}!{} add'.format(*hidden))
    is_equal('folded', export('folded', 't', *hide, '--category', 'fs', '--filter', 'path=/srv/secret.db').stdout,
             '{};{};{};READ 5000\n'.format(row['comm'], *hidden))
    export('blktrace', 't', *hide, '-o', 'd')
    is_equal('blktrace', {line.split()[9] for line in blkparse('vda')}, {row['comm']})
    shown = export('msr', 't', *hide)
    host = shown.stdout.split(',')[1]
    assert re.fullmatch('[a-z2-7]{12}', host) and 'hidden' not in shown.stdout + shown.stderr, shown


def left_out():
    make('t', ['/a'], fs=[
        call('GETATTR', 0), call('GETATTR', 1), call('READ', 2, result=-5), call('READ', 3), call('READ', 4, 0, 0, 9),
        call('READ', 5, 1, 0, 9, kind=PIPE), call('READ', 6, 1, 0, 9, kind=DEVICE), call('READ', 7, 1, 2**63, 9),
        call('WRITE', 8, 1, 0, 2**32), call('WRITE', 9, 1, 0, 9, sample=8), call('CLOSE', 10)])
    done = export('fio', 't')
    is_equal('log', done.stdout.splitlines()[1:], ['1 a add', '1 a open', '1 a write 0 9'])
    is_equal('messages', [line.split(': ', 2)[2] for line in done.stderr.splitlines()], [
        'operations that --format=fio does not have are left out: GETATTR 2', '2 events are left out: they failed, or moved no data',
        '1 events are left out: they have a path that is not known', '2 events are left out: they are not of a regular file',
        '2 events are left out: they have a range that is too large',
        '1 events stand for several each, as the trace is sampled: --format=fio counts each as one'])
    assert 'sampled' not in export('folded', 't').stderr
    # what was lost is told as of rows
    change('t', missed=5, lost=3)
    told = [line for line in export('csv', 't').stderr.splitlines() if 'lost' in line or 'missed' in line]
    assert told and all(line in export('folded', 't').stderr.splitlines() for line in told), told


def mistakes():
    make('t', ['/a'], fs=[call('READ', 0, size=1)])
    make('b', block=[request('READ', 0)])

    def one_line(status, part, form, *options):
        done = export(form, *options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information.'))]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, '--format=fio is not for category net', 'fio', 't', '--category', 'net')
    one_line(2, '--format=msr is not for category fs', 'msr', 't', '--category', 'fs')
    one_line(1, 'has no category that --format=msr can be made of: record it with -c block', 'msr', 't')
    one_line(1, 'has no category that --format=blktrace', 'blktrace', 't', '-o', 'd')
    one_line(1, 'has no category fs', 'fio', 'b', '--category', 'fs')
    one_line(2, '--format=blktrace makes several files: say where (-o DIRECTORY)', 'blktrace', 'b')
    one_line(2, '--format=blktrace goes without --gzip: blkparse does not read it', 'blktrace', 'b', '-z', '-o', 'd')
    one_line(2, '--format=fio goes without --gzip', 'fio', 't', '-z')
    for form in 'fio', 'msr', 'folded':
        one_line(2, 'goes without --rotate', form, 't', '--rotate', '9')
        one_line(2, 'goes without --columns', form, 't', '--columns', 'io-tracer')
        one_line(2, 'goes without --per-category', form, 't', '--per-category')
        one_line(2, 'goes without --guest', form, 't', '--guest')
        one_line(2, '--below', form, 't', '--below', '/a')


def hostile():
    """Any bytes are records."""
    rng = random.Random(9)
    for category, forms in ('fs', ('fio', 'folded')), ('block', ('fio', 'blktrace', 'msr', 'folded')):
        make('t', ['/a', '/b'], **{category: [call('READ', 0, size=1) if category == 'fs' else request('READ', 0)]})
        os.rename(f't/{category}.iot', 't/fs.iot')
        for number in range(20):
            one_frame('t', lambda size: block(0, 2 if category == 'fs' else 4, 50, 0) + b''.join(
                any_record(rng, size, number, seq) for seq in range(50)), 50)
            os.rename('t/fs.iot', f't/{category}.iot')
            for form in forms:
                run('rm', '-rf', 'd')
                done = subprocess.run(['iotracer', 'export', '-f', form, '-o', 'd', 't'], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, check=False)
                assert done.returncode in (0, 1) and b'can be read' not in done.stderr, (form, done)
            os.rename(f't/{category}.iot', 't/fs.iot')


def any_record(rng, size, number, seq):
    """Random bytes, or all ones, or few of them, behind a seq that is right."""
    if number % 3 == 0:
        rest = rng.randbytes(size - 8)
    elif number % 3 == 1:
        rest = b'\xff' * (size - 8)
    else:
        rest = bytes(rng.choice((0, 0, 0, 1, 2, 255)) for _ in range(size - 8))
    return seq.to_bytes(8, 'little') + rest


if __name__ == '__main__':
    globals()[sys.argv[1]]()
