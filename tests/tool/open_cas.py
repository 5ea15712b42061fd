# SPDX-License-Identifier: GPL-2.0
"""
What open_cas.bats runs. The trace lasts 999 s. The disks are sda and sdb; what is not said is 0.

Open-CAS's percentiles weigh each request by its value, so that its 99th is not that of requests. Ours are by
nearest rank, as elsewhere.
"""
import csv
import io
import json
import sys

from join import S, is_equal, run
from stats import event, make

US, MIB, CREATE, RENAME, UNLINK = 1000, 1024 * 1024, 5, 30, 29
PATHS = '/db/journal-1.log', '/db/journal-2.log', '/db/data.bin', '/home/a.txt', '/home/b.txt'
FUA = 1 << 9


def request(op, begin, latency, sector, size, **more):
    return {'op': op, 'time': begin * S, 'latency': latency * US, 'device_latency': latency * US, 'sector': sector,
            'requested': size, 'result': 0 if op in (2, 3) else size, 'device': 0x800001, 'partition': 1, 'disk': 'sda',
            'depth': 1, 'pid': 7, 'comm': 'fio', **more}


READ, WRITE, FLUSH, DISCARD = range(4)
REQUESTS = [
    request(READ, 10, 100, 2048, 4096, path=3, inode=3, offset=8192, file_size=1 << 20, depth=1),
    request(READ, 11, 300, 2056, 8192, path=3, inode=3, depth=2), request(READ, 12, 200, 2048, 4096, depth=4),
    request(READ, 13, 900, 9000, 4096, result=-5, depth=3),
    request(WRITE, 14, 50, 4096, 4096, path=1, inode=1, flags=FUA, hint=3, ioprio=0x4002),
    request(WRITE, 15, 70, 4096, 4096, path=1, inode=1), request(WRITE, 16, 10, 0, 65536, path=2, inode=2, device=0x800010,
                                                                disk='sdb', partition=0),
    request(FLUSH, 17, 1000, 0, 0), request(DISCARD, 18, 500, 4096, 4096),
]


def trace():
    make('t', PATHS, block=REQUESTS, fs=[
        event('OPEN', 20 * S, US, 3, path=3), {**event('OPEN', 21 * S, US, 4, path=4), 'op': CREATE},
        {**event('OPEN', 22 * S, US, 0, path=4, path2=5), 'op': RENAME}, {**event('OPEN', 23 * S, US, 0, path=5), 'op': UNLINK},
        *(event('WRITE', (24 + i) * S, US, 4096, path=1, inode=1, offset=0, kind=1) for i in range(2))])


def rows(command, *options):
    trace()
    text = run('iotracer', command, '-f', 'csv', *options, 't').stdout
    return list(csv.DictReader(io.StringIO(text, newline='')))


def columns(found, *names):
    return [tuple(row[name] for name in names) for row in found]


def stats(*options):
    return rows('stats', '-c', 'block', *options)


# --- the tests ----------------------------------------------------------------------

def list_io():
    found = rows('export', '--category', 'block')
    first, last = found[0], found[-1]
    is_equal('sector, length, operation', columns([first, last], 'sector', 'requested_bytes', 'op'),
             [('2048', '4096', 'READ'), ('4096', '4096', 'DISCARD')])
    is_equal('latency, queue depth', columns(found[:3], 'latency_ns', 'depth'),
             [('100000', '1'), ('300000', '2'), ('200000', '4')])
    is_equal('error', [row['result'] for row in found if row['result'].startswith('-')], ['-5'])
    is_equal('flags, hint', [(row['flags'], row['hint']) for row in found if row['flags'] and row['hint'] != '0'], [('FUA', '3')])
    is_equal('device, partition', columns([first, found[6]], 'device', 'disk', 'partition'),
             [('8:1', 'sda', '1'), ('8:16', 'sdb', '0')])


def list_file():
    first = rows('export', '--category', 'block')[0]
    is_equal('file', columns([first], 'inode', 'offset_bytes', 'file_size_bytes', 'path'),
             [('3', '8192', '1048576', '/db/data.bin')])
    # when a file was created is no field: its CREATE is an event, of which --from and --to select those of a time


