# SPDX-License-Identifier: GPL-2.0
"""
What sql.bats runs: queries of traces whose events are known. A trace begins at 1 s of the monotonic clock
and lasts 999 s.
"""
import csv
import glob
import io
import json
import os
import pty
import random
import signal
import sqlite3
import subprocess
import sys

from join import REALTIME, S, is_equal, run, trace
from lib.categories import CATEGORIES
from lib.places import TOP
from stats import any_events, change, event, few, make

# What bytes are, in words of SQL.
BYTES = "case when result > 0 and op in ('READ', 'WRITE', 'DIO_READ', 'DIO_WRITE', 'SENDFILE') then result else 0 end"
WIDTHS = {'u8': 8, 'u16': 16, 'u32': 32, 'u64': 64, 's32': 32, 's64': 64}
ADDRESSES = '192.0.2.7', '2001:db8::5', '::', '127.0.0.1'


def sql(name, query, *options, status=0):
    return run('iotracer', 'sql', *options, name, query, status=status)


def table(text):
    return list(csv.DictReader(io.StringIO(text, newline='')))


def rows(name, query, *options, status=0):
    """The rows as lists of JSON's values."""
    done = sql(name, query, '-f', 'json', *options, status=status)
    return [list(json.loads(line).values()) for line in done.stdout.splitlines()]


def texts(lines):
    """Objects of JSON, whose values are all texts."""
    return [{k: str(v) for k, v in json.loads(line).items()} for line in lines.splitlines()]


def value(name, query, *options):
    (found,), = rows(name, query, *options)
    return found


def exported(name, category, *options):
    return table(run('iotracer', 'export', '--category', category, *options, name).stdout)


def schema(name):
    """The fields of each category."""
    with open(name + '/schema.json', encoding='utf-8') as f:
        return {e['name']: e['fields'] for e in json.load(f)['events'] if e['name'] in CATEGORIES}


def any_value(rng, field):
    kind, type_ = field['kind'], field['type']
    if kind == 'ipaddr':
        return rng.choice(ADDRESSES)
    if type_ == 'char':
        return rng.choice(('a', 'two\\040words', '\\075x', '"\\054\'', '\\033[1m', '\\303\\274', '\\200'))
    if kind == 'path':
        return rng.randrange(8)
    if kind == 'device':
        return rng.choice((0x800001, 0x800002, 0xfd00002, 0))
    if field['name'] in ('time', 'latency'):
        return rng.randrange(2 * S, 900 * S) if field['name'] == 'time' else rng.randrange(10**6)
    bits = WIDTHS[type_]
    least = -2**(bits - 1) if type_[0] == 's' else 0
    return rng.choice((rng.randrange(6), rng.randrange(least, least + 2**bits), least, least + 2**bits - 1))


def make_any(name, nr=40, categories=CATEGORIES):
    """Records of all categories, with any values in their fields."""
    make('none', fs=[])
    rng = random.Random(7)
    made = {}
    for category, fields in schema('none').items():
        if category in categories:
            # no process that was executed: it would have a command line
            made[category] = [{f['name']: any_value(rng, f) for f in fields
                               if f['name'] not in ('seq', 'cpu', 'reserved', 'sample')} for _ in range(nr)]
    trace(name, made, [f'/srv/f{i}' for i in range(5)] + ['/a\\054"b', '/\\033[2J'], 100, None)


# --- the tests ----------------------------------------------------------------------

def columns():
    make_any('t')
    for category in CATEGORIES:
        found = texts(sql('t', f'select * from "{category}"', '-f', 'json').stdout)
        expected = texts(run('iotracer', 'export', '-f', 'json', '--category', category, 't').stdout)
        begins = [row.pop('begin_ns') for row in found]
        is_equal(category, found, expected)
        is_equal('rows', len(found), 40)
        # the monotonic clock is that of the day, but for where it began
        is_equal('begin_ns', [int(n) for n in begins], [int(row['time_ns']) - S + REALTIME for row in expected])


INTEGERS = 'decimal', 'time', 'signed', 'returned', 'sqeoff', 'port'


