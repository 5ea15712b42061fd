# SPDX-License-Identifier: GPL-2.0
"""
The law: what fio says it did is what the log holds, at the VFS exactly, and at
the block layer wherever every byte of the file has to move once.

On each filesystem one fio runs 64 jobs at the same time: 8 engines, buffered
and direct, read, write, randread and randwrite, each on a file and so a target
of its own. Files are on disk and out of the cache before, and written files
are synced at the end.

btrfs: no compression and no inline files here; compressed extents are written
from pages of no file, so no block event can name one.
"""
import collections
import itertools
import json
import os
import re

from lib.iot import forget_all, IOT, is_equal, must, reload, slurp, targets, unlisted, unload
from lib.machine import DISKS, execute, new_filesystem, new_tmpfs, umount
from lib.suite import Suite

PAGE = 4096
SECTOR = 512
SIZE = 1 << 20
ENGINES = 'psync', 'sync', 'vsync', 'pvsync', 'pvsync2', 'libaio', 'posixaio', 'io_uring'
JOBS = 'read', 'write', 'randread', 'randwrite'


class Log:
    """
    What a target's log has. ops and sizes count by level and direction, "VFSR". once: bytes of
    the disk that were read at least once. offsets: where calls began. share: the percentage of
    calls that begin where the one before ended.
    """

    def __init__(self, text):
        self.ops, self.sizes = collections.Counter(), collections.Counter()
        self.offsets, pages = set(), set()
        calls = follows = end = 0
        for line in text.splitlines():
            _, direction, at, size, level, *_ = line.split(';')
            at, size = int(at), int(size)
            self.ops[level + direction] += 1
            self.sizes[level + direction] += size
            if level + direction == 'BLKR':
                pages.update(range(at * SECTOR, at * SECTOR + size, PAGE))
            if level == 'VFS' and size:
                follows += calls > 0 and at == end
                calls += 1
                end = at + size
                self.offsets.add(at)
        self.once = PAGE * len(pages)
        self.share = 100 * follows // (calls - 1) if calls > 1 else -1

    def __str__(self):
        counts = (f'{key} {self.ops[key]} {self.sizes[key]}' for key in ('VFSR', 'VFSW', 'BLKR', 'BLKW'))
        return f'{", ".join(counts)}, offsets {len(self.offsets)}, in order {self.share} %'


def broken_laws(filesystem, job, size, log):
    """What is wrong with the log of a job of fio."""
    name, reads, writes = job['jobname'], job['read'], job['write']
    # Every byte of the file moved once, so as many at the block layer. Since 7.x a direct read of
    # btrfs into memory that is not there yet goes by the page cache, which reads ahead (diskstats
    # says so, too, without us).
    may_read_ahead = filesystem == 'btrfs' and name.endswith('-direct-read')
    laws = {
        'VFS reads': (log.ops['VFSR'], log.sizes['VFSR']) == (reads['total_ios'], reads['io_bytes']),
        'VFS writes': (log.ops['VFSW'], log.sizes['VFSW']) == (writes['total_ios'], writes['io_bytes']),
        'BLK reads': log.sizes['BLKR'] == reads['io_bytes'] or
                     may_read_ahead and log.sizes['BLKR'] > reads['io_bytes'],
        'BLK reads of each byte': log.once == reads['io_bytes'],
        'BLK writes': log.sizes['BLKW'] == writes['io_bytes'],
        'all of the file': reads['io_bytes'] + writes['io_bytes'] == size,
        'each block': len(log.offsets) == reads['total_ios'] + writes['total_ios'],
    }
    # io_uring chooses the order itself where a call would have to wait.
    if '-rand' in name:
        laws['order'] = log.share <= 30
    elif not name.startswith('io_uring-'):
        laws['order'] = log.share >= 70
    return [law for law, holds in laws.items() if not holds]


def jobs():
    """Yield the name of each job, its engine, whether it is direct, and what it does."""
    for engine, mode, job in itertools.product(ENGINES, ('buffered', 'direct'), JOBS):
        yield f'{engine}-{mode}-{job}', engine, mode == 'direct', job


def run_fio(filesystem):
    """Run all jobs on a filesystem, and read what fio counted."""
    words = ['fio', '--output-format=json', '--output=/tmp/totals', '--thread', '--clocksource=clock_gettime',
             '--disk_util=0', f'--size={SIZE}', '--bs=16k', '--fallocate=none', '--end_fsync=1', '--randrepeat=1',
             '--invalidate=0']
    for name, engine, direct, job in jobs():
        depth = 4 if engine in ('libaio', 'posixaio', 'io_uring') else 1
        words += [f'--name={name}', f'--filename=/mnt/{filesystem}/{name}', f'--rw={job}', f'--ioengine={engine}',
                  f'--direct={int(direct)}', f'--iodepth={depth}']
    execute(*words)
    return json.loads(slurp('/tmp/totals'))['jobs']


def unaccounted(stats):
    """The lines of a target's stats that do not account for each event."""
    of = re.findall(r'^((?:vfs|blk|total) (\d+) (\d+) (\d+) (\d+) (\d+))$', stats, re.M)
    is_equal(len(of), 3)
    return [line for line, *counts in of
            if (n := [int(count) for count in counts])[0] != sum(n[1:4]) or n[4]]


def has_totals(filesystem):
    """What fio counted on a filesystem is what the targets have."""
    new_filesystem(filesystem, DISKS[filesystem], f'/mnt/{filesystem}')
    data = os.urandom(SIZE) # which does not compress
    paths = {name: f'/mnt/{filesystem}/{name}' for name, *_ in jobs()}
    for path in paths.values():
        with open(path, 'wb') as f:
            f.write(data)
    must(''.join(f'add {path}\n' for path in paths.values()))
    os.sync()
    forget_all()
    of = {unlisted(listed[0]).decode(): f'{IOT}/{name.decode()}' for name, listed in targets()}
    for top in of.values():
        must('reset', top + '/control')
    done = run_fio(filesystem)
    is_equal(len(done), len(paths))
    wrong = []
    for job in done:
        top = of[paths[job['jobname']]]
        log = Log(slurp(top + '/log'))
        broken = broken_laws(filesystem, job, SIZE, log) + unaccounted(slurp(top + '/stats'))
        print(f'{job["jobname"]}: fio reads {job["read"]["total_ios"]} {job["read"]["io_bytes"]}, writes '
              f'{job["write"]["total_ios"]} {job["write"]["io_bytes"]}; log {log}')
        wrong += [f'{job["jobname"]}: {law}' for law in broken]
    is_equal(wrong, [])
    must(''.join(f'remove {path}\n' for path in paths.values()))
    umount(f'/mnt/{filesystem}')


def setup():
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files')
    reload('MAX_EVENTS=10000')


def teardown():
    unload()
    umount('/mnt/files')


SUITE = Suite(setup=setup, teardown=teardown)


@SUITE.test('ext4: the log has the totals of each engine of fio, buffered and direct')
def on_ext4():
    has_totals('ext4')


@SUITE.test('xfs: the log has the totals of each engine of fio, buffered and direct')
def on_xfs():
    has_totals('xfs')


@SUITE.test('btrfs: the log has the totals of each engine of fio, buffered and direct')
def on_btrfs():
    has_totals('btrfs')
