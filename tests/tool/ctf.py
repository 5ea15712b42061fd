# SPDX-License-Identifier: GPL-2.0
"""
What ctf.bats runs: traces whose events are known, as babeltrace2 reads them. A trace begins at 1 s of the monotonic
clock, and lasts 999 s.
"""
import json
import os
import random
import shutil
import sys

import bt2

from join import BOOT, S, is_equal, run
from lib.categories import CATEGORIES
from lib.trace_file import seal_metadata
from perfetto import request, table
from stats import change, event, make


class Trace:
    """Events and counts of discarded events by category, and the environment."""
    def __init__(self, name):
        self.events, self.discarded, self.environment = {}, {}, None
        for message in bt2.TraceCollectionMessageIterator(name):
            # pylint: disable=protected-access
            if type(message) is bt2._EventMessageConst:
                self.event(message)
            elif type(message) is bt2._DiscardedEventsMessageConst:
                name = self.category(message.stream)
                self.discarded[name] = self.discarded.get(name, 0) + message.count
            elif type(message) is bt2._StreamBeginningMessageConst:
                self.environment = dict(message.stream.trace.environment.items())
                self.events[self.category(message.stream)] = []

    @staticmethod
    def category(stream):
        return os.path.basename(next(iter(stream.cls.values())).name.split(':')[0])

    def event(self, message):
        one = message.event
        category, op = one.cls.name.split(':')
        fields = {name: one.payload_field[name] for name in one.payload_field}
        op_field = fields.pop('op')
        try:
            labels = op_field.labels
        except AssertionError:  # a number that has none
            labels = [int(op_field)]
        self.events[category].append({
            'NAME': op, 'WALL': message.default_clock_snapshot.ns_from_origin, 'LABELS': list(labels),
            **{name: str(value) if isinstance(value, bt2._StringFieldConst) else int(value)
               for name, value in fields.items()}})


def export(name, *options, status=0):
    shutil.rmtree('out', ignore_errors=True)
    done = run('iotracer', 'export', '-f', 'ctf', '-o', 'out', *options, name, status=status)
    is_equal('output', done.stdout, '')
    return done.stderr


def read(name, *options, status=0):
    said = export(name, *options, status=status)
    found = Trace('out')
    # the program itself has nothing to say against it
    messages = run('babeltrace2', 'out').stderr.splitlines()
    is_equal('messages', [m for m in messages if not (m.startswith('WARNING: Tracer discarded') and found.discarded)], [])
    found.said = said
    return found


def check_rows(found, category, rows):
    """Events and rows of CSV are the same, in the same order."""
    events = found.events[category]
    is_equal('events', len(events), len(rows))
    for one, row in zip(events, rows):
        one = dict(one)
        row = dict(row)
        name, labels = one.pop('NAME'), one.pop('LABELS')
        op = row.pop('op')
        is_equal('operation', (name, labels), (op, [op]))
        one.pop('WALL')
        row.pop('timestamp')
        is_equal('names of fields', list(one), list(row))
        for key, value in one.items():
            if isinstance(value, int) and (row[key].startswith('0x') or not row[key]):
                is_equal(key, value, int(row[key] or '0', 16))
            else:
                is_equal(key, str(value), row[key] if isinstance(value, int) else row[key] or '-')


# --- the tests ----------------------------------------------------------------------