def types():
    make_any('t')
    for category, fields in schema('t').items():
        types_ = [json.loads(line) for line in
                  sql('t', 'select ' + ', '.join(f'group_concat(distinct typeof("{name}")) "{name}"' for name in
                                                 exported('t', category)[0]) + f' from "{category}"',
                      '-f', 'json').stdout.splitlines()][0]
        for field in fields:
            if field['name'] in ('reserved', 'index') or (field['kind'] == 'text' and field['type'] != 'char'):
                continue
            name = next(name for name in types_ if name in (field['name'], f"{field['name']}_{field['unit']}s",
                                                            f"{field['name']}_ns"))
            found = set(types_[name].split(','))
            wide = field['type'] == 'u64' and field['name'] not in ('time', 'latency')
            if field['kind'] in INTEGERS:
                assert 'integer' in found and found <= {'integer', 'text'} and (wide or 'text' not in found), (field, found)
            else:
                is_equal(str(field), found, {'text'})
    most = 2**64 - 1
    make('t', fs=[event('READ', 2 * S, 5, -5, inode=most, offset=2**63 - 1, requested=2**63)])
    is_equal('large', rows('t', 'select inode, typeof(inode), offset_bytes, requested_bytes, result from fs'),
             [[str(most), 'text', 2**63 - 1, str(2**63), -5]])
    is_equal('compared', value('t', f'select count(*) from fs where inode = {most} and inode > 5 and requested_bytes > 0'
                               ' and not inode < 5'), 1)


OFTEN = 'op', 'device', 'pid', 'inode', 'begin_ns', 'result'


def literal(x):
    if x is None:
        return 'NULL'
    return "'" + x.replace("'", "''") + "'" if isinstance(x, str) else str(x)


def conditions():
    """The same conditions on a table of sqlite itself, which has all rows."""
    make_any('t', 60, ('fs', 'block', 'net'))
    run('iotracer', 'export', '--format=sqlite', '-o', 'all.db', 't')
    base = sqlite3.connect('all.db')
    rng = random.Random(3)
    matched = set()
    for category in 'fs', 'block', 'net':
        cursor = base.execute(f'select * from {category}')
        names = [d[0] for d in cursor.description]
        table_ = cursor.fetchall()
        queries = []
        for _ in range(250):
            parts, row = [], rng.choice(table_)
            for _ in range(rng.choice((1, 1, 2, 3))):
                name = rng.choice([*names, *[n for n in names if n in OFTEN] * 4])
                x = row[names.index(name)]
                if isinstance(x, int):
                    x = rng.choice((x, x, x, x, x, x + 1, x - 1, x + 0.5, -0.5, str(x), None, 1e300, -1e300, f'{x}x'))
                    x = x if not isinstance(x, int) or -2**63 < x < 2**63 else 0
                elif isinstance(x, str):
                    x = rng.choice((x, x, x, x, x, x, x.lower(), x + ' ', '0' + x, 5, None, '4096:1', '8:'))
                end = rng.choice(('', '', '', ' collate nocase', ' collate rtrim')) if isinstance(x, str) else ''
                parts.append(f'"{name}" {rng.choice(("=", "=", "=", "<", "<=", ">", ">=", "is"))} {literal(x)}{end}')
            queries.append(' and '.join(parts))
        script = ''.join(f'select seq from {category} where {q} union all select -1;\n' for q in queries)
        done = run('iotracer', 'sql', '-f', 'json', 't', input=script)
        found, one = [], []
        for line in done.stdout.splitlines():
            seq = json.loads(line)['seq']
            if seq == -1:
                found.append(one)
                one = []
            else:
                one.append(seq)
        for query, answer in zip(queries, found, strict=True):
            expected = [seq for seq, in base.execute(f'select seq from {category} where {query} order by rowid')]
            is_equal(query, answer, expected)
            matched.update(part.split('"')[1] for part in query.split(' and ') if ' = ' in part and expected)
    assert matched >= {'begin_ns', *OFTEN}, matched


def opened(query, file):
    """How often a query opens a file of the trace."""
    subprocess.run(['strace', '-f', '-o', 'calls', '-e', 'trace=openat', 'iotracer', 'sql', 't', query], check=True,
                   stdout=subprocess.DEVNULL)
    with open('calls', encoding='utf-8') as f:
        return sum(f'/{file}"' in line or f'"{file}"' in line for line in f)


