# SPDX-License-Identifier: GPL-2.0
"""
What guest_terms.bats compares. Usage: python3 guest_terms.py FUNCTION [ARGUMENT]...

The tool's rows in the guest's terms are compared with `qemu-img map`, which says for each range of
the guest's disk where it is in the file.
"""
import csv
import json
import os
import random
import subprocess
import sys


# Kinds that qemu-img has an offset for: it has that of subclusters without data, too.
ROOM = 'data', 'zero', 'unallocated'


def fail(text):
    print(text)
    sys.exit(1)


def ranges(size, seed):
    """Ranges of a file: all of it, each cluster of 64 KiB alone, and what crosses some."""
    rng = random.Random(int(seed))
    yield 0, size
    for at in range(0, size, 65536):
        yield at, min(65536, size - at)
    for _ in range(40):
        at = rng.randrange(size)
        yield at, rng.randint(1, min(size - at, 400000))


def events(image, seed='1'):
    """Events for tool-stream, a read or write of each of these ranges."""
    for i, (at, length) in enumerate(ranges(os.path.getsize(image), seed)):
        print(f'seq={i} time={1000 + i} offset={at} requested={length} result={length} pid=7 tid=7 '
              f'op={i % 2} comm=worker')


def fs_events(image, *more):
    """The same as those of category fs: reads and writes, buffered and direct."""
    st = os.stat(image)
    for i, (at, length) in enumerate(ranges(st.st_size, 1)):
        print(f'seq={i} time={1000 + i} offset={at} requested={length} result={length} inode={st.st_ino} '
              f'device={os.major(st.st_dev) << 20 | os.minor(st.st_dev)} op={i % 4} path=1', *more)


def joined(pieces):
    """Pieces (offset in the file, length, offset for the guest) in order, neighbours as one."""
    found = []
    for host, length, guest in sorted(pieces):
        last = found[-1] if found else None
        if last and last[0] + last[1] == host and last[2] + last[1] == guest:
            last[1] += length
        else:
            found.append([host, length, guest])
    return found


def wanted(mapping, at, length):
    """What qemu-img says of a range of the file of the first layer."""
    pieces = []
    for piece in mapping:
        if piece['depth'] or 'offset' not in piece:
            continue
        begin = max(at, piece['offset'])
        end = min(at + length, piece['offset'] + piece['length'])
        if begin < end:
            pieces.append((begin, end - begin, begin - piece['offset'] + piece['start']))
    return joined(pieces)


def check_event(rows, mapping):
    first = rows[0]
    length = first['result']
    at = first['offset_bytes']
    for i, row in enumerate(rows):
        if row['part'] != i or row['part_offset_bytes'] != at:
            fail(f'part {i} begins at {at}: {row}')
        at += row['part_length_bytes']
        same = {key: value for key, value in row.items() if not key.startswith(('part', 'guest'))}
        if any(first[key] != value for key, value in same.items()):
            fail(f'another event: {row}, {first}')
    if at != first['offset_bytes'] + length:
        fail(f'the parts end at {at}: {rows}')
    found = joined((row['part_offset_bytes'], row['part_length_bytes'], row['guest_offset_bytes'])
                   for row in rows if row['guest_kind'] in ROOM)
    if any(row['guest_length_bytes'] != row['part_length_bytes'] for row in rows
           if row['guest_kind'] in ROOM):
        fail(f'two lengths: {rows}')
    expected = wanted(mapping, first['offset_bytes'], length)
    if found != expected:
        fail(f'{first["offset_bytes"]}+{length}: {found}; qemu-img: {expected}')


def same(image, rows):
    """Each event of the rows (JSON) has the parts that qemu-img map says. Prints the kinds."""
    mapping = json.loads(subprocess.run(['qemu-img', 'map', '--output=json', image], check=True,
                                        stdout=subprocess.PIPE).stdout)
    grouped = {}
    with open(rows, encoding='utf-8') as f:
        objects = [json.loads(line) for line in f]
    for row in objects:
        grouped.setdefault(row['seq'], []).append(row)
    if len(grouped) != len(list(ranges(os.path.getsize(image), 1))):
        fail(f'{len(grouped)} events')
    for rows_of_event in grouped.values():
        check_event(rows_of_event, mapping)
    print(' '.join(sorted({row['guest_kind'] for row in objects})))


def place(image, guest):
    """Where in the file of the first layer qemu-img says that the guest's byte is; - if nowhere."""
    guest = int(guest[:-1]) << {'k': 10, 'M': 20}[guest[-1]] if guest[-1] in 'kM' else int(guest)
    for piece in json.loads(subprocess.run(['qemu-img', 'map', '--output=json', image], check=True,
                                           stdout=subprocess.PIPE).stdout):
        at = guest - piece['start']
        if 0 <= at < piece['length']:
            print(piece['offset'] + at if 'offset' in piece and not piece['depth'] else '-')


def columns(path, *names):
    """Columns of a file of CSV, a line a row."""
    with open(path, newline='', encoding='utf-8') as f:
        for row in csv.DictReader(f):
            print(*(row[name] or '-' for name in names))


def covered(rows, *ops):
    """The guest's ranges that the data of these operations (of vfs) is, and the sum of their bytes."""
    pieces, total = [], 0
    with open(rows, encoding='utf-8') as f:
        for row in map(json.loads, f):
            if row['op'] in ops and row['guest_kind'] == 'data' and row.get('level', 'vfs') == 'vfs':
                pieces.append((row['guest_offset_bytes'], row['guest_length_bytes'], 0))
                total += row['part_length_bytes']
    found = []
    for at, length, _ in sorted(pieces):
        if found and found[-1][1] >= at:
            found[-1][1] = max(found[-1][1], at + length)
        else:
            found.append([at, at + length])
    print(*(f'{at}+{end - at}' for at, end in found), total)


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
