# SPDX-License-Identifier: GPL-2.0
"""
What frames.bats runs: each frame of a trace says what its records have, and a reader skips those that have
nothing it is asked for.
"""
import json
import shutil
import struct
import sys

from join import S, is_equal, run, trace
from lib.trace_file import ANYTHING, FRAME, crc32c, seal_metadata, unzstd

FRAMES = 6
PER_FRAME = 4000    # records of fs in a frame of 1 MiB, or some more
NR = FRAMES * PER_FRAME
OPS = {'READ': 0, 'WRITE': 1, 'OPEN': 4, 'FSYNC': 9}
LEFT_OUT = 2**64 - 1, 0


def make(name, compress='never'):
    """Events of fs whose device, inode, path and operation are other ones in each part of the time."""
    events = []
    for i in range(NR):
        part = i // PER_FRAME
        events.append({'op': list(OPS.values())[part % 4], 'time': 2 * S + i * 1000, 'latency': 700 + i % 50,
                       'device': (8 << 20) + part, 'inode': 1000 * (part + 1) + i % 10, 'path': 1 + part,
                       'path2': 10 if part == 3 else 0, 'result': 10, 'pid': 7, 'tid': 7})
    trace(name, {'fs': events}, [f'/d/{i}/f' for i in range(FRAMES)] + ['/a', '/b', '/c', '/second'], 100, None)
    if compress != 'never':
        run('iotracer', 'record', f'--compress={compress}', '-o', name + '2', '-c', 'fs', '--', 'true')


