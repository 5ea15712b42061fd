# SPDX-License-Identifier: GPL-2.0
"""
The tests of vm_matrix.bats. Usage: python3 vm_matrix.py FUNCTION... See lib/iot.py.

In each mode qemu-io and `qemu-img bench` get a MiB of the disk of their own. It is known what they
write and read there. The rows of the logs have to be that: of a raw image each call, of a qcow2
image each sector of the disk as `log --guest` says, and the clusters that a first write copies.
What QEMU does on its own is known as well: probes for the alignment of direct I/O, reads of the
header, and tables, which are where the header says.
"""
import collections
import json
import os
import struct
import subprocess

from lib.iot import is_equal, is_true, main, must, Target
from vm_images import qcow2_header, read_at

KIB, MIB = 1 << 10, 1 << 20
SECTOR, PAGE, CLUSTER = 512, 4096, 64 * KIB
DIRECT = 'none', 'directsync'
# io_submit(2) is for direct I/O only: QEMU refuses the others.
MODES = [(cache, aio) for aio in ('threads', 'native', 'io_uring')
         for cache in ('none', 'writeback', 'writethrough', 'directsync', 'unsafe')
         if aio != 'native' or cache in DIRECT]
SIZE = (1 + len(MODES)) * MIB
# An image that is opened with O_DIRECT is first read at its begin, with results of these sizes: with
# the length and then the address of 1, and of what works. xfs and disks tell the length.
PROBES = {'ext4': [0, SECTOR, 0, PAGE], 'xfs': [0, PAGE], 'mapped': [0, PAGE]}
BACKING_FORMAT = 0xe2792aca


