# SPDX-License-Identifier: GPL-2.0
"""
What power_cut.bats runs: compares what iotracer durability says with a disk whose power was cut.

A directory has the trace, what power_cut said (stored), the disk as it was before the load (started.img),
as QEMU left it (disk.img), and QEMU's log of all writes and flushes (disk.log, as dm-log-writes has it).
There are two disks to compare with: the one that QEMU left, whose cache lost nothing; and the worst, on which
nothing is that was written after the last flush.
"""
import bisect
import collections
import csv
import io
import json
import os
import shutil
import struct
import subprocess
import sys

BLOCK, BLOCKS, MAGIC = 4096, 64, 0x6b636f6c62747563
SECTOR = 512
FLUSH, DISCARD, MARK = 1, 4, 8
FILES = 'f0', 'f1', 'f2', 'f3', 'm'


def run(*argv, good=(0,)):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode in good, (argv, done.returncode, done.stdout[-300:], done.stderr[-300:])
    return done.stdout.decode()


# --- the disk -----------------------------------------------------------------------

def entries(log):
    """(flags, sector, offset of the data in the log, bytes) of each write and flush."""
    data = memoryview(log)
    at = SECTOR
    while at + SECTOR <= len(data):
        sector, count, flags, length = struct.unpack_from('<QQQQ', data, at)
        if not (sector or count or flags or length):
            return
        size = 0 if flags & (DISCARD | MARK) else count * SECTOR
        yield flags, sector, at + SECTOR, size
        at += SECTOR + size


def make_worst(directory):
    """The disk with what was written before the last flush."""
    with open(f'{directory}/disk.log', 'rb') as f:
        log = f.read()
    found = list(entries(log))
    last = max((i for i, (flags, *_) in enumerate(found) if flags & FLUSH), default=-1)
    shutil.copy(f'{directory}/started.img', f'{directory}/worst.img')
    with open(f'{directory}/worst.img', 'r+b') as f:
        for _, sector, at, size in found[:last + 1]:
            if size:
                f.seek(sector * SECTOR)
                f.write(log[at:at + size])


def contents(directory, image):
    """The version of each block of each file after the journal was replayed, as after any power cut; None: no file."""
    repaired = f'{directory}/repaired.img'
    shutil.copy(f'{directory}/{image}', repaired)
    run('e2fsck', '-fy', repaired, good=(0, 1))
    found = {}
    for name in FILES:
        file = f'{directory}/file'
        if os.path.exists(file):
            os.remove(file)
        run('debugfs', '-R', f'dump /{name} {file}', repaired)
        found[name] = read_versions(file) if os.path.exists(file) else None
    os.remove(repaired)
    return found


def read_versions(file):
    """0: a block that has no version, or parts of several."""
    with open(file, 'rb') as f:
        data = f.read()
    versions = []
    for at in range(0, len(data) - BLOCK + 1, BLOCK):
        magic, number, version, *rest = struct.unpack_from(f'<{BLOCK // 8}Q', data, at)
        whole = magic == MAGIC and number == at // BLOCK and set(rest) == {version}
        versions.append(version if whole else 0)
    return versions + [0] * (BLOCKS - len(versions))


# --- what happened ------------------------------------------------------------------