def list_events():
    """Its MoveFrom and MoveTo are the two paths of a RENAME; its Access is an OPEN or a READ."""
    is_equal('events', columns(rows('export', '--category', 'fs')[:4], 'op', 'path', 'path2'), [
        ('OPEN', '/db/data.bin', ''), ('CREATE', '/home/a.txt', ''), ('RENAME', '/home/a.txt', '/home/b.txt'),
        ('UNLINK', '/home/b.txt', '')])


def list_raw():
    """Each event as it was recorded, in the order of the file: export sorts and joins nothing that it would leave out."""
    found = rows('export', '--category', 'block')
    is_equal('events', sorted(int(row['sector']) for row in found), sorted(r['sector'] for r in REQUESTS))


def statistics_rows():
    is_equal('rows', sorted(columns(stats('--by', 'device,op'), 'device', 'op', 'count')), [
        ('8:1', 'DISCARD', '1'), ('8:1', 'FLUSH', '1'), ('8:1', 'READ', '4'), ('8:1', 'WRITE', '2'), ('8:16', 'WRITE', '1')])
    is_equal('total', sorted(columns(stats('--by', 'device'), 'device', 'count', 'bytes')),
             [('8:1', '8', str(4096 * 6)), ('8:16', '1', '65536')])


def statistics_size():
    """Reads of 4 KiB, 8 KiB and 4 KiB; one failed. Of three, the second is the median."""
    read, = (row for row in stats('--by', 'device,op') if row['op'] == 'READ')
    is_equal('size', columns([read], 'bytes', 'size_avg_bytes', 'size_min_bytes', 'size_max_bytes', 'size_p50_bytes',
                             'size_p90_bytes', 'size_p99_bytes', 'size_p99_9_bytes', 'size_p99_99_bytes'),
             [('16384', '5461.333', '4096', '8192', '4096', '8192', '8192', '8192', '8192')])


def statistics_latency():
    """100, 300, 200 and 900 us."""
    read, = (row for row in stats('--by', 'device,op') if row['op'] == 'READ')
    is_equal('latency', columns([read], 'count', *(f'latency_{n}_ns' for n in (
        'total', 'avg', 'min', 'p50', 'p90', 'p99', 'p99_9', 'p99_99', 'max'))),
             [('4', '1500000', '375000.000', '100000', '200000', '900000', '900000', '900000', '900000', '900000')])


def statistics_rates():
    """Between --from and --to is one second with two reads; the whole trace lasts 999 s."""
    row, = stats('--filter', 'op=READ', '--from', '+9', '--to', '+11')
    is_equal('rates', columns([row], 'iops', 'mib_per_s'), [('1.000', f'{(4096 + 8192) / 2 / MIB:.3f}')])
    is_equal('errors', [row['errors'] for row in stats() if row['op'] == 'READ'], ['1'])
    category, = json.loads(run('iotracer', 'stats', '-c', 'block', '-f', 'json', 't').stdout)['categories']
    is_equal('duration', category['duration_s'], 999.0)


def statistics_workset():
    """Reads touch 4K at 1M twice, and the 8K behind it: 3 blocks of 4 KiB, where Open-CAS counts sectors."""
    read, = (row for row in stats('--working-set') if row['op'] == 'READ')
    is_equal('working set', read['working_set_bytes'], str(3 * 4096))


def statistics_fs():
    found = rows('stats', '-c', 'block', '--by', 'directory', '--working-set')
    by = {row['directory']: row for row in found}
    is_equal('directory', columns([by['/db']], 'count', 'working_set_bytes'), [('5', str(4096 * (1 + 2 + 1 + 16)))])
    by = {row['extension']: row for row in rows('stats', '-c', 'block', '--by', 'extension', '--working-set')}
    # of the two logs 4 KiB were written twice and 64 KiB once: 18 blocks of 17
    is_equal('extension', columns([by['.log']], 'count', 'bytes', 'written_set_bytes', 'write_invalidation_factor'),
             [('3', str(4096 * 18), str(4096 * 17), f'{18 / 17:.3f}')])
    # files whose names begin alike are selected by a pattern
    found = rows('stats', '-c', 'block', '--filter', 'path=/db/journal*')
    is_equal('prefix', columns(found, 'op', 'count', 'bytes'), [('WRITE', '3', str(4096 * 18))])


