# SPDX-License-Identifier: GPL-2.0
"""
What vm_images.bats compares. Usage: python3 vm_images.py FUNCTION [ARGUMENT]...

The tool's map of an image is compared with qemu-img's, and with the bytes: of the guest's disk as
qemu-img reads it, and of the files at the offsets that the map names.
"""
import json
import os
import random
import socket
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


def qcow2_header(image):
    names = 'magic version backing_at backing_size cluster_bits size crypt l1_size l1 refcounts ' \
            'refcount_clusters snapshots snapshots_at incompatible compatible autoclear order length'
    values = struct.unpack('>IIQIIQIIQQIIQQQQII', read_at(image, 0, 104))
    header = dict(zip(names.split(), values))
    if header['version'] == 2:
        header['order'] = 4
    return header


def refcounts(image):
    """The count of each cluster of the file, by the image's own tables."""
    header, counts = qcow2_header(image), []
    cluster, bits = 1 << header['cluster_bits'], 1 << header['order']
    table = read_at(image, header['refcounts'], header['refcount_clusters'] * cluster)
    for block, in struct.iter_unpack('>Q', table):
        content = read_at(image, block, cluster) if block else bytes(cluster)
        if bits >= 8:
            counts += [int.from_bytes(content[i:i + bits // 8], 'big')
                       for i in range(0, cluster, bits // 8)]
        else:
            counts += [byte >> shift & (1 << bits) - 1
                       for byte in content for shift in range(0, 8, bits)]
        if len(counts) * cluster >= os.path.getsize(image):
            break
    return counts


def counted(image):
    """What is in use by the reference counts has a kind, and what is not is unused."""
    counts = refcounts(image)
    cluster = 1 << qcow2_header(image)['cluster_bits']
    used = [False] * (len(counts) + 1)
    for region in tool('--host', image):
        if region['kind'] != 'unused':
            last = (region['host'] + region['length'] - 1) // cluster
            used[region['host'] // cluster:last + 1] = [True] * (last + 1 - region['host'] // cluster)
    clusters = (os.path.getsize(image) + cluster - 1) // cluster
    for i in range(clusters):
        if used[i] != bool(counts[i]):
            fail(f'{image}: cluster {i} has count {counts[i]}, and is said to be '
                 f'{"in use" if used[i] else "unused"}')
    if not 0 < sum(used) < clusters:
        fail(f'{image}: {sum(used)} of {clusters} clusters are in use: that proves nothing')


def old_bytes(image, kind, disk):
    """The data of a snapshot lies where it says: @disk is the guest's disk as it was."""
    found = [r for r in tool('--host', image) if r['kind'] == kind]
    with open(disk, 'rb') as f:
        was = f.read()
    for r in found:
        if read_at(image, r['host'], r['length']) != was[r['guest']:r['guest'] + r['length']]:
            fail(f'{image}: other bytes in {r}')
    print(sum(r['length'] for r in found))


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
    pieces = [p for p in tool(image) if p['layer'] == 0 and p['host'] is not None]
    ends = []
    for p in pieces:
        if p['kind'] == 'compressed':
            found = back.get((p['host'], 'packed'))
            if not found or found['guest'] != p['guest'] or found['length'] > p['host_length']:
                fail(f'{p} is {found} on the way back')
        else:
            ends += [(p['host'], p['guest'], p), (p['host'] + p['length'] - 1, p['guest'] + p['length'] - 1, p)]
    # that many ranges on a command line
    for i in range(0, len(ends), 1000):
        some = ends[i:i + 1000]
        for (host, guest, p), found in zip(some, tool('--host', image, *(str(e[0]) for e in some)), strict=True):
            if found['host'] != host or found['guest'] != guest or found['kind'] not in ('data', p['kind']):
                fail(f'{p} is {found} on the way back')
    print(' '.join(sorted({r['kind'] for r in regions})))



# --- hostile images ---------------------------------------------------------------

def limited(*arguments):
    """Run the tool with little memory and time. It has to end by itself, with at most one line."""
    done = subprocess.run(['bash', '-c', 'ulimit -v 300000; exec timeout 60 iotracer map "$@"', '-',
                           *arguments], text=True, errors='replace', check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    lines = done.stderr.splitlines()
    if done.returncode not in (0, 1) or len(lines) != done.returncode or 'memory' in done.stderr:
        fail(f'{arguments}: exit status {done.returncode}: {done.stderr}')
    return done.returncode


def damage(image, rounds, seed):
    """Copies of an image with wrong bytes in header and tables."""
    rng, failed = random.Random(int(seed)), 0
    print(f'seed {seed}')
    with open(image, 'rb') as f:
        good = f.read()
    places = [r for r in tool('--host', image) if r['kind'] not in ('data', 'unused', 'compressed')]
    wrong = f'{image}.wrong'
    for _ in range(int(rounds)):
        content = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            place = rng.choice(places)
            # most of a table is empty
            length = min(place['length'], rng.choice((128, 128, 4096)))
            at = place['host'] + rng.randrange(length)
            value = rng.choice((0, 1, 0x40, 0x7f, 0x80, 0xff, rng.randrange(256)))
            for i in range(rng.choice((1, 1, 4, 8))):
                if at + i < len(content):
                    content[at + i] = value
        # without the magic it would be raw
        content[:4] = good[:4]
        if rng.random() < 0.1:
            del content[rng.randrange(len(content)):]
        with open(wrong, 'wb') as f:
            f.write(content)
        failed += limited(wrong, '0+64K')
        failed += limited('--host', wrong, '0+1')
    os.unlink(wrong)
    if not 0 < failed < 2 * int(rounds):
        fail(f'{failed} of {rounds} images were refused: that proves nothing')


def patch(image, offset, form, *values):
    """Write numbers into a file: @form is that of struct."""
    with open(image, 'r+b') as f:
        f.seek(int(offset, 0))
        f.write(struct.pack(form, *(int(v, 0) for v in values)))


def everywhere(image, entries):
    """An L1 table of that many entries, all of which lead to one L2 table, all of whose do to one
    cluster."""
    entries = int(entries)
    header = qcow2_header(image)
    cluster = 1 << header['cluster_bits']
    l2_at = os.path.getsize(image) + cluster - 1 & -cluster
    l1_at = l2_at + 2 * cluster
    with open(image, 'r+b') as f:
        f.seek(l2_at)
        f.write(struct.pack('>Q', l2_at + cluster) * (cluster // 8))
        f.seek(l1_at)
        f.write(struct.pack('>Q', l2_at) * entries)
        f.truncate(f.tell() + cluster)
    patch(image, '24', '>Q', str(entries * cluster // 8 * cluster))
    patch(image, '36', '>I', str(entries))
    patch(image, '40', '>Q', str(l1_at))
    print(l2_at + cluster)


# --- machines -----------------------------------------------------------------------

def qmp(path, *commands):
    """The answers of a QEMU to commands: "NAME" or "NAME JSON"."""
    answers = []
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        with s.makefile('rw') as f:
            f.readline()
            for command in ('qmp_capabilities', *commands):
                name, _, arguments = command.partition(' ')
                f.write(json.dumps({'execute': name, 'arguments': json.loads(arguments or '{}')}))
                f.flush()
                answer = {}
                # Not events, and not the greeting: events of the connection before may be first.
                while not {'return', 'error'} & answer.keys():
                    answer = json.loads(f.readline())
                if 'error' in answer:
                    fail(f'{command}: {answer}')
                answers.append(answer['return'])
    return answers[1:]


def monitor(path, how):
    """
    A process that listens where a QEMU might, and does not answer as one: it says nothing, never
    ends its answer, or nests it without end; or answers with what the file @how has.
    """
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen()
        while True:
            with s.accept()[0] as c:
                try:
                    with c.makefile('rw') as f:
                        serve(f, how)
                except OSError:
                    pass


def serve(f, how):
    if how == 'silent':
        f.read()
        return
    # as QEMU does if its client before went too early
    f.write('{"event": "RESUME"}\r\n{"QMP": {}}\r\n')
    f.flush()
    f.readline()
    f.write('{"event": "STOP"}\r\n{"return": {}}\r\n')
    f.flush()
    if how == 'endless' or how == 'deep':
        f.write('{"return": [')
        while True:
            f.write('{"image": [' if how == 'deep' else '7,' * 1000)
    with open(how, encoding='utf-8') as answers:
        for answer in answers:
            f.readline()
            f.write(answer)
            f.flush()
    f.read()


def ask(path, *commands):
    print(json.dumps(qmp(path, *commands)[-1]))


def shown(name):
    machine, = json.loads(subprocess.run(['iotracer', 'vm', 'show', '--json', name], check=True,
                                         stdout=subprocess.PIPE).stdout)
    return machine


def plain_name(name, directory):
    return os.path.normpath(os.path.join(directory, name))


def chain_of(image, directory):
    chain = []
    while image:
        chain.append((plain_name(image['filename'], directory), image['format']))
        image = image.get('backing-image')
    return chain


MODES = {'none': (True, True, False), 'writeback': (True, False, False), 'unsafe': (True, False, True),
         'writethrough': (False, False, False), 'directsync': (False, True, False)}


def drives(name, path, directory):
    """The drives of a machine are those that QEMU tells of: names, layers, cache modes."""
    machine, seen = shown(name), {}
    for drive in machine['drives']:
        seen[drive['id'] or drive['qdev']] = drive
    asked = {block['device'] or block.get('qdev'): block for block in qmp(path, 'query-block')[0]}
    if set(asked) != set(seen):
        fail(f'QEMU has the drives {sorted(asked)}, shown are {sorted(seen)}')
    for key, block in asked.items():
        drive = seen[key]
        layers = [(layer['file'], layer['format']) for layer in drive['layers']]
        inserted = block.get('inserted')
        wanted = chain_of(inserted['image'], directory) if inserted else []
        if layers != wanted:
            fail(f'{key}: QEMU has {wanted}, shown is {layers}')
        # a path in QEMU's tree of objects, or a part of it
        if drive['qdev'] and drive['qdev'] not in block['qdev'].split('/'):
            fail(f'{key}: QEMU has the device {block["qdev"]}, shown is {drive["qdev"]}')
        if not inserted:
            continue
        cache = inserted['cache']
        if MODES[drive['cache']] != (cache['writeback'], cache['direct'], cache['no-flush']):
            fail(f'{key}: QEMU has {cache}, shown is {drive["cache"]}')
        # without a device QEMU opens it only for reading
        if block.get('qdev') and drive['layers'][0]['read_only'] != inserted['ro']:
            fail(f'{key}: read-only is {inserted["ro"]}, shown is {drive["layers"][0]["read_only"]}')
        if not all(layer['open'] for layer in drive['layers']):
            fail(f'{key}: a layer is not open: {drive["layers"]}')
    print(len(asked))


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
