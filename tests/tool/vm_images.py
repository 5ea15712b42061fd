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
import tempfile
import zlib

from lib.qcow2 import Builder, Image


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


def in_use(image):
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


def has_cluster(image, disk):
    """The first cluster of the guest's disk, as it was, lies in the data of a snapshot, and says so."""
    with open(disk, 'rb') as f:
        was = f.read(4096)
    for r in tool('--host', image):
        if r['kind'] == 'snapshot-data' and r['guest'] == 0 and read_at(image, r['host'], 4096) == was:
            return
    fail(f'{image}: nowhere is the first cluster of {disk}')


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


def in_order(pieces):
    """Pieces as [kind, host, guest, length]: those that go on with one another become one."""
    found = []
    for kind, host, guest, length in sorted(pieces, key=lambda p: p[1]):
        last = found[-1] if found else None
        if last and last[0] == kind and last[1] + last[3] == host and last[2] + last[3] == guest:
            last[3] += length
        else:
            found.append([kind, host, guest, length])
    return found


def reverse(image):
    """
    Each byte of the file is in one region. The regions of the guest's data are those of the map, to
    the byte, and what is room only is in no piece of it.
    """
    regions, pieces = tool('--host', image), tool(image)
    check_sequence(regions, 'host', 'length', os.path.getsize(image))
    disk = pieces[-1]['guest'] + pieces[-1]['length']
    pieces = [p for p in pieces if p['layer'] == 0]
    packed = {r['host']: r for r in regions if r['kind'] == 'compressed'}
    back = []
    for r in regions:
        if r['kind'] not in ('data', 'zero', 'unallocated'):
            continue
        if r['guest_length'] != r['length']:
            fail(f'{r} has two lengths')
        # the last cluster may be more than the disk has of it
        if r['kind'] != 'unallocated' and r['guest'] < disk:
            back.append((r['kind'], r['host'], r['guest'], min(r['length'], disk - r['guest'])))
    there = [(p['kind'], p['host'], p['guest'], p['length']) for p in pieces
             if p['host'] is not None and p['kind'] != 'compressed']
    # what is not in the file any more, as QEMU writes no zeros at its end, has no region
    size = os.path.getsize(image)
    there = [(k, h, g, min(n, size - h)) for k, h, g, n in there if h < size]
    if in_order(back) != in_order(there):
        wrong = [p for p in in_order(back) + in_order(there) if (p in in_order(back)) != (p in in_order(there))]
        fail(f'{image}: of the file, or of the disk only: {wrong}')
    for p in pieces:
        if p['kind'] != 'compressed':
            continue
        found = packed.get(p['host'])
        if not found or found['guest'] != p['guest'] or found['length'] > p['host_length']:
            fail(f'{p} is {found} on the way back')
    alone(image, there)
    print(' '.join(sorted({r['kind'] for r in regions})))


def alone(image, there):
    """The ends of each piece say the same if they are asked for by themselves."""
    ends = [(at, kind, guest + at - host) for kind, host, guest, length in there for at in (host, host + length - 1)]
    # that many ranges on a command line
    for i in range(0, len(ends), 1000):
        some = ends[i:i + 1000]
        for end, found in zip(some, tool('--host', image, *(str(e[0]) for e in some)), strict=True):
            if end != (found['host'], found['kind'], found['guest']):
                fail(f'{end} is {found} on the way back')


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


# An image of which the numbers say more than there is: how it is built, and what map and map --host
# do with it: the words of the error, or the kinds that are printed.
L1_MOST = 4 << 20


def one_table(path):
    """All entries of the longest L1 table lead to one L2 table, all of which to one cluster."""
    b = Builder(path)
    data = b.place(b.cluster)
    b.disk(b.same(L1_MOST, b.l2(data)), L1_MOST)
    b.finish()


def one_table_of_zeros(path):
    b = Builder(path)
    b.disk(b.same(L1_MOST, b.l2(1)), L1_MOST)
    b.finish()