def rows():
    """Any values in the fields of every category."""
    rng = random.Random(1)
    made = {}
    for category in CATEGORIES:
        made[category] = [
            {'op': rng.randrange(2), 'time': 2 * S + i * 1000, 'latency': rng.choice((0, 5, 4000)), 'pid': rng.randrange(9),
             'tid': rng.randrange(2**32), 'comm': 'fio', 'cgroup': rng.randrange(2**40), 'sample': 1} for i in range(50)]
    some = {'fs': {'result': -2, 'path': 1, 'offset': 2**64 - 1, 'address': 2**63, 'fd': -1, 'flags': 0x42, 'kind': 1},
            'block': {'result': 512, 'path': 2, 'disk': 'sda', 'device': 0x800001, 'ioprio': 0x4001, 'class': 1},
            'net': {'local': '192.0.2.1', 'local_port': 80, 'family': 2, 'protocol': 6},
            'uring': {'user_data': 2**64 - 1, 'result': -11, 'opcode': 22}}
    for category, more in some.items():
        for one in made[category][::2]:
            one.update(more)
    make('t', ['/srv/a,"b"', '/ü'], **made)
    found = read('t')
    is_equal('streams', sorted(found.events), sorted(CATEGORIES))
    for category in CATEGORIES:
        check_rows(found, category, table('t', category))
        is_equal('times', [one['WALL'] for one in found.events[category]],
                 sorted(BOOT + r['time'] + r['latency'] for r in made[category]))


def by_hand():
    make('t', ['/srv/a.db'], fs=[event('READ', 10 * S, 1000, 4096, path=1, offset=512, requested=8192, inode=5),
                                event('OPEN', 11 * S, 300, -2, path=1, address=255)])
    change('t', host='alpha')
    export('t')
    first, second = run('babeltrace2', '--clock-gmt', '--clock-date', 'out').stdout.splitlines()
    assert first.startswith('[2017-07-14 02:40:09.000001000] (+?.?????????) alpha fs:READ: { '), first
    for part in ('time_ns = 10000000000, latency_ns = 1000, offset_bytes = 512, requested_bytes = 8192, result = 4096, inode = 5,',
                 'path = "/srv/a.db"', 'op = ( "READ" : container = 0 )', 'comm = "fio"'):
        assert part in first, (part, first)
    for part in '(+0.999999300)', 'fs:OPEN: {', 'result = -2,', 'address = 0xFF,':
        assert part in second, (part, second)
    found = Trace('out')
    is_equal('environment', {k: str(v) for k, v in found.environment.items()}, {
        'domain': 'kernel', 'sysname': 'Linux', 'kernel_release': os.uname().release, 'tracer_name': 'iotracer',
        'hostname': 'alpha', 'fs_events': '2', 'fs_lost': '0', 'fs_missed': '0', 'fs_unreadable': '0'})