def plans():
    make('t', fs=list(any_events(random.Random(2), 'fs', 50)),
         block=[{'op': 1, 'time': 2 * S, 'latency': 1, 'pid': i % 3} for i in range(20)])
    is_equal('list', opened("select count(*) from fs where op in ('READ', 'WRITE') and pid in (1, 2, 3)", 'fs.iot'), 1)
    is_equal('or', opened("select count(*) from fs where op = 'READ' or op = 'WRITE' or pid = 3", 'fs.iot'), 1)
    is_equal('joined', opened('with b as materialized (select pid, count(*) n from block group by pid)'
                              ' select fs.pid, n, count(*) from fs join b on b.pid = fs.pid group by 1', 'block.iot'), 1)
    done = sql('t', 'with recursive n(i) as (select 1 union all select i + 1 from n limit 200)'
               ' select count(*) from n cross join block on block.pid = n.i')
    is_equal('warned', done.stderr.count('block is read again for each row of another table'), 1)
    # what _trace needs no reading for
    is_equal('_trace', opened('select category, host, begin_ns, end_ns from _trace', 'fs.iot'), 0)
    is_equal('other', opened('select count(*) from fs', 'block.iot'), 0)


def sums():
    rng = random.Random(1)
    make('t', [f'/srv/d{i % 7}/f{i}.x{i % 3}' for i in range(1999)], fs=list(any_events(rng, 'fs', 6000, 2000)))
    for key, column in ('op', 'op'), ('file', 'path'), ('process', 'pid'), ('command', 'comm'), ('device', 'device'):
        stats = table(run('iotracer', 'stats', '-f', 'csv', '--by', key, '--top', '0', 't').stdout)
        query = (f'select {column}, count(*), sum(result < 0), sum({BYTES}), sum(latency_ns), min(latency_ns),'
                 f' max(latency_ns) from fs group by 1')
        found = [tuple(map(str, row)) for row in rows('t', query)]
        names = key, 'count', 'errors', 'bytes', 'latency_total_ns', 'latency_min_ns', 'latency_max_ns'
        is_equal(key, sorted(found), sorted(tuple(row[n] for n in names) for row in stats))
        with open('fs.csv', 'w', encoding='utf-8') as f:
            f.write(run('iotracer', 'export', 't').stdout)
        # of the type of what is written, so that sums and comparisons are those of numbers
        typed = query.replace('latency_ns', 'cast(latency_ns as int)').replace('result', 'cast(result as int)')
        imported = run('sqlite3', '-json', '-cmd', '.import --csv fs.csv fs', ':memory:', typed).stdout
        is_equal(key, sorted(found), sorted(tuple(map(str, row.values())) for row in json.loads(imported)))


def questions():
    """The queries of tools/examples/queries.sql, by number."""
    with open(f'{TOP}/tools/examples/queries.sql', encoding='utf-8') as f:
        parts = f.read().split('\n-- ')[1:]
    found = {}
    for part in parts:
        number, dot, _ = part.partition('.')
        if dot and number.isdigit():
            found[int(number)] = '-- ' + part if int(number) not in found else None
        elif found:
            found[max(found)] += '\n-- ' + part
    return found


def make_examples(name):
    """
    a.db is written by calls of 100 bytes and then by requests of 4096; b.log is written by direct I/O, and no
    request of it is in the trace; c is read and never written.
    """
    ms = 10**6
    fs = [event('WRITE', 10 * S, 1 * ms, 100, path=1, comm='db', pid=5), event('WRITE', 11 * S, 3 * ms, 100, path=1, comm='db', pid=5),
          event('FSYNC', 12 * S, 40 * ms, 0, path=1, comm='db', pid=5), event('FSYNC', 13 * S, 20 * ms, 0, path=1, comm='db', pid=5),
          {**event('FSYNC', 14 * S, 8 * ms, 0, path=2, comm='log', pid=6), 'op': 10},
          event('DIO_WRITE', 15 * S, 2 * ms, 512, path=2, comm='log', pid=6),
          event('READ', 16 * S, 500, 300, path=3, comm='cat', pid=7), event('READ', 17 * S, 700, -5, path=3, comm='cat', pid=7),
          event('READ', 18 * S, 600, 0, path=3, comm='cat', pid=7), event('OPEN', 19 * S, 100, -2, comm='cat', pid=7),
          event('OPEN', 20 * S, 200, -2, comm='cat', pid=7), event('READ', 21 * S, 900, 50, path=1, comm='db', pid=5, sample=4)]
    block = [{'time': t, 'latency': 1, 'op': op, 'sector': sector, 'requested': size, 'disk': disk, 'path': path}
             for t, op, sector, size, disk, path in (
                 (2 * S, 1, 0, 4096, 'vda', 1), (2 * S + 5, 1, 8, 4096, 'vda', 1), (2 * S + 6, 0, 800, 512, 'vdb', 3),
                 (3 * S, 1, 16, 4096, 'vda', 1), (3 * S + 9, 1, 400, 1024, 'vda', 0), (4 * S, 0, 801, 512, 'vdb', 3),
                 (4 * S + 1, 2, 0, 0, 'vdb', 0))]
    cache = [{'time': (2 + i) * S, 'latency': 0, 'op': op, 'path': path}
             for i, (op, path) in enumerate(((0, 1), (0, 1), (1, 1), (0, 1), (1, 3), (2, 1), (1, 3)))]
    make(name, ['/srv/a.db', '/srv/b.log', '/srv/c'], fs=fs, block=block, cache=cache)
    change(name, lost=0, missed=7)


