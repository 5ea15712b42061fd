# SPDX-License-Identifier: GPL-2.0
"""
What vm_guest.bats looks at: rows of `iotracer join` of a guest and its host, the host's calls, and
what is on the disk. Usage: python3 vm_guest.py FUNCTION...
"""
import collections
import csv
import datetime
import json
import sys

from join import check_sum, is_equal, run, S

SECTOR, CLUSTER, LETTERS = 512, 65536, 'fdrht'


def ns(timestamp):
    """The time of day of 2026-11-27T03:21:40.000000123Z."""
    seconds = datetime.datetime.fromisoformat(timestamp[:19] + '+00:00').timestamp()
    return int(seconds) * S + int(timestamp[20:29])


def counted(ranges):
    return collections.Counter(sector for at, length in ranges
                               for sector in range(at // SECTOR, (at + length) // SECTOR))


class Row:
    """A request of the guest: when it was in the device by the guest's clock, and its calls by the host's."""

    def __init__(self, row):
        check_sum(row)
        self.op, self.path, self.match = row['op'], row['path'], row['match']
        self.range = int(row['offset_bytes']), int(row['requested_bytes'])
        self.begin = ns(row['timestamp']) + int(row['queue_latency_ns'])
        self.end = self.begin + int(row['device_latency_ns'])
        self.clock = int(row['clock_lo_ns']), int(row['clock_hi_ns'])
        self.has_calls = row['host_ns'] != ''
        if self.has_calls:
            self.before, self.host, self.after, self.below = (int(row[name]) for name in (
                'qemu_before_ns', 'host_ns', 'qemu_after_ns', 'host_request_ns'))
            self.call = ns(row['host_timestamp'])


def read_rows():
    with open('rows', newline='', encoding='utf-8') as f:
        return [Row(row) for row in csv.DictReader(f)]


def matched(rows):
    """99 % of the data, and each flush, unless nothing was written since the last one: QEMU syncs nothing then."""
    data = [row for row in rows if row.op != 'FLUSH']
    missing = [vars(row) for row in data if row.match == 'no']
    print(len(rows), len(data), missing)
    assert len(data) >= 100 and len(missing) <= len(data) // 100, missing
    dirty, flushes = False, 0
    for row in rows:
        if row.op == 'FLUSH':
            assert row.match == 'order' or not dirty, vars(row)
            flushes += row.match == 'order'
        dirty = row.op == 'WRITE' or dirty and row.op != 'FLUSH'
    assert flushes >= 2, flushes


def within(rows):
    """An offset of the clocks allows the calls of a request, and one allows those of all, but for the drift."""
    for row in rows:
        if row.has_calls:
            assert max(row.clock[0], row.call + row.host - row.end) <= min(row.clock[1], row.call - row.begin), vars(row)
    drift = (rows[-1].end - rows[0].begin) // 10000
    assert max(row.clock[0] for row in rows) - min(row.clock[1] for row in rows) <= 2 * drift


def content(rows):
    """What the guest wrote of its files is on the disk where the requests say, and all of it was written."""
    with open('content', 'rb') as f:
        disk = f.read()
    for letter, size in zip(LETTERS, (512, 256, None, 4, 8)):
        own = [row.range for row in rows if row.op == 'WRITE' and row.path == '/mnt/' + letter]
        for at, length in own:
            is_equal(letter, disk[at:at + length], letter.encode() * length)
        if size:
            is_equal(letter, len(counted(own)), size << 10 >> 9)


def written(rows, first_writes):
    """
    The host's calls have the bytes of the guest's writes, each as often as it wrote them. With
    @first_writes they may have more: of whole clusters, and no cluster twice.
    """
    machine, = [drive for drive in json.loads(run('cat', 'host/metadata.json').stdout)['vm']['drives']
                if drive['name'] == 'disk0']
    image = machine['layers'][0]['file']
    events = [json.loads(line) for line in run('iotracer', 'export', 'host', '--category=fs', '-f', 'json',
                                               '--guest-image=' + image).stdout.splitlines()]
    begin, end = rows[0].begin + rows[0].clock[0], max(row.end + row.clock[1] for row in rows)
    found = counted((row['guest_offset_bytes'], row['guest_length_bytes']) for row in events
                    if row['op'] == 'DIO_WRITE' and row['path'] == image and row['guest_kind'] == 'data' and
                    begin <= ns(row['timestamp']) <= end)
    asked = counted(row.range for row in rows if row.op == 'WRITE')
    is_equal('missing', asked - found, collections.Counter())
    more = found - asked
    if first_writes:
        is_equal('more than once', set(more.values()) - {1}, set())
    else:
        is_equal('more', more, collections.Counter())


def every(first_writes):
    rows = read_rows()
    matched(rows)
    within(rows)
    content(rows)
    written(rows, first_writes)


def raw():
    every(False)


def qcow2():
    every(True)


def writes(rows, path):
    return [row for row in rows if row.op == 'WRITE' and row.path == path]


def time_of(name):
    with open(name, encoding='ascii') as f:
        return int(f.read())


def slow():
    """
    The disk held a write for two seconds, QEMU one of two others: the second one, unless the guest's
    filesystem wrote something of its own before them.
    """
    rows = read_rows()
    held = writes(rows, '/mnt/h')[-1]
    resumed, let_go = time_of('resumed'), time_of('let_go')
    assert held.call <= resumed - 2 * S and held.call + held.host >= resumed, vars(held)
    assert held.host >= held.below >= 2 * S, vars(held)
    throttled = max(writes(rows, '/mnt/t')[-2:], key=lambda row: row.before)
    assert throttled.call >= let_go and throttled.before >= 2 * S, vars(throttled)
    with open('text', encoding='utf-8') as f:
        text = f.read()
    for path, row in ('/mnt/h', held), ('/mnt/t', throttled):
        parts = [f'{part / 1000:.1f}' for part in (row.before, row.host, row.after)]
        assert any(line.split()[-5:-2] == parts and line.endswith('  ' + path) for line in text.splitlines()), text


if __name__ == '__main__':
    for name in sys.argv[1:]:
        globals()[name]()