def run(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    is_true(done.returncode == 0 and 'failed' not in done.stdout, f'{command}: {done.stdout}')


# --- what is asked ------------------------------------------------------------------

def asked_of_io(at):
    """Operation of qemu-io, offset, lengths of the buffers."""
    return [('aio_write', at, (8 * KIB,)), ('aio_write', at + 68 * KIB, (4 * KIB, 8 * KIB)),
            ('aio_write', at + 128 * KIB, (64 * KIB,)), ('aio_flush',),
            ('writev', at + 200 * KIB, (4 * KIB,) * 4), ('write', at + 316 * KIB, (8 * KIB,)), ('flush',),
            ('write', at + 4 * KIB, (4 * KIB,)), ('write', at + 512, (512,)),
            ('read', at, (8 * KIB,)), ('readv', at + 72 * KIB, (512, 4 * KIB)),
            ('aio_read', at + 128 * KIB, (64 * KIB,)), ('aio_read', at + 448 * KIB, (8 * KIB,)),
            ('aio_read', at + 318 * KIB, (4 * KIB,)), ('aio_flush',)]


def io(cache, aio, image, at):
    commands = []
    for words in asked_of_io(at):
        numbers = [words[1], *words[2]] if words[1:] else []
        commands += ['-c', ' '.join(map(str, [words[0], *numbers]))]
    run('qemu-io', '-f', image.format, '-t', cache, '-i', aio, *commands, image.path)
    return [('W' if 'write' in words[0] else 'R', words[1], sum(words[2])) for words in asked_of_io(at) if words[1:]]


def bench(cache, aio, image, letter, at, size, step, count):
    run('qemu-img', 'bench', '-f', image.format, '-t', cache, '-i', aio, '-d', '4', '-c', str(count), '-s', str(size),
        '-S', str(step), '-o', str(at), *(['-w'] if letter == 'W' else []), image.path)
    return [(letter, at + i * step, size) for i in range(count)]


def loads(at):
    """The programs, each a function of cache, aio and image that returns what it has asked for."""
    half = at + 512 * KIB
    yield lambda *how: io(*how, at)
    # no two first writes of a cluster, one of which would wait for the other
    yield lambda *how: bench(*how, 'W', half + 4 * KIB, 8 * KIB, CLUSTER, 8)
    # a read of a hole would take no request of the device
    yield lambda *how: bench(*how, 'R', half + 8 * KIB, 4 * KIB, CLUSTER, 8)


# --- what has to be there -----------------------------------------------------------

def sectors(at, length):
    return range(at // SECTOR, -(-(at + length) // SECTOR))


class Disk:
    """What a qcow2 image with or without a backing file does for the requests of its guest."""

    def __init__(self, has_base, whole_clusters):
        self.has_base, self.whole_clusters, self.allocated = has_base, whole_clusters, {0}

    def expect(self, asked):
        """
        The sectors that are read and written in the image, and read in the backing file, with how
        often; and those of the latter that may be read once more.
        """
        counts = {name: collections.Counter() for name in ('R', 'W', 'base', 'more')}
        for letter, at, length in asked:
            wanted = set(sectors(at, length))
            for cluster in range(at // CLUSTER, (at + length - 1) // CLUSTER + 1):
                whole = set(sectors(cluster * CLUSTER, CLUSTER))
                self.expect_cluster(counts, letter, cluster, wanted & whole, whole)
        return counts

    def expect_cluster(self, counts, letter, cluster, wanted, whole):
        if cluster in self.allocated:
            counts[letter].update(wanted)
        elif letter == 'R':
            counts['base'].update(wanted if self.has_base else ())
        else:
            self.allocated.add(cluster)
            counts['W'].update(whole if self.whole_clusters else wanted)
            if self.has_base:
                # QEMU may read what is before and after at once, and so what is between
                counts['base'].update(whole - wanted)
                counts['more'].update(wanted)


def tables(path):
    """Where the tables of a qcow2 image are, by its header: (begin, end, kind)."""
    header = qcow2_header(path)
    found = [(0, CLUSTER, 'header'), (header['l1'], header['l1'] + header['l1_size'] * 8, 'l1'),
             (header['refcounts'], header['refcounts'] + header['refcount_clusters'] * CLUSTER, 'refcount-table')]
    for kind, at, length in (('l2', *found[1][:2]), ('refcount-block', *found[2][:2])):
        for entry, in struct.iter_unpack('>Q', read_at(path, at, length - at)):
            if entry := entry & 0x00fffffffffffe00:
                found.append((entry, entry + CLUSTER, kind))
    return found


def header_reads(path):
    """The reads of the header when the image is opened: the header, its extensions, the name of the backing file."""
    header = qcow2_header(path)
    reads, at, kind = [(0, 112)], header['length'], None
    while kind != 0:
        kind, length = struct.unpack('>II', read_at(path, at, 8))
        reads.append((at, 8))
        if kind == BACKING_FORMAT:
            reads.append((at + 8, length))
        at += 8 + (length + 7) // 8 * 8
    if header['backing_at']:
        reads.append((header['backing_at'], header['backing_size']))
    return reads


# --- what is there --------------------------------------------------------------------

class Image:
    """An image that is traced."""

    def __init__(self, name, path, base=None):
        self.path, self.base = path, base
        self.format = 'raw' if name in ('raw', 'base') else 'qcow2'
        if self.format == 'raw':
            with open(path, 'r+b' if os.path.exists(path) else 'wb') as f:
                f.write(bytes(range(1, 255)) * (SIZE // 254 + 1))
                if os.path.isfile(path):
                    f.truncate(SIZE)
        else:
            run('qemu-img', 'create', '-q', '-f', 'qcow2', *(('-b', base.path, '-F', 'raw') if base else ()),
                path, str(SIZE))
            # the first table of the disk, so that the file does not end in another one
            run('qemu-io', '-f', 'qcow2', '-c', 'write 0 64k', path)
        os.sync()
        must(f'add {os.path.realpath(path)} 50000')
        self.target = Target(path)
        self.marks = [0]

    def mark(self):
        """What is in the log from the last mark on is one load's."""
        self.marks.append(self.target.stats()[1])

    def loads(self):
        """The events of each load, each a list of rows: one, or one for each part."""
        self.target.command('stop')
        guest = ['--guest'] if self.format == 'qcow2' else []
        text = subprocess.run(['iotracer', 'log', '--format=json', *guest, self.path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        events = []
        for row in map(json.loads, text.splitlines()):
            if row.get('part', 0):
                events[-1].append(row)
            else:
                events.append([row])
        is_equal(self.target.stats(), (len(events), len(events), 0, 0, 0))
        is_equal(len(events), self.marks[-1])
        return [events[begin:end] for begin, end in zip(self.marks, self.marks[1:])]


def in_file(events, level, *letters):
    """Operation, offset, bytes of these events of a level, in order."""
    key = {'vfs': ('offset_bytes', 1), 'blk': ('sector', SECTOR)}[level]
    return [(row['op'], row[key[0]] * key[1], max(0, row['result'])) for row, *_ in events
            if row['level'] == level and row['op'] in letters]


def probes(place, cache):
    return [('R', 0, size) for size in PROBES[place]] if cache in DIRECT else []


def counted(ranges):
    return collections.Counter(sector for at, length in ranges for sector in sectors(at, length))


def check_raw(place, cache, events, asked):
    """Each call has its row: first the probes, then what was asked, in any order."""
    calls, first = in_file(events, 'vfs', 'R', 'W'), probes(place, cache)
    is_equal(calls[:len(first)], first)
    is_equal(sorted(calls[len(first):]), sorted(asked))


def of_kind(events, letter, *kinds):
    """Place in the file, and on the guest's disk, of the parts that are of these kinds."""
    return [(row['part_offset_bytes'], row['guest_offset_bytes'], row['part_length_bytes'])
            for event in events for row in event
            if row['level'] == 'vfs' and row['op'] == letter and row['guest_kind'] in kinds and row['result'] > 0]


def check_data(events, counts):
    """The guest's data: each sector as often as expected, and none of another place."""
    for letter in 'RW':
        is_equal(counted((guest, length) for _, guest, length in of_kind(events, letter, 'data')), counts[letter])


def check_tables(image, place, cache, events):
    """What is no data is what QEMU reads of the header when it opens the image, or within a table of that kind."""
    reads = header_reads(image.path)
    if cache in DIRECT:
        reads = [(at // SECTOR * SECTOR, len(sectors(at, length)) * SECTOR) for at, length in reads]
    found = [(row['offset_bytes'], max(0, row['result'])) for row, *_ in events
             if row['level'] == 'vfs' and row['op'] == 'R' and row['guest_kind'] == 'header']
    is_equal(sorted(found), sorted([(0, size) for _, _, size in probes(place, cache)] + reads))
    is_equal(of_kind(events, 'W', 'header'), [])
    known, kinds = tables(image.path), set()
    for event in events:
        for row in event:
            kind, begin = row['guest_kind'], row['part_offset_bytes']
            if row['level'] == 'vfs' and kind != 'data':
                end = begin + row['part_length_bytes']
                is_true(any(kind == table and at <= begin and end <= -(-stop // SECTOR) * SECTOR
                            for at, stop, table in known), f'no {kind} is there: {row}')
                kinds.add((row['op'], kind))
    return kinds


def check_base(place, cache, events, counts):
    """The backing file: what it is asked for, and what is copied; nothing is written."""
    calls, first = in_file(events, 'vfs', 'R', 'W'), probes(place, cache)
    is_equal(calls[:len(first)], first)
    is_equal({letter for letter, *_ in calls} - {'R'}, set())
    found = counted((at, length) for _, at, length in calls[len(first):])
    is_equal(counts['base'] - found, collections.Counter())
    is_equal(found - counts['base'] - counts['more'], collections.Counter())


def check_device(place, cache, events):
    """
    Direct calls have as many bytes at the device as in the file, of whole sectors. On a disk these
    are the same sectors; of buffered calls the pages that were written.
    """
    of_calls, of_device = ({letter: counted((at, length) for _, at, length in in_file(events, level, letter))
                            for letter in 'RW'} for level in ('vfs', 'blk'))
    if cache in DIRECT:
        for letter in 'RW':
            is_equal(of_device[letter].total(), of_calls[letter].total())
            if place == 'mapped':
                is_equal(of_device[letter], of_calls[letter])
    elif place == 'mapped':
        pages = [{sector * SECTOR // PAGE for sector in of['W']} for of in (of_device, of_calls)]
        is_equal(*pages)


def work(images, base):
    """Returns for each load of an image, in order, the mode, and what was asked for."""
    done = []
    for i, (cache, aio) in enumerate(MODES):
        for image in images:
            for load in loads((1 + i) * MIB):
                done.append((image, cache, aio, load(cache, aio, image)))
                os.sync()
                for traced in (image, base) if image.base else (image,):
                    traced.mark()
    return done


def check(place, images, base, done):
    of_base = base.loads()
    for image in images:
        disk, kinds = Disk(image.base, image.base or place == 'mapped'), set()
        for events, (_, cache, aio, asked) in zip(image.loads(), [load for load in done if load[0] is image]):
            try:
                check_device(place, cache, events)
                if image.format == 'raw':
                    check_raw(place, cache, events, asked)
                    continue
                counts = disk.expect(asked)
                check_data(events, counts)
                kinds |= check_tables(image, place, cache, events)
                if image.base:
                    check_device(place, cache, of_base[0])
                    check_base(place, cache, of_base.pop(0), counts)
            except AssertionError as e:
                raise AssertionError(f'{image.path}, {cache}, {aio}: {asked}') from e
        if image.format == 'qcow2':
            is_equal(kinds, {(letter, kind) for letter in 'RW' for kind in ('l2', 'refcount-block')} |
                     {('R', kind) for kind in ('header', 'l1', 'refcount-table')})
    is_equal(of_base, [])


def matrix(place, directory):
    raw, qcow2, base = (Image(name, f'{directory}/{name}') for name in ('raw', 'qcow2', 'base'))
    chain = Image('chain', f'{directory}/chain', base)
    base.marks[0] = base.target.stats()[1]
    images = raw, qcow2, chain
    check(place, images, base, work(images, base))
    run('qemu-img', 'check', qcow2.path)
    run('qemu-img', 'check', chain.path)


def ext4():
    matrix('ext4', '/mnt/disk')


def xfs():
    matrix('xfs', '/mnt/xfs')


def mapped():
    matrix('mapped', '/mnt/files')


if __name__ == '__main__':
    main(globals())