ANSWERS = {
    1: [['fs', 12, 1, 0, 7, 0], ['block', 7, 0, 0, 0, 0], ['cache', 7, 0, 0, 0, 0]],
    2: [['/srv/a.db', 5, 64.001], ['/srv/b.log', 2, 10.0], ['/srv/c', 3, 0.002]],
    3: [['DIO_WRITE', 1, 2000000, 2000000], ['FDATASYNC', 1, 8000000, 8000000], ['FSYNC', 2, 20000000, 40000000],
        ['OPEN', 2, 100, 200], ['READ', 4, 600, 900], ['WRITE', 2, 1000000, 3000000]],
    4: [['OPEN', 2, '', 2], ['READ', 5, '/srv/c', 1]],
    5: [['log', 6, 0, 512], ['cat', 7, 300, 0], ['db', 5, 50, 200]],
    6: [['/srv/a.db', 2, 30.0, 40.0], ['/srv/b.log', 1, 8.0, 8.0]],
    7: [[1, 'vda', 2, 8192], [1, 'vdb', 1, 512], [2, 'vda', 2, 5120], [3, 'vdb', 2, 512]],
    8: [['vda', 4, 2], ['vdb', 2, 1]],
    9: [['/srv/b.log', 512, 0], ['/srv/a.db', 200, 12288]],
    10: [['/srv/c', 0, 2, 0.0], ['/srv/a.db', 3, 1, 75.0]],
}


def examples():
    make_examples('t')
    found = questions()
    is_equal('numbers', sorted(found), list(range(1, 11)))
    run('iotracer', 'export', '--format=sqlite', '-o', 't.db', 't')
    base = sqlite3.connect('t.db')
    for number, query in found.items():
        is_equal(query, [list(json.loads(line).values()) for line in
                         run('iotracer', 'sql', '-f', 'json', 't', input=query).stdout.splitlines()], ANSWERS[number])
        is_equal(query, [list(row) for row in base.execute(query)], ANSWERS[number])
    every = run('iotracer', 'sql', '-f', 'json', 't', input='\n'.join(found.values())).stdout.splitlines()
    is_equal('all at once', [list(json.loads(line).values()) for line in every], sum(ANSWERS.values(), []))


def selected():
    rng = random.Random(5)
    make('t', [f'/srv/d{i % 3}/f{i}' for i in range(59)], fs=list(any_events(rng, 'fs', 2000)),
         block=list(any_events(rng, 'block', 30)))
    for options in (('--filter', 'path=/srv/d1'), ('--filter', 'op=read,fsync min_latency=20us'),
                    ('--from', '+1.5', '--to', '+2'), ('--from', '2017-07-14T02:40:02', '--filter', 'comm=proc2')):
        expected = exported('t', 'fs', *options)
        assert expected, options
        is_equal(str(options), rows('t', 'select count(*), sum(latency_ns) from fs', *options),
                 [[len(expected), sum(int(row['latency_ns']) for row in expected)]])
        is_equal('records', value('t', "select records from _trace where category = 'fs'", *options), len(expected))
    is_equal('categories', rows('t', 'select category from _trace', '-c', 'block'), [['block']])
    assert 'no such table: fs' in sql('t', 'select * from fs', '-c', 'block', status=2).stderr


