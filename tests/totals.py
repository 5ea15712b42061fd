# SPDX-License-Identifier: GPL-2.0
"""
The law of totals.bats: what fio counted, the target's log has.

    python3 totals.py FILESYSTEM DIRECTORY RESULTS SIZE

The targets are the files of fio's jobs in DIRECTORY, named like the jobs, of SIZE bytes each.
fio's own counts are in RESULTS/FILESYSTEM.json. Of each engine RESULTS/FILESYSTEM-ENGINE gets
a line with the counts of each of its jobs, and a line "wrong: ..." for each law that is broken.
RESULTS/FILESYSTEM-stats gets a line for each level of each target.
"""
import collections
import json
import os
import sys

from lib.iot import IOT, slurp, targets, unlisted

PAGE = 4096
SECTOR = 512


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


def level_line(line):
    """A line of a target's stats, which is wrong unless each event is accounted for."""
    seen, stored, overwritten, lost, missed = map(int, line.split(' ')[1:])
    return ('' if seen == stored + overwritten + lost and not missed else 'wrong: ') + line


def main(filesystem, directory, results, size):
    names = {unlisted(paths[0]): unlisted(name) for name, paths in targets()}
    results = os.path.join(results, filesystem)
    for job in json.loads(slurp(results + '.json'))['jobs']:
        name = job['jobname']
        target = names[os.fsencode(os.path.join(directory, name))]
        log = Log(slurp(f'{IOT}/{os.fsdecode(target)}/log'))
        with open(f'{results}-{name.split("-")[0]}', 'a') as f:
            print(f'{name}: fio reads {job["read"]["total_ios"]} {job["read"]["io_bytes"]}, writes '
                  f'{job["write"]["total_ios"]} {job["write"]["io_bytes"]}; log {log}', file=f)
            for law in broken_laws(filesystem, job, int(size), log):
                print(f'wrong: {name}: {law}', file=f)
        with open(results + '-stats', 'a') as f:
            for line in slurp(f'{IOT}/{os.fsdecode(target)}/stats').splitlines():
                if line.startswith(('vfs ', 'blk ', 'total ')):
                    print(level_line(line), file=f)


main(*sys.argv[1:])