def buckets(of, *options):
    found = rows('histogram', '-c', 'block', '--of', of, *options)

    def bound(row, end):
        return next(v for k, v in row.items() if k.startswith(end))
    return [(bound(row, 'from_'), bound(row, 'to_'), row['count']) for row in found]


def histogram_latency():
    of_reads = '--filter', 'op=READ'
    is_equal('bucket size', buckets('latency', '--bucket', '200us', *of_reads),
             [('0', '200000', '1'), ('200000', '400000', '2'), ('800000', '1000000', '1')])
    is_equal('subrange', buckets('latency', '--bucket', '100us', '--range', '200us..400us', *of_reads), [
        ('', '200000', '1'), ('200000', '300000', '1'), ('300000', '400000', '1'), ('400000', '', '1')])
    is_equal('by device and operation', sorted({(row['device'], row['op']) for row in rows(
        'histogram', '-c', 'block', '--of', 'latency', '--by', 'device,op')}), [
            ('8:1', 'DISCARD'), ('8:1', 'FLUSH'), ('8:1', 'READ'), ('8:1', 'WRITE'), ('8:16', 'WRITE')])


def histogram_size():
    is_equal('sizes', buckets('size', '--bucket', '4K', '--filter', 'op=READ,WRITE'),
             [('4096', '8192', '4'), ('8192', '12288', '1'), ('65536', '69632', '1')])


def histogram_depth():
    is_equal('depths', buckets('queue-depth', '--bucket', '1', '--filter', 'op=READ'),
             [('1', '2', '1'), ('2', '3', '1'), ('3', '4', '1'), ('4', '5', '1')])


def histogram_lba():
    is_equal('bucket size', buckets('lba', '--bucket', '2048', '--filter', 'op=READ'), [('2048', '4096', '3'), ('8192', '10240', '1')])
    is_equal('subrange', buckets('lba', '--bucket', '8', '--range', '2048..4096', '--filter', 'op=READ'),
             [('2048', '2056', '2'), ('2056', '2064', '1'), ('4096', '', '1')])


def lru():
    """Blocks of reads and writes of sda: 256, 257 and 258, 256 again, 512 twice."""
    found = rows('cache-sim', '-c', 'block', '--policy', 'lru', '--size', '4K,8K,12K', '--filter', 'op=READ,WRITE dev=8:1')
    is_equal('hits', columns(found, 'cache_bytes', 'accesses', 'hits'), [('4096', '6', '1'), ('8192', '6', '1'), ('12288', '6', '2')])


def distance():
    """The second read of block 256 comes after 257 and 258; the second write of 512 at once."""
    row = rows('profile', '-c', 'block', '--by', 'device', '--reuse', '--filter', 'dev=8:1')[0]
    is_equal('distance', columns([row], 'reuse_accesses', 'reuse_blocks', 'reuse_distance_p50_blocks', 'reuse_distance_max_blocks'),
             [('6', '4', '1', '3')])


def devices():
    is_equal('devices', sorted({(row['device'], row['disk']) for row in rows('export', '--category', 'block')}),
             [('8:1', 'sda'), ('8:16', 'sdb')])
    # model and size of a disk are in the snapshots that record --snapshots keeps (snapshot.bats)


def classes():
    trace()
    make('t', block=[{**REQUESTS[0], 'class': n} for n in (1, 1, 2)])
    text = run('iotracer', 'stats', '--by', 'class', '-f', 'csv', 't').stdout
    found = list(csv.DictReader(io.StringIO(text)))
    is_equal('classes', [row['count'] for row in found], ['2', '1'])


def formats():
    of_csv = stats()
    of_json = json.loads(run('iotracer', 'stats', '-c', 'block', '-f', 'json', 't').stdout)['categories'][0]['rows']
    is_equal('figures', [(row['op'], str(row['count']), str(row['bytes'])) for row in of_json],
             columns(of_csv, 'op', 'count', 'bytes'))


if __name__ == '__main__':
    globals()[sys.argv[1]]()
