# SPDX-License-Identifier: GPL-2.0
"""
What vm_images.bats compares. Usage: python3 vm_images.py FUNCTION [ARGUMENT]...

The tool's map of an image is compared with qemu-img's, and with the bytes: of the guest's disk as
qemu-img reads it, and of the files at the offsets that the map names.
"""
import json
import os
import random
import struct
import subprocess
import sys
import zlib


def fail(text):
    print(text)
    sys.exit(1)


def tool(*arguments):
    text = subprocess.run(['iotracer', 'map', '--json', *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in text.splitlines()]


def qemu_map(image):
    return json.loads(subprocess.run(['qemu-img', 'map', '--output=json', image], check=True,
                                     stdout=subprocess.PIPE).stdout)


def check_sequence(pieces, start, length, size):
    """The pieces follow one another, from 0 to the end."""
    at = 0
    for piece in pieces:
        if piece[start] != at or piece[length] <= 0:
            fail(f'a piece begins at {piece[start]} instead of {at}: {piece}')
        at += piece[length]
    if at != size:
        fail(f'the pieces end at {at} instead of {size}')


def ours(piece, at):
    """Kind, depth and host offset of a byte, as far as qemu-img shows them."""
    if piece['kind'] == 'data':
        return 'data', piece['layer'], piece['host'] + at - piece['guest']
    if piece['kind'] == 'zero' and piece['host'] is not None:
        return 'zero', piece['layer'], piece['host'] + at - piece['guest']
    if piece['kind'] == 'zero' or piece['kind'] == 'compressed':
        return piece['kind'], piece['layer'], None
    return 'unallocated', None, None


def theirs(piece, at):
    host = piece['offset'] + at - piece['start'] if 'offset' in piece else None
    if piece['data']:
        return ('compressed' if host is None else 'data'), piece['depth'], host
    if not piece['present']:
        return 'unallocated', None, None
    return 'zero', piece['depth'], host


def same(image):
    """The tool's map is qemu-img's: at each byte where a piece of either begins."""
    mine, other = tool(image), qemu_map(image)
    size = other[-1]['start'] + other[-1]['length']
    check_sequence(mine, 'guest', 'length', size)
    check_sequence(other, 'start', 'length', size)
    i = j = at = 0
    while at < size:
        ends = mine[i]['guest'] + mine[i]['length'], other[j]['start'] + other[j]['length']
        if ours(mine[i], at) != theirs(other[j], at):
            fail(f'{image}: at {at}: {ours(mine[i], at)}; qemu-img: {theirs(other[j], at)}')
        at = min(ends)
        i, j = i + (ends[0] == at), j + (ends[1] == at)
    print(' '.join(sorted({piece['kind'] for piece in mine})))


def read_at(path, offset, length):
    with open(path, 'rb') as f:
        f.seek(offset)
        return f.read(length).ljust(length, b'\0')


def guest_bytes(image):
    """The guest's disk, as qemu-img reads it."""
    raw = f'{image}.bytes'
    subprocess.run(['qemu-img', 'convert', '-O', 'raw', image, raw], check=True)
    with open(raw, 'rb') as f:
        content = f.read()
    os.unlink(raw)
    return content


def bytes_of(piece, cluster):
    """What is at the place that a piece names."""
    if piece['kind'] == 'data':
        return read_at(piece['file'], piece['host'], piece['length'])
    if piece['kind'] == 'compressed':
        packed = read_at(piece['file'], piece['host'], piece['host_length'])
        return zlib.decompressobj(-15).decompress(packed, cluster)[:piece['length']]
    return bytes(piece['length'])


def content(image, cluster):
    """The bytes at the places of the map are those of the guest's disk."""
    disk, kinds = guest_bytes(image), set()
    for piece in tool(image):
        kinds.add(piece['kind'])
        wanted = disk[piece['guest']:piece['guest'] + piece['length']]
        if bytes_of(piece, int(cluster)) != wanted:
            fail(f'{image}: other bytes in {piece}')
    print(' '.join(sorted(kinds)))


def reverse(image):
    """
    Each byte of the file is in one region. The regions of the guest's data are those of the map,
    and what is in the map has a region.
    """
    regions = tool('--host', image)
    check_sequence(regions, 'host', 'length', os.path.getsize(image))
    back = {}
    for r in regions:
        if r['kind'] in ('data', 'zero'):
            if r['guest_length'] != r['length']:
                fail(f'{r} has two lengths')
            back[r['host']] = r
        elif r['kind'] == 'compressed':
            back[r['host'], 'packed'] = r
    for p in tool(image):
        if p['layer'] != 0 or p['host'] is None:
            continue
        if p['kind'] == 'compressed':
            found = back.get((p['host'], 'packed'))
            if not found or found['guest'] != p['guest'] or found['length'] > p['host_length']:
                fail(f'{p} is {found} on the way back')
            continue
        one, = tool('--host', image, f'{p["host"]}')
        if one['guest'] != p['guest'] or one['kind'] not in ('data', p['kind']):
            fail(f'{p} is {one} on the way back')
        last, = tool('--host', image, f'{p["host"] + p["length"] - 1}')
        if last['guest'] != p['guest'] + p['length'] - 1:
            fail(f'the end of {p} is {last} on the way back')
    print(' '.join(sorted({r['kind'] for r in regions})))


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