def frames(name):
    """(place, header, index, content) of each frame of fs."""
    with open(name + '/fs.iot', 'rb') as f:
        data = f.read()
    at = 4096
    while at < len(data):
        head = data[at:at + FRAME]
        encoding, stored, size = struct.unpack_from('<III', head, 4)
        content = data[at + FRAME:at + FRAME + stored]
        yield at, head, struct.unpack_from('<10Q', head, 40), unzstd(content, size) if encoding else content
        at += -(-(FRAME + stored) // 4096) * 4096


def schema(name):
    with open(name + '/schema.json', encoding='utf-8') as f:
        event, = (e for e in json.load(f)['events'] if e['name'] == 'fs')
    return event


def records(content, event):
    """The fields of each record, by name."""
    fields = {f['name']: (f['offset'], {8: '<Q', 4: '<I', 2: '<H', 1: '<B'}.get(f['size'])) for f in event['fields']}
    at = 0
    while at < len(content) and struct.unpack_from('<I', content, at)[0] == 0x4b4c4249:
        count, = struct.unpack_from('<I', content, at + 12)
        at += 32
        for _ in range(count):
            yield {k: struct.unpack_from(code, content, at + offset)[0] for k, (offset, code) in fields.items() if code}
            at += event['size']


def index_of(content, event):
    """What the index of a frame has to be, without what is lost."""
    found = list(records(content, event))

    def values(*names):
        some = [r[name] for r in found for name in names if r[name]]
        return (min(some), max(some)) if some else LEFT_OUT
    time = min(r['time'] for r in found), max(r['time'] + r['latency'] for r in found)
    ops = sum(1 << op for op in {r['op'] for r in found})
    return *time, *values('device'), *values('inode'), *values('path', 'path2'), ops


def union(indexes):
    """The index of several frames together."""
    columns = list(zip(*indexes))
    ranges = [f(column) for f, column in zip((min, max) * 4, columns)]
    ops = 0
    for some in columns[8]:
        ops |= some
    return *ranges, ops


def says_what_it_has():
    """Of each frame; those that record has compressed in the end say it of the same events."""
    make('t', compress='end')
    event = schema('t')
    indexes = []
    for _, _, index, content in frames('t'):
        is_equal('index', index[:9], index_of(content, event))
        indexes.append(index)
    assert len(indexes) >= 4, indexes
    is_equal('compressed', union(index for _, _, index, _ in frames('t2')), union(indexes))


def numbers_of_digits():
    """Numbers around each power of ten, in a column where each is another and in one where they repeat."""
    numbers = [n for power in range(20) for n in (10**power - 1, 10**power, 10**power + 1)] + [2**63, 2**64 - 1]
    events = [{'op': 0, 'time': 2 * S + i, 'latency': 1, 'inode': n, 'address': numbers[i // 2]}
              for i, n in enumerate(numbers)]
    trace('t', {'fs': events}, [], 100, None)
    rows = [line.split(',') for line in run('iotracer', 'export', 't').stdout.splitlines()]
    place = rows[0].index('inode'), rows[0].index('address')
    is_equal('inode', [int(row[place[0]]) for row in rows[1:]], numbers)
    is_equal('address', [int(row[place[1]] or '0', 16) for row in rows[1:]],
             [numbers[i // 2] for i in range(len(numbers))])


def blocks_of_any_length():
    """What is compressed is what it was: blocks of few and of many events, with other bytes in each place."""
    for count in [*range(1, 20), 31, 32, 33, 255, 256, 257, 300, 515]:
        events = [{'op': i % 3, 'time': 2 * S + i * i, 'latency': i * 7919 % 1000, 'inode': i * 0x9e3779b97f4a7c15 % 2**64,
                   'offset': i * 0x123456789abcdef % 2**63, 'pid': i * 31337 % 2**22, 'tid': i, 'result': -(i % 9)}
                  for i in range(count)]
        trace('t', {'fs': events}, [], 100, None)
        shutil.rmtree('t2', ignore_errors=True)
        run('iotracer', 'record', '--compress=now', '-o', 't2', '-c', 'fs', '--', 'true')
        assert any(struct.unpack_from('<I', head, 4)[0] == 2 for _, head, _, _ in frames('t2')) or count < 20, count
        is_equal(count, *([line.split(',')[1:] for line in run('iotracer', 'export', name).stdout.splitlines()]
                          for name in ('t', 't2')))


def forget_indexes(name, to):
    """Copy a trace: its frames may have anything, so that each is read."""
    shutil.copytree(name, to)
    with open(to + '/fs.iot', 'r+b') as f:
        for at, head, _, _ in frames(name):
            head = head[:40] + ANYTHING + head[120:124]
            f.seek(at)
            f.write(head + struct.pack('<I', crc32c(head)))


QUESTIONS = (
    [], ['--filter', 'op=OPEN'], ['--filter', 'op=fsync,WRITE'], ['--filter', 'dev=8:2'], ['--filter', 'dev=8:1,8:5'],
    ['--filter', 'inode=4004'], ['--filter', 'inode=0'], ['--filter', 'path=/d/4'], ['--filter', 'path=/second'],
    ['--filter', 'path=*/2/?'], ['--filter', 'path=/nowhere'], ['--filter', 'dev=8:2 op=OPEN'],
    ['--filter', 'dev=8:2 op=WRITE'], ['--filter', 'pid=8'], ['--from', '+1.004', '--to', '+1.0080005'],
    ['--from', '+1.019'], ['--to', '+1.000001'], ['--from', '+500'], ['--to', '+0.5'])


def answers_are_the_same():
    make('t')
    forget_indexes('t', 'all')
    for question in QUESTIONS:
        answers = [run('iotracer', 'export', *question, name).stdout for name in ('t', 'all')]
        is_equal(question, *answers)
        answers = [run('iotracer', 'stats', '-f', 'csv', '--by', 'file', *question, name).stdout for name in ('t', 'all')]
        is_equal(question, *answers)


def what_is_not_wanted_is_not_read():
    """Damage in a frame is no matter for a question that skips it."""
    make('t')
    places = [at for at, _, _, _ in frames('t')]
    with open('t/fs.iot', 'r+b') as f:
        f.seek(places[2] + FRAME + 5000)
        f.write(b'damage')
    event = schema('t')
    whole = list(frames('t'))
    first = {r['inode'] for r in records(whole[0][3], event)}
    third = {r['inode'] for r in records(whole[2][3], event)}
    only = min(first - third)
    for command in 'export', 'stats':
        assert 'is damaged' in run('iotracer', command, 't', status=1).stderr
        answer = run('iotracer', command, '--filter', f'inode={only}', 't')
        is_equal('no damage is seen', answer.stderr, '')


def losses_are_counted():
    """Events that were lost before a frame that is skipped are among those that were lost."""
    make('t')
    change_gap('t')
    counts = [json.loads(run('iotracer', 'stats', '-f', 'json', *question, 't').stdout)['categories'][0]['lost']
              for question in ([], ['--filter', 'inode=1'], ['--to', '+1.0001'])]
    is_equal('lost', counts, [5, 5, 5])


def change_gap(name):
    """The third frame's first block says that 5 events were lost before it."""
    at, head, index, content = list(frames(name))[2]
    content = bytearray(content)
    struct.pack_into('<Q', content, 24, struct.unpack_from('<Q', content, 24)[0] + 5)
    head = head[:40] + struct.pack('<10Q', *index[:9], 5) + struct.pack('<I', crc32c(content))
    with open(name + '/fs.iot', 'r+b') as f:
        f.seek(at)
        f.write(head + struct.pack('<I', crc32c(head)) + content)
    file = name + '/metadata.json'
    with open(file, encoding='utf-8') as f:
        metadata = json.load(f)
    metadata['categories'][0].update(lost=5, seq_by_cpu={})
    with open(file, 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata(file)


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