def missing():
    events = [event('READ', (2 + i) * S, 5, 1, sample=3) for i in range(6)]
    events[5].update(cpu=1, gap=5)  # the first of its CPU that was kept
    make('t', fs=events)
    change('t', missed=7, host='alpha')
    counts = 'select records, events, sampled, lost, missed, unreadable, host, state from _trace'
    is_equal('counts', rows('t', counts), [[6, 18, 6, 5, 7, 0, 'alpha', 'LOSSY']])
    is_equal('times', rows('t', 'select begin_ns, end_ns, begin_time, end_time from _trace'),
             [[REALTIME, REALTIME + 999 * S, '2017-07-14T02:40:00.000000000Z', '2017-07-14T02:56:39.000000000Z']])
    said = 't: fs is not all there: lost 5, missed 7, unreadable 0; is sampled: sum(sample) counts events, count(*) records'
    is_equal('said', sql('t', 'select count(*) from fs').stderr, f'iotracer: {said}\n')
    is_equal('once', run('iotracer', 'sql', 't', input='select 1 from fs; select 2 from fs; select * from _trace;').stderr,
             f'iotracer: {said}\n')
    is_equal('not all of it was read', run('iotracer', 'sql', '-f', 'json', 't', input='select 1 a from fs limit 1;'
                                           'select records a from _trace;').stdout.split(), ['{"a":1}', '{"a":6}'])
    is_equal('nor by a narrow query', run('iotracer', 'sql', '-f', 'json', 't', input='select 1 a from fs where begin_ns > 2e18;'
                                          'select records a from _trace;').stdout.split(), ['{"a":6}'])
    is_equal('not read', sql('t', 'select 1').stderr, '')
    # two frames more were recorded, metadata.json says, than there are
    change('t', events=16)
    done = sql('t', 'select count(*) from fs', status=1)
    assert done.stderr.count('6 of 16 events can be read') == 1 and 'so the exit status is 1' in done.stderr, done.stderr
    done = run('iotracer', 'sql', 't', '--partial', input='select 1 from fs; select 2 from fs; select * from _trace;')
    is_equal('reported once', done.stderr.count('can be read'), 1)
    is_equal('counts', rows('t', counts, '--partial'), [[6, 18, 6, 5, 7, 10, 'alpha', 'LOSSY']])
    run('iotracer', 'export', '--format=sqlite', '-o', 't.db', 't', status=1)
    is_equal('database', sqlite3.connect('t.db').execute(counts).fetchall(), [(6, 18, 6, 5, 7, 10, 'alpha', 'LOSSY')])
    # the recorder was killed: until the last event ends at 7 s and 5 ns
    make('killed', fs=[event('READ', (2 + i) * S, 5, 1) for i in range(6)])
    change('killed', killed=True)
    is_equal('end', rows('killed', 'select end_ns - begin_ns, state from _trace', status=1), [[6 * S + 5, 'RUNNING']])
    # a category whose file is gone has no counts, and the others have theirs
    make('t', fs=events[:2], block=[{'op': 1, 'time': 2 * S, 'latency': 1}])
    os.unlink('t/fs.iot')
    is_equal('gone', rows('t', 'select category, records from _trace', status=1), [['fs', None], ['block', 1]])
    is_equal('line', len(sql('t', 'select count(*) from fs', status=1).stderr.splitlines()), 1)
    run('iotracer', 'export', '--format=sqlite', '-o', 'gone.db', 't', status=1)
    is_equal('database', sqlite3.connect('gone.db').execute('select category, records from _trace').fetchall(),
             [('fs', None), ('block', 1)])


def merged():
    make('one', fs=[event('READ', 2 * S, 5, 10), event('READ', 3 * S, 5, 20)])
    make('two', fs=[event('READ', 2 * S, 5, 400)])
    change('one', host='alpha')
    change('two', host='beta')
    run('iotracer', 'traces', 'merge', '-o', 'both', 'one', 'two')
    for key, names in ('trace', ('one', 'two')), ('host', ('alpha', 'beta')):
        is_equal(key, rows('both', f'select {key}, sum(result) from fs group by 1 order by 1'),
                 [[names[0], 30], [names[1], 400]])


WRITES = ("attach 'x.db' as x", "vacuum into 'x.db'", 'vacuum', 'pragma journal_mode', 'pragma writable_schema = 1',
          "select * from pragma_table_info('fs')", 'create table x(a)', 'create temp table x(a)', 'drop table fs',
          'create temp table x as select * from fs', 'create view x as select 1', 'insert into fs(seq) values(1)',
          'update fs set pid = 1', 'delete from fs', 'delete from _trace', 'delete from sqlite_master',
          'create virtual table x using iotracer(fs)', 'create virtual table x using iotracer(99)', 'begin', 'commit',
          'savepoint a', 'analyze', 'detach main', "select load_extension('./x.so')",
          "select load_extension('./x.so', 'f') from fs", 'drop table _trace', 'alter table fs rename to x',
          'create trigger x after insert on fs begin select 1; end', "select fts3_tokenizer('simple')",
          'with x as (select 1) insert into fs(seq) select * from x')