def written(directory):
    """(when it was acknowledged, version) of each write to a block, those before a truncation left out."""
    blocks = collections.defaultdict(list)
    text = run('iotracer', 'export', '--category', 'fs', f'{directory}/trace', good=(0, 1))
    rows = [row for row in csv.DictReader(io.StringIO(text, newline='')) if row['comm'] == 'power_cut']
    version = 0
    for row in sorted(rows, key=lambda row: int(row['time_ns'])):
        name = row['path'].removeprefix('/mnt/')
        if row['op'] in ('WRITE', 'DIO_WRITE') and name in FILES:
            version += 1
            end = int(row['time_ns']) + int(row['latency_ns'])
            for block in range(int(row['offset_bytes']) // BLOCK, (int(row['offset_bytes']) + int(row['result'])) // BLOCK):
                blocks[name, block].append((end, version))
        elif row['op'] == 'TRUNCATE':
            for block in range(int(row['requested_bytes']) // BLOCK, BLOCKS):
                blocks.pop((name, block), None)
    with open(f'{directory}/stored', encoding='ascii') as f:
        lines = [line.split() for line in f]
    done = [int(line[1]) for line in lines if line[0] == 'done']
    # While it is running, a store may be said whose event has not left the machine: m is not looked at.
    for line in lines if done else []:
        if line[0] == 'm':
            blocks['m', int(line[1])].append((int(line[3]), int(line[2])))
    assert not done or done == [version], f'{done} writes were made, {version} are in the trace'
    return blocks


def predicted(directory, *options):
    """(state, since when writes may be lost) of each block."""
    text = run('iotracer', 'durability', '--by', 'range', '--top', '0', '-f', 'json', *options, f'{directory}/trace',
               good=(0, 1))
    document = json.loads(text)
    found = {}
    for file in document['files']:
        name = file['file'].removeprefix('/mnt/')
        for part in file['ranges'] if name in FILES else []:
            assert part['offset_bytes'] % BLOCK == part['size_bytes'] % BLOCK == 0, part
            since = part['exposed_ns'] and document['at_monotonic_ns'] - part['exposed_ns']
            first = part['offset_bytes'] // BLOCK
            for block in range(first, first + part['size_bytes'] // BLOCK):
                assert (name, block) not in found, (name, block, part)
                found[name, block] = part['state'], since
    return found


# --- the comparison -----------------------------------------------------------------

def mistakes(blocks, prediction, disk, exact, worst):
    """Each block that is not as was predicted: a text."""
    wrong, counts = [], collections.Counter()
    for (name, block), writes in blocks.items():
        state, since = prediction.get((name, block), ('nothing', None))
        counts[state] += 1
        latest = writes[-1][1]
        # the newest that was acknowledged before those that may be lost
        sure = bisect.bisect_left(writes, (since, 0)) if since else len(writes) if state == 'durable' else 0
        least = writes[sure - 1][1] if sure else 0
        there = disk[name][block] if disk[name] else 0
        text = f'{name} block {block} is {state}: version {there} of {[version for _, version in writes]}, {least} is sure'
        if there < least or (exact and there > latest):
            wrong.append(f'{text}: lost')
        elif exact and there == latest and (state == 'memory' or (worst and state == 'cache')):
            wrong.append(f'{text}: should be lost')
        elif exact and state in ('nothing', 'unknown', 'writeback'):
            wrong.append(f'{text}: is known')
    return wrong, counts


def check(directory, mode):
    """One cut: "quiet" or "running". Prints the numbers of blocks in each state."""
    blocks, every = written(directory), predicted(directory, '--in-place')
    make_worst(directory)
    disks = {image: contents(directory, image) for image in ('disk.img', 'worst.img')}
    for image, disk in disks.items():
        wrong, counts = mistakes(blocks, every, disk, mode == 'quiet', image == 'worst.img')
        assert not wrong, '\n'.join([f'{directory}, {image}:', *wrong[:20]])
    # what calls prove is part of what is proved
    for block, (state, _) in predicted(directory).items():
        assert state != 'durable' or every[block][0] == 'durable', (block, every[block])
    # a prediction that ignores flushes
    lie = predicted(directory, '--in-place', '--write-cache=none')
    counts['lies'] = len(mistakes(blocks, lie, disks['worst.img'], False, True)[0])
    counts[mode] = len(blocks)
    print(json.dumps(counts))


def judge(file, *names):
    """Over all cuts there were blocks of each kind, or nothing was tested."""
    sums = collections.Counter()
    with open(file, encoding='ascii') as f:
        for line in f:
            sums.update(json.loads(line))
    print(dict(sums))
    assert all(sums[name] for name in names), sums


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
