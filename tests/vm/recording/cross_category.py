# SPDX-License-Identifier: GPL-2.0
"""
cross_category.py EXPORT FILE DEVICE: check that the categories of a database's trace agree

EXPORT has the CSVs of fs, cache and block of one trace, FILE is the database, DEVICE the
major:minor of its disk. Each write dirties its pages, each page whose writeback begins
was dirty, and the requests carry exactly these pages and name the process that dirtied
them. Prints the sums of all requests to the device: sectors read and written, including
those of WRITE_ZEROES.
"""
import collections
import csv
import glob
import sys

PAGE = 4096


def rows(export, directory):
    for name in sorted(glob.glob(f'{export}/{directory}/*.csv')):
        with open(name, newline='', encoding='utf-8', errors='surrogateescape') as f:
            yield from csv.DictReader(f)


def span(offset, length):
    return range(offset // PAGE, -(-(offset + length) // PAGE))


def is_true(condition, words):
    if not condition:
        raise AssertionError(words)


def story(export, path, device):
    """Count the pages that were written by calls, became dirty, began writeback, and were sent."""
    written, dirty, started, sent = (collections.Counter() for _ in range(4))
    for r in rows(export, 'fs'):
        if r['op'] == 'WRITE' and r['path'].startswith(path) and int(r['result']) > 0:
            written.update((r['inode'], p) for p in span(int(r['offset_bytes']), int(r['result'])))
    files = {inode for inode, _ in written}
    for r in rows(export, 'cache'):
        if r['device'] != device or r['inode'] not in files:
            continue
        pages = [(r['inode'], int(r['index_pages']) + i) for i in range(int(r['pages']))]
        if r['op'] == 'DIRTY':
            is_true(r['path'].startswith(path), f'a page of another file: {r}')
            dirty.update(pages)
        elif r['op'] == 'WRITEBACK_START':
            started.update(pages)
    for r in rows(export, 'block'):
        # an empty write is the flush of an fsync of the file
        if r['device'] == device and r['inode'] in files and r['op'] == 'WRITE' and \
                int(r['requested_bytes']):
            is_true(r['origin_comm'] == 'sqlite3', f'not from the database: {r}')
            is_true(int(r['latency_ns']) > 0, f'no latency: {r}')
            sent.update((r['inode'], p) for p in span(int(r['offset_bytes']), int(r['requested_bytes'])))
    return written, dirty, started, sent


def main():
    export, path, device = sys.argv[1:]
    written, dirty, started, sent = story(export, path, device)
    is_true(len(written) > 100, f'only {len(written)} pages were written')
    is_true(set(dirty) == set(written), f'dirty, not written: {set(dirty) - set(written)}; '
            f'written, not dirty: {set(written) - set(dirty)}')
    is_true(set(started) <= set(dirty), f'written back, never dirty: {set(started) - set(dirty)}')
    is_true(started == sent, f'started, not sent: {started - sent}; sent, not started: {sent - started}')
    early = [r for r in rows(export, 'block') if 'EARLY' in r['flags']]
    is_true(len(early) < 5, f'what the recorder writes is not left out: {early}')
    sectors = collections.Counter()
    for r in rows(export, 'block'):
        if r['device'] == device:
            sectors[r['op']] += max(int(r['result']), 0) // 512
    print(sectors['READ'], sectors['WRITE'] + sectors['WRITE_ZEROES'])


if __name__ == '__main__':
    main()