def refused():
    few()
    before = sorted(os.listdir('.'))
    for statement in WRITES:
        done = sql('few', statement, status=2)
        is_equal(statement, (done.stdout, len(done.stderr.splitlines())), ('', 1))
    is_equal('files', sorted(os.listdir('.')), before)
    is_equal('rows', value('few', 'select count(*) from fs'), 9)
    # what is too large ends with an error, whatever it would take
    for statement in 'select length(zeroblob(1000000000))', "select length(replace(hex(zeroblob(8000000)), '0', 'xxxx'))":
        is_equal(statement, len(sql('few', statement, status=1).stderr.splitlines()), 1)
    run('iotracer', 'sql', 'few', input='select 1' + ' ' * 1100000 + ';', status=2)
    # a recursive query without an end is killed as any program
    with subprocess.Popen(['iotracer', 'sql', '-f', 'csv', 'few', 'with recursive n(i) as (select 1 union all select i + 1 from n)'
                           ' select i from n'], stdout=subprocess.PIPE) as child:
        is_equal('output', child.stdout.readline(), b'i\n')
        child.send_signal(signal.SIGINT)
        child.stdout.close()
        is_equal('status', child.wait(), -signal.SIGINT)


def query_input(text, status=0):
    done = run('iotracer', 'sql', '-f', 'json', 'few', input=text, status=status)
    return done.stdout.split(), done.stderr


def input_():
    few()
    is_equal('two', query_input("select 1 a; select ';' a\n ;select 3 a"), (['{"a":1}', '{"a":";"}', '{"a":3}'], ''))
    is_equal('lines', query_input('-- a comment; \nselect /* ; */\n\n 1\n a;\n\n  \n'), (['{"a":1}'], ''))
    is_equal('nothing', query_input(''), ([], ''))
    is_equal('only a comment', query_input('-- nothing\n'), ([], ''))
    found, said = query_input('select 1 a;\nselect nope;\nselect 3 a;\n', 2)
    is_equal('failed', found, ['{"a":1}'])
    assert said.startswith('iotracer: query: no such column: nope'), said
    is_equal('long line', query_input("select length('" + 'x' * 9000 + "') a;"), (['{"a":9000}'], ''))
    assert 'incomplete input' in query_input('select 1 a; select', 2)[1]


def formats():
    few()
    query = ("select 'a,\"b\"' as \"x y\", 1 as one, -2.5 as r, null as n, x'410a42' as b, 'ü' as u union all"
             " select 'c', 200, 3, null, 'd', '' union all select '=1+1', 9223372036854775807, 1e999, 4, '-x', '\\'")
    is_equal('CSV', sql('few', query, '-f', 'csv').stdout.splitlines(), [
        'x y,one,r,n,b,u', '"a,""b""",1,-2.5,,A\\012B,ü', 'c,200,3,,d,', '\\0751+1,9223372036854775807,Inf,4,\\055x,\\'])
    found = [json.loads(line) for line in sql('few', query, '-f', 'json').stdout.splitlines()]
    is_equal('JSON', [list(row.values()) for row in found], [
        ['a,"b"', 1, -2.5, None, 'A\\012B', 'ü'], ['c', 200, 3, None, 'd', ''],
        ['=1+1', 2**63 - 1, None, 4, '-x', '\\']])
    is_equal('names', list(found[0]), ['x y', 'one', 'r', 'n', 'b', 'u'])
    is_equal('text', sql('few', query).stdout.splitlines(), [
        'x y                    one     r  n  b       u',
        'a,"b"                    1  -2.5  -  A\\012B  ü',
        'c                      200     3  -  d       ',
        '=1+1   9223372036854775807   Inf  4  -x      \\'])
    is_equal('no rows', sql('few', 'select op, pid from fs where 0').stdout, 'op  pid\n')
    # names that do not fit in 80 columns stand beside the values
    text = sql('few', 'select * from fs limit 2').stdout
    first = text.split('\n\n')[0].splitlines()
    is_equal('columns', len(first), len(exported('few', 'fs')[0]) + 1)
    assert all(' = ' in line and len(line) <= 80 for line in first), text
    is_equal('two', text.count('begin_ns = '), 2)
    # the widths are those of the first rows; all rows are there
    many = sql('few', 'with recursive n(i) as (select 1 union all select i + 1 from n limit 9999) select i, i * i q from n').stdout
    is_equal('many', [line.split() for line in many.splitlines()],
             [['i', 'q']] + [[str(i), str(i * i)] for i in range(1, 10000)])