def tables_in_turn(path):
    b = Builder(path)
    first, second = b.l2(1), b.l2(1)
    b.disk(b.table([first, second] * (L1_MOST // 2)), L1_MOST)
    b.finish()


def tables_in_holes(path):
    """A million L2 tables, none of which takes room."""
    b = Builder(path)
    first = b.next + (8 << 20)
    b.disk(b.table([first + (i << b.bits) for i in range(1 << 20)]), 1 << 20)
    b.finish(first + (1 << 36))


def tables_begun(path):
    """Large L2 tables that have one entry, and a hole behind it."""
    b = Builder(path, 21)
    tables = []
    for _ in range(200):
        tables.append(b.place(b.cluster))
        b.write(tables[-1], struct.pack('>Q', 1))
    b.disk(b.table(tables), len(tables))
    b.finish()


def one_snapshot_often(path):
    b = Builder(path)
    l1 = b.same(L1_MOST, b.l2(1))
    b.disk(b.table([0] * 4), 4)
    b.snapshots([l1] * 65536, L1_MOST)
    b.finish()


def snapshots_overlap(path):
    b = Builder(path)
    l1 = b.same(L1_MOST, b.l2(1))
    b.disk(b.table([0] * 4), 4)
    b.snapshots([l1 + (i << b.bits) for i in range(256)], L1_MOST // 2)
    b.finish()


def snapshots_in_holes(path):
    b = Builder(path)
    b.disk(b.table([0] * 4), 4)
    b.snapshots([b.place(8 * L1_MOST) for _ in range(20000)], L1_MOST)
    b.finish()


def a_hole(path):
    """Small clusters, and a file that ends far away."""
    b = Builder(path, 9)
    b.disk(b.table([0] * 4), 4)
    b.finish(8 << 40)


def one_refcount_block(path):
    b = Builder(path, 16, clusters=128)
    block = b.same(b.cluster // 8, 0)
    b.write(b.refcounts, struct.pack('>Q', block) * (1 << 20))
    b.disk(b.table([0] * 4), 4)
    b.finish(8 << 40)


def one_bitmap_often(path):
    b = Builder(path, 9)
    b.disk(b.same(L1_MOST, 0), L1_MOST)
    entries = b.header['size'] // 512 // 8 // b.cluster
    b.bitmaps(b.same(entries, 0), entries, 65535)
    b.finish()


LARGE = {
    one_table: (None, 'data header l1 l2'),
    one_table_of_zeros: ('zero', 'header l1 l2'),
    tables_in_turn: ('zero', 'header l1 l2'),
    tables_in_holes: ('unallocated', 'header l1 l2'),
    tables_begun: ('unallocated zero', 'header l1 l2'),
    one_snapshot_often: ('unallocated', 'its L1 tables at'),
    snapshots_overlap: ('unallocated', 'its L1 tables at'),
    snapshots_in_holes: ('unallocated', 'header l1 snapshot-l1 snapshot-table'),
    a_hole: ('unallocated', 'header l1 unused'),
    one_refcount_block: ('unallocated', 'its refcount block at'),
    one_bitmap_often: ('has bitmaps whose tables', 'has bitmaps whose tables'),
}

# Numbers that may be read of any image, beside as many as it has bytes on its disk
READS = 1 << 24


def counted(image, *arguments):
    """What the tool prints, and how many numbers it read of the image for that."""
    with tempfile.TemporaryFile('w+') as out:
        done = subprocess.run(['bash', '-c', 'ulimit -v 400000; exec timeout 300 iotracer-counted "$@"', '-', *arguments],
                              env={**os.environ, 'TOOL_READS': 'reads'}, check=False, stdout=out,
                              stderr=subprocess.PIPE, text=True)
        out.seek(0)
        kinds = sorted({line.split()[2] for line in out if not line.split()[0].isalpha()})
    with open('reads', encoding='ascii') as f:
        reads = int(f.read())
    os.unlink('reads')
    if done.returncode not in (0, 1) or len(done.stderr.splitlines()) != done.returncode:
        fail(f'{arguments}: exit status {done.returncode}: {done.stderr}')
    most = os.stat(image).st_blocks * 512 + READS
    print(arguments, reads, 'of', most, kinds, done.stderr.strip())
    if reads > most:
        fail(f'{arguments}: {reads} numbers were read, {most} are allowed')
    return done.stderr or ' '.join(kinds)


def large(*names):
    """What the numbers of an image say makes neither more work nor more memory than its file has bytes."""
    for build, (forth, back) in LARGE.items():
        if names and build.__name__ not in names:
            continue
        build('large')
        for wanted, options in ((forth, ()), (back, ('--host',))):
            found = counted('large', 'map', *options, 'large') if wanted else wanted
            if wanted and wanted not in found.replace(' refcount-block', '').replace(' refcount-table', ''):
                fail(f'{build.__name__} {options}: {found}, not {wanted}')
    os.unlink('large')


PIECES, STRIDE = 1100003, 7919      # more than the tool keeps at a time; a prime, and another


def pieces(image):
    """More pieces than the tool keeps at a time, in no order: each is where it was put, and once."""
    b = Builder(image, 9)
    per, tables = b.cluster // 8, -(-PIECES // (b.cluster // 8))
    l2 = [b.place(b.cluster) for _ in range(tables)]
    l1 = b.table(l2)
    base = b.next
    places = [base + number * STRIDE % PIECES * b.cluster for number in range(PIECES)]
    b.write(l2[0], struct.pack(f'>{PIECES}Q', *places))
    b.disk(l1, tables)
    b.finish(base + PIECES * b.cluster)
    if b.header['size'] != tables * per * b.cluster:
        fail('another size')
    seen, at, rows = bytearray(PIECES), 0, 0
    with subprocess.Popen(['iotracer', 'map', '--host', image], stdout=subprocess.PIPE, text=True) as done:
        next(done.stdout)
        for line in done.stdout:
            host, length, kind, guest = line.split()
            if int(host) != at:
                fail(f'a piece begins at {host} instead of {at}')
            at += int(length)
            if kind != 'data':
                continue
            number = int(guest) // b.cluster
            if int(length) != b.cluster or seen[number] or places[number] != int(host):
                fail(line)
            seen[number] = 1
            rows += 1
    if rows != PIECES or at != os.path.getsize(image) or done.returncode:
        fail(f'{rows} pieces up to {at}')


# --- each field of an image, damaged ------------------------------------------------

def run(*argv):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors='replace', check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr


def is_refused(done, own=False):
    """@own: the image itself, not the one behind it."""
    return done[0] == 1 and not (own and 'backing file' in done[2])


def differ(mine, other):
    """Where the maps do, up to the end of qemu-img's; None: nowhere."""
    at = i = j = 0
    while j < len(other) and other[j]['length']:
        if i == len(mine):
            return at
        ends = mine[i]['guest'] + mine[i]['length'], other[j]['start'] + other[j]['length']
        if ours(mine[i], at) != theirs(other[j], at):
            return at
        at = min(ends)
        i, j = i + (ends[0] == at), j + (ends[1] == at)
    return None


def judge(image, name):
    """What qemu-img does not open or map is refused, or there is a warning. Else the map is qemu-img's."""
    asked = run('qemu-img', 'map', '-f', 'qcow2', '--output=json', image)
    check = run('qemu-img', 'check', '-f', 'qcow2', image)
    forth = run('iotracer', 'map', '--json', '--image-format=qcow2', image)
    back = run('iotracer', 'map', '--json', '--host', '--image-format=qcow2', image)
    for done in forth, back:
        if done[0] not in (0, 1) or (done[0] and not done[2]):
            fail(f'{name}: {done}')
    if is_refused(asked) and not forth[2]:
        fail(f'{name}: mapped, and qemu-img says: {asked[2]}')
    if (is_refused(asked, True) or is_refused(check, True)) and not back[2]:
        fail(f'{name}: mapped back, and qemu-img says: {asked[2]} {check[2]}')
    if asked[0] or forth[0]:
        return asked[0] != 0, forth[0] != 0, back[0] != 0
    at = differ([json.loads(line) for line in forth[1].splitlines()], json.loads(asked[1]))
    if at is not None:
        fail(f'{name}: another map than qemu-img has, from {at} on')
    return False, False, back[0] != 0


def fields(image, step, first):
    """One field of the image after the other gets one wrong value after the other; each @step-th of these."""
    seen, wrong = {}, image + '.wrong'
    good = Image(image)
    for i, (name, at, new) in enumerate(good.damages()):
        if i % int(step) != int(first) % int(step):
            continue
        with open(wrong, 'wb') as f:
            f.write(good.damaged(at, new))
        verdict = judge(wrong, f'{image}: {name}')
        seen[verdict] = seen.get(verdict, 0) + 1
    os.unlink(wrong)
    print(image, {'%d%d%d' % verdict: n for verdict, n in sorted(seen.items())})
    if len(seen) < 2:
        fail(f'{image}: all are alike: that proves nothing')


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


def two_monitors(first, second, answers):
    """One process that listens at two sockets: at the first another program holds the connection."""
    child = socket.socket(socket.AF_UNIX)
    child.bind(first)
    child.listen()
    monitor(second, answers)


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


def modes(name, path):
    """The cache mode of each drive is that which QEMU tells of. Prints how many there are."""
    asked = {}
    for block in qmp(path, 'query-block')[0]:
        qdev = block.get('qdev') or ''
        key = block['device'] or next((part for part in qdev.split('/') if part.startswith('disk')), qdev)
        asked[key] = block['inserted']['cache']
    seen = {drive['name']: drive for drive in shown(name)['drives']}
    if set(asked) != set(seen):
        fail(f'QEMU has the drives {sorted(asked)}, shown are {sorted(seen)}')
    for key, cache in asked.items():
        said = cache['writeback'], cache['direct'], cache['no-flush']
        mode = MODES[seen[key]['cache']]
        # unsafe is what is said of each that does not flush
        if seen[key]['cache'] == 'unsafe' and not cache['no-flush'] or seen[key]['cache'] != 'unsafe' and mode != said:
            fail(f'{key}: QEMU has {cache}, shown is {seen[key]["cache"]}')
    print(len(asked))


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