def packets():
    make('t', ['/' + 'p' * 200], fs=[event('READ', 2 * S + i * 1000, 5, i, path=1) for i in range(3000)])
    found = read('t')
    check_rows(found, 'fs', table('t', 'fs'))
    # what each packet's head says of its size leads to the next one
    at, sizes = 0, []
    with open('out/fs', 'rb') as f:
        data = f.read()
    while at < len(data):
        is_equal('magic', data[at:at + 4], bytes.fromhex('c11ffcc1'))
        sizes.append(int.from_bytes(data[at + 32:at + 40], 'little') // 8)
        at += sizes[-1]
    assert at == len(data) and len(sizes) > 3, sizes


def missing():
    events = [event('READ', (2 + i) * S, 5, 1, seq=i + 3 * (i >= 4), gap=3 * (i == 4)) for i in range(6)]
    make('t', fs=events, block=[request(0, 2 * S, 5, gap=4, seq=4)])
    change('t', missed=7)
    found = read('t')
    is_equal('discarded', found.discarded, {'fs': 3, 'block': 4})
    is_equal('environment', [found.environment[f'fs_{k}'] for k in ('events', 'lost', 'missed', 'unreadable')], [6, 3, 7, 0])
    assert '3 events (33.33 %) are missing' in found.said and '7 calls are missing' in found.said, found.said
    change('t', events=16)
    export('t', status=1)
    found = Trace('out')
    is_equal('unreadable', (found.discarded['fs'], int(found.environment['fs_unreadable'])), (13, 10))
    export('t', '--partial')


def selected():
    make('t', ['/srv/a', '/srv/b'],
         fs=[event(('READ', 'WRITE')[i % 2], (2 + i) * S, 5, 9, path=1 + i % 3 % 2, pid=i % 3 + 1) for i in range(60)],
         block=[request(i % 2, (2 + i) * S, 5, path=1) for i in range(30)])
    for options in (('--filter', 'path=/srv/a'), ('--from', '+9', '--to', '+20'), ('--filter', 'op=write pid=1')):
        found = read('t', *options)
        for category in 'fs', 'block':
            check_rows(found, category, table('t', category, *options))
        is_equal('discarded', found.discarded, {})
    is_equal('category', list(read('t', '--category', 'block').events), ['block'])


def anonymized():
    make('t', ['/srv/secret.db'], fs=[event('READ', 2 * S, 5, 1, path=1, comm='secret')],
         net=[{'op': 0, 'time': 2 * S, 'latency': 5, 'local': '192.0.2.1', 'local_port': 80, 'family': 2}])
    change('t', host='secret')
    with open('key', 'wb') as f:
        f.write(bytes(range(32)))
    hidden = '--anonymize', '--key-file', 'key'
    found = read('t', *hidden)
    for category in 'fs', 'net':
        check_rows(found, category, table('t', category, *hidden))
    for name in os.listdir('out'):
        with open('out/' + name, 'rb') as f:
            assert b'secret' not in f.read(), name
    export('t')
    with open('out/metadata', 'rb') as f:
        assert b'hostname = "secret"' in f.read()


def hostile():
    most = 2**64 - 1
    make('t', ['/x\\033[31m\\377', '/' + 'p' * 4000],
         fs=[event('READ', 2 * S, most, -2**63, path=1, comm='\\033[2J\\377'),
             event('READ', 3 * S, 2**63, most // 2, path=10**18, comm='', offset=most), event('READ', 0, 0, 1, tid=0),
             event('READ', 4 * S, 5, 0, path=2)],
         block=[request(0xfff0, 2 * S, 5, disk='\\033[0m\\200')])
    with open('t/metadata.json', encoding='utf-8') as f:
        metadata = json.load(f)
    metadata.update(host='a"; } b\\\n', kernel='\x1b[2J"\\')
    with open('t/metadata.json', 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata('t/metadata.json')
    found = read('t')
    is_equal('events', {k: len(v) for k, v in found.events.items()}, {'fs': 4, 'block': 1})
    is_equal('host', str(found.environment['hostname']), 'a"; } b\\134\\012')
    is_equal('kernel', str(found.environment['kernel_release']), '\\033[2J"\\134')
    is_equal('operation', [found.events['block'][0][k] for k in ('NAME', 'LABELS')], ['unknown', [0xfff0]])
    is_equal('times', sorted(one['time_ns'] for one in found.events['fs']), [0, 2 * S, 3 * S, 4 * S])
    is_equal('paths', {one['path'] for one in found.events['fs']},
             {'/x\\033[31m\\377', '/' + 'p' * 4000, '?', '-'})


def mistakes():
    make('one', fs=[event('READ', 2 * S, 5, 10)])
    make('two', fs=[event('READ', 2 * S, 5, 400)])
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')

    def one_line(status, part, *options):
        done = run('iotracer', 'export', '-f', 'ctf', *options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information'))]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(1, 'both: is a merged trace', '-o', 'out', 'both')
    one_line(2, '--format=ctf makes several files: say where (-o DIRECTORY)', 'one')
    one_line(2, '--format=ctf goes without --columns', '-o', 'out', '--columns=io-tracer', 'one')
    one_line(2, '--format=ctf goes without --gzip', '-o', 'out', '-z', 'one')
    one_line(1, 'none/out', '-o', 'none/out', 'one')
    one_line(1, 'has no category block', '-o', 'out', '--category=block', 'one')
    assert not os.path.exists('out')
    export('one')
    one_line(1, 'out/fs: is there already: export to another directory, or remove it', '-o', 'out', 'one')


if __name__ == '__main__':
    globals()[sys.argv[1]]()