def names():
    make('t', ['/srv/a,"b"', '/x\\033[31m'], fs=[event('READ', 2 * S, 5, 1, comm='=cmd()', path=1),
                                                event('READ', 3 * S, 5, 1, comm='\\033[2J', path=2)])
    query = 'select comm, path, char(27) || \'[2J\' e, count(*) "\033[1m" from fs group by 1, 2 order by begin_ns'
    is_equal('CSV', [list(row.values()) for row in table(sql('t', query, '-f', 'csv').stdout)],
             [['\\075cmd()', '/srv/a,"b"', '\\033[2J', '1'], ['\\033[2J', '/x\\033[31m', '\\033[2J', '1']])
    is_equal('JSON', rows('t', query), [['=cmd()', '/srv/a,"b"', '\\033[2J', 1], ['\\033[2J', '/x\\033[31m', '\\033[2J', 1]])
    for form in 'text', 'csv', 'json':
        assert '\033' not in sql('t', query, '-f', form).stdout
    assert '\033' not in sql('t', 'select "\033[1m\n"', status=2).stderr + sql('t', 'select 1 \033', status=2).stderr


def until(fd, end):
    """What comes until a text does."""
    found = b''
    while end not in found:
        found += os.read(fd, 4096)
    return found


def prompt():
    few()
    pid, fd = pty.fork()
    if not pid:
        os.execvp('iotracer', ['iotracer', 'sql', 'few'])
    until(fd, b'sql> ')
    os.write(fd, b'select count(*)\n')
    until(fd, b'...> ')
    os.write(fd, b'from fs;\n')
    assert b'\r\n       9\r\n' in until(fd, b'sql> ')
    os.write(fd, b'select nope;\n')
    assert b'no such column' in until(fd, b'sql> ')
    os.write(fd, b"select 'begun'; with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n;\n")
    until(fd, b"\r\n'begun'\r\nbegun\r\n")
    os.write(fd, b'\x03')
    assert b'iotracer: interrupted' in until(fd, b'sql> ')
    os.write(fd, b'select 6 * 7 as answer;\n')
    assert b'\r\n    42\r\n' in until(fd, b'sql> ')
    os.write(fd, b'\x04')
    is_equal('status', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


def mistakes():
    few()

    def one_line(status, part, *options):
        done = run('iotracer', *options, status=status)
        is_equal('output', done.stdout, '')
        lines = [line for line in done.stderr.splitlines() if not line.startswith(('Try ', 'information'))]
        assert len(lines) == 1 and part in lines[0], (part, done.stderr)
    one_line(2, 'say which trace', 'sql')
    one_line(1, 'none', 'sql', 'none', 'select 1')
    one_line(2, 'one query at a time', 'sql', 'few', 'select', '1')
    one_line(2, 'query: near "selct": syntax error', 'sql', 'few', 'selct 1')
    one_line(2, 'in double quotes', 'sql', 'few', 'select * from drop')
    one_line(2, 'no such table: block (SELECT category FROM _trace shows', 'sql', 'few', 'select * from block')
    one_line(2, 'no such column: nope (iotracer format --columns', 'sql', 'few', 'select nope from fs')
    one_line(2, '--format=xml', 'sql', '--format=xml', 'few')
    one_line(1, 'has no category block', 'sql', '-c', 'block', 'few', 'select 1')
    one_line(2, 'name it with -o FILE', 'export', '--format=sqlite', 'few')
    one_line(2, '--columns=io-tracer', 'export', '--format=sqlite', '--columns=io-tracer', '-o', 'x', 'few')
    one_line(1, 'no/x: cannot be written: No such file or directory', 'export', '--format=sqlite', '-o', 'no/x', 'few')
    one_line(1, 'few: cannot be written: File exists: remove it first', 'export', '--format=sqlite', '-o', 'few', 'few')
    one_line(1, 'y/: cannot be written: Is a directory', 'export', '--format=sqlite', '-o', 'y/', 'few')
    one_line(1, 'has no category block', 'export', '--format=sqlite', '-o', 'x', '--category=block', 'few')
    is_equal('files', glob.glob('*x*') + glob.glob('.*x*'), [])


def database():
    make_any('t')
    run('iotracer', 'export', '--format=sqlite', '-o', 't.db', 't')
    is_equal('nothing beside it', glob.glob('.*t.db*'), [])
    base = sqlite3.connect('t.db')
    is_equal('whole', base.execute('pragma integrity_check').fetchall(), [('ok',)])
    is_equal('tables', {name for name, in base.execute("select name from sqlite_master where type = 'table'")},
             {*CATEGORIES, '_trace'})
    indexes = {name for name, in base.execute("select name from sqlite_master where type = 'index'")}
    is_equal('indexes of fs', {name for name in indexes if name.startswith('fs_')}, {'fs_begin_ns', 'fs_file', 'fs_pid'})
    is_equal('times', {f'{category}_begin_ns' for category in CATEGORIES} - indexes, set())
    for query, index in (("device = '8:1' and inode = 5", 'fs_file'), ('begin_ns > 5', 'fs_begin_ns'), ('pid = 5', 'fs_pid')):
        plan = base.execute(f'explain query plan select * from fs where {query}').fetchall()
        assert index in str(plan), plan
    for category in (*CATEGORIES, '_trace'):
        found = [list(row) for row in base.execute(f'select * from "{category}"')]
        # what an integer of sqlite cannot hold is a real number there, and a text with all digits here
        expected = [[float(x) if isinstance(x, str) and x.isdigit() and int(x) >= 2**63 else x for x in row]
                    for row in rows('t', f'select * from "{category}"')]
        is_equal(category, found, expected)
        assert found, category
    run('iotracer', 'export', '--format=sqlite', '-o', 'fs.db', '--category=fs', '--filter=pid=5', 't')
    base = sqlite3.connect('fs.db')
    is_equal('tables', {name for name, in base.execute("select name from sqlite_master where type = 'table'")}, {'fs', '_trace'})
    is_equal('selected', base.execute('select count(*) from fs').fetchone()[0], len(exported('t', 'fs', '--filter=pid=5')))


def hidden():
    make('t', ['/srv/secret/name.db', '/srv/other'], fs=[event('READ', 2 * S, 5, 1, comm='secret', path=1),
                                                        event('READ', 3 * S, 5, 1, comm='secret', path=2)])
    change('t', host='secret')
    with open('key', 'w', encoding='ascii') as f:
        f.write('0123456789abcdef0123456789abcdef')
    options = '--anonymize', '--key-file=key', '--filter=path=/srv/secret'
    run('iotracer', 'export', '--format=sqlite', '-o', 't.db', *options, 't')
    with open('t.db', 'rb') as f:
        assert b'secret' not in f.read()
    base = sqlite3.connect('t.db')
    base.row_factory = sqlite3.Row
    found = [{k: str(v) for k, v in dict(row).items() if k != 'begin_ns'} for row in base.execute('select * from fs')]
    is_equal('rows', found, exported('t', 'fs', *options))
    is_equal('one', len(found), 1)


def killed():
    rng = random.Random(4)
    make('t', fs=list(any_events(rng, 'fs', 3000)))

    def inject(*what, status):
        done = subprocess.run(['strace', '-f', '-o', '/dev/null', *what, 'iotracer', 'export', '--format=sqlite',
                               '-o', 'x.db', 't'], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        is_equal(str(what), done.returncode, status)
        assert not os.path.exists('x.db'), what
        left = glob.glob('.x.db*')
        for name in left:
            os.unlink(name)
        return done.stderr, len(left)
    at_read = '-P', os.path.abspath('t/fs.iot'), '-e'
    is_equal('TERM', inject(*at_read, 'inject=pread64:signal=TERM:when=2', status=-signal.SIGTERM), ('', 0))
    is_equal('INT', inject(*at_read, 'inject=pread64:signal=INT:when=2', status=-signal.SIGINT), ('', 0))
    # nobody deletes what is left then, but it does not look whole
    is_equal('KILL', inject(*at_read, 'inject=pread64:signal=KILL:when=2', status=-signal.SIGKILL), ('', 1))
    for error, text in ('ENOSPC', 'No space left on device'), ('EIO', 'Input/output error'), ('EDQUOT', 'Disk quota exceeded'):
        is_equal(error, inject('-e', f'inject=pwrite64:error={error}:when=4', status=1),
                 (f'iotracer: x.db: cannot be written: {text}\n', 0))
    is_equal('sync', inject('-e', 'inject=fsync:error=EIO:when=1', status=1),
             ('iotracer: x.db: cannot be written: Input/output error\n', 0))


if __name__ == '__main__':
    # what was started in the background ignores it
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    globals()[{'input': 'input_'}.get(sys.argv[1], sys.argv[1])]()
