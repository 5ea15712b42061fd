# SPDX-License-Identifier: GPL-2.0
"""
What fleet.bats runs: trees of iotracer export --partition, which are read by DuckDB, ClickHouse and zstd. A trace
begins at 1 s of the monotonic clock and lasts 999 s.
"""
import csv
import glob
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

from join import REALTIME, S, is_equal, run, trace
from lib.categories import CATEGORIES
from lib.trace_file import seal_metadata
from sql import make_any
from stats import event, few, make

DAY = 86400 * S
MIDNIGHT = (REALTIME // DAY + 1) * DAY
DECEMBER = 1796083200 * S  # 2026-12-01, midnight
PARTITION = '--partition', 'host,category,date'


def export(*words, tree='tree', status=0, **options):
    return run('iotracer', 'export', *PARTITION, '-o', tree, *words, status=status, **options)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline='')))


def exported(name, category, *options):
    return rows_of(run('iotracer', 'export', '--category', category, *options, name).stdout)


def change(name, realtime=None, **more):
    """Change when a trace began, by the clock of the day, and other members of its metadata."""
    file = name + '/metadata.json'
    with open(file, encoding='utf-8') as f:
        metadata = json.load(f)
    if realtime:
        for side in 'begin', 'end':
            metadata[side]['realtime_ns'] = realtime + metadata[side]['monotonic_ns'] - S
    metadata.update(more)
    with open(file, 'w', encoding='utf-8') as f:
        json.dump(metadata, f)
    seal_metadata(file)


def files(tree='tree'):
    """All files of a tree, hidden ones too."""
    return sorted(os.path.join(at, name).removeprefix(tree + '/') for at, _, names in os.walk(tree) for name in names)


def content(path):
    """The rows of a file, as zstd(1) unpacks it."""
    return rows_of(run('zstd', '-dcq', path).stdout)


def traces(tree='tree'):
    return [row for path in sorted(glob.glob(tree + '/trace/*.csv.zst')) for row in content(path)]


# --- databases ------------------------------------------------------------------

def duckdb(statements, database='fleet.duckdb'):
    return rows_of(run('duckdb', '-csv', database, statements).stdout)


def duckdb_open(tree='tree'):
    duckdb(run('iotracer', 'format', '--sql=duckdb', '--tree', tree).stdout)


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def clickhouse(statements, *options, **more):
    return run('clickhouse-client', '--multiquery', *options, '--query', statements, **more).stdout


def is_up():
    return not subprocess.run(['clickhouse-client', '--query', 'SELECT 1'], check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode


def clickhouse_start():
    """Start a server of this directory's own; its number is in clickhouse.pid. clickhouse-client finds its port."""
    here, port = os.getcwd() + '/clickhouse', free_port()
    os.mkdir(here)
    with open(here + '/config.xml', 'w', encoding='ascii') as f:
        f.write(f'<yandex><logger><level>warning</level><log>{here}/log</log><errorlog>{here}/errors</errorlog></logger>'
                f'<listen_host>127.0.0.1</listen_host><tcp_port>{port}</tcp_port><path>{here}/data/</path>'
                f'<tmp_path>{here}/tmp/</tmp_path><users_config>users.xml</users_config>'
                '<default_profile>default</default_profile><default_database>default</default_database>'
                '<mark_cache_size>100000000</mark_cache_size></yandex>')
    with open(here + '/users.xml', 'w', encoding='ascii') as f:
        f.write('<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password/>'
                '<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>'
                '</users></yandex>')
    with open('clickhouse-client.xml', 'w', encoding='ascii') as f:
        f.write(f'<config><host>127.0.0.1</host><port>{port}</port></config>')
    with open(here + '/output', 'wb') as out:
        # the tests have to see its end, so it does not outlive them
        server = subprocess.Popen(['/usr/sbin/clickhouse-server', '--config-file=' + here + '/config.xml'],
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out, close_fds=True)
    with open('clickhouse.pid', 'w', encoding='ascii') as f:
        f.write(str(server.pid))
    while not is_up():
        assert server.poll() is None, open(here + '/errors', encoding='utf-8').read()[-1000:]
        time.sleep(0.2)


def clickhouse_load(table, pattern):
    for path in glob.glob(pattern):
        clickhouse(f'INSERT INTO `{table}` FORMAT CSVWithNames', input=run('zstd', '-dcq', path).stdout)


# --- what is in a tree ----------------------------------------------------------

def columns():
    """
    DuckDB and ClickHouse show each value of each category as export does, be it as large as it may: no type is
    too narrow, no text is another one.
    """
    make_any('t')
    export('t')
    clickhouse_start()
    duckdb_open()
    clickhouse(run('iotracer', 'format', '--sql=clickhouse').stdout)
    is_equal('tables', {row['name'] for row in duckdb('SHOW TABLES')}, {'_trace', *CATEGORIES})
    is_equal('tables', set(clickhouse('SHOW TABLES').split()), {'_trace', *CATEGORIES})
    found = traces()
    for category in CATEGORIES:
        path, = glob.glob(f'tree/category={category}/*/*/*.csv.zst')
        own = exported('t', category)
        is_equal('rows of ' + category, len(own), 40)
        # the monotonic clock is that of the day, but for where it began
        expected = [{**row, 'begin_ns': str(int(row['time_ns']) - S + REALTIME), 'trace': found[0]['trace']}
                    for row in own]
        is_equal(category, content(path), expected)
        clickhouse_load(category, path)
        shown = rows_of(clickhouse(f'SELECT * FROM `{category}` FORMAT CSVWithNames'))
        key = lambda row: (row['begin_ns'], row['cpu'], row['seq'])
        is_equal('ClickHouse ' + category, sorted(shown, key=key), sorted(expected, key=key))
        for row in expected:
            row.update(timestamp=row['timestamp'].replace('T', ' ')[:-1].rstrip('0').rstrip('.'), host=found[0]['host'],
                       date=row['timestamp'][:10])
        shown = duckdb(f'SELECT * FROM "{category}"')
        for row in shown:
            row['timestamp'] = row['timestamp'].rstrip('0').rstrip('.')
        is_equal('DuckDB ' + category, shown, expected)
        nulls = ' OR '.join(f'"{name}" IS NULL' for name in expected[0])
        is_equal('nulls', duckdb(f'SELECT count(*) AS n FROM "{category}" WHERE {nulls}'), [{'n': '0'}])
    is_equal('_trace', duckdb('SELECT * FROM _trace'), found)
    clickhouse_load('_trace', 'tree/trace/*')
    is_equal('_trace', rows_of(clickhouse('SELECT * FROM _trace ORDER BY category FORMAT CSVWithNames')),
             sorted(found, key=lambda row: row['category']))


def days():
    """An event is at the date on which it began, in UTC. A category without events has a file with its columns."""
    make('t', fs=[event('READ', 10 * S, 5, 1), event('READ', 11 * S, 5 * S, 2), event('READ', 13 * S, 5, 3)], block=[])
    change('t', MIDNIGHT - 11 * S, host='h')
    export('t')
    name, = {os.path.basename(path) for path in files()}
    is_equal('name', bool(re.fullmatch(r'20170714_235949_000000000_[0-9a-f]{8}\.csv\.zst', name)), True)
    is_equal('files', files(), ['category=block/host=h/date=2017-07-14/' + name,
                                'category=fs/host=h/date=2017-07-14/' + name,
                                'category=fs/host=h/date=2017-07-15/' + name, 'trace/' + name])
    is_equal('before', [row['result'] for row in content('tree/category=fs/host=h/date=2017-07-14/' + name)], ['1', '2'])
    is_equal('after', [row['result'] for row in content('tree/category=fs/host=h/date=2017-07-15/' + name)], ['3'])
    is_equal('none', content('tree/category=block/host=h/date=2017-07-14/' + name), [])
    duckdb_open()
    is_equal('none', duckdb('SELECT count(*) AS n FROM block'), [{'n': '0'}])
    is_equal('mode', {os.stat(path).st_mode & 0o777 for path in glob.glob('tree/**', recursive=True)}, {0o700, 0o600})


def many_days():
    """More days than files are open, in turn: each day has all of its events. There is a limit for broken clocks."""
    begins = [S + (i % 20) * DAY for i in range(200)]
    # they end, and so are recorded, in another order than that of days
    make('t', fs=[event('READ', begin, 20 * DAY + i - begin, i) for i, begin in enumerate(begins)])
    export('t')
    duckdb_open()
    is_equal('rows', duckdb('SELECT date, count(*) AS n, sum(result) AS s FROM fs GROUP BY date ORDER BY date'), [
        {'date': time.strftime('%Y-%m-%d', time.gmtime(REALTIME // S + 86400 * day)), 'n': '10',
         's': str(sum(range(day, 200, 20)))} for day in range(20)])
    for nr, status in (1000, 0), (1001, 1):
        make(f't{nr}', fs=[event('READ', S + i * DAY, 0, 1) for i in range(nr)])
        done = export(f't{nr}', tree=f'tree{nr}', status=status)
        is_equal('rows', len(traces(f'tree{nr}')), 1 - status)
        is_equal('told', 'its events are of more than 1000 days' in done.stderr, bool(status))
    is_equal('left', files('tree1001'), [])


HOSTS = '../../x', 'a=b', "it's", 'a\nb', '%41', 'host=/../', '..', 'x y', '*?[a]', '"', '\u00fc', '\\', 'A' * 80


def hosts():
    """Whatever a host is called, its files are below its own directory, and DuckDB reads the name again."""
    few()
    for i, host in enumerate(HOSTS):
        change('few', REALTIME + i, host=host)
        export('few')
    is_equal('top', sorted(os.listdir('tree')), ['category=fs', 'trace'])
    found = os.listdir('tree/category=fs')
    is_equal('hosts', len(found), len(HOSTS))
    is_equal('plain', [name for name in found if not re.fullmatch(r'host=([\w.~-]|%[0-9A-F]{2})+', name)], [])
    is_equal('others', sorted(name for name in os.listdir('.') if name == 'x'), [])
    duckdb_open()
    rows = duckdb('SELECT host, count(*) AS n FROM fs GROUP BY host')
    is_equal('rows', {row['n'] for row in rows}, {'9'})
    # a line feed in metadata is shown as elsewhere; the backslash of that is none of the host's
    is_equal('names', sorted(row['host'] for row in rows),
             sorted(host.replace('\n', '\\012') for host in HOSTS))
    same = duckdb('SELECT count(*) AS n FROM (SELECT DISTINCT fs.host, trace FROM fs) JOIN _trace USING (host, trace)')
    is_equal('with _trace', same, [{'n': str(len(HOSTS))}])
    change('few', host='')
    export('few', tree='nameless')
    is_equal('nameless', os.listdir('nameless/category=fs'), ['host=__HIVE_DEFAULT_PARTITION__'])
    change('few', host='A' * 300)
    done = export('few', tree='long', status=1)
    is_equal('one line', done.stderr.count('\n'), 1)
    is_equal('why', 'File name too long' in done.stderr, True)
    export('-a', 'few', tree='hidden')
    hidden, = os.listdir('hidden/category=fs')
    is_equal('hashed', len(hidden), len('host=') + 12)


# --- a tree grows ---------------------------------------------------------------

def again():
    """A trace is there once, whatever its name; as printed, it can be deleted and exported again."""
    few()
    make('other', fs=[event('READ', 10 * S, 5, 1)])
    change('few', host='a')
    change('other', host='b')
    export('few', 'other')
    before = {path: open('tree/' + path, 'rb').read() for path in files()}
    os.rename('few', 'moved')
    done = export('moved', status=1)
    is_equal('unchanged', {path: open('tree/' + path, 'rb').read() for path in files()}, before)
    command = re.fullmatch(r".*/?moved: is in tree already: .*\((find tree -name '\S+' -delete)\)\n", done.stderr)
    subprocess.run(command.group(1), shell=True, check=True)
    is_equal('left', len(files()), 2)
    # one that is refused does not stop the next
    make('third', fs=[event('READ', 10 * S, 5, 1)])
    change('third', host='c')
    export('other', 'moved', 'third', status=1)
    is_equal('traces', [row['host'] for row in traces()].sort(), ['a', 'b', 'c'].sort())
    is_equal('files', len(files()), 6)


def together():
    """Of exports of one trace at a time, one is in the tree, and the others are refused."""
    few()
    change('few', host='a')
    running = [subprocess.Popen(['iotracer', 'export', *PARTITION, '-o', 'tree', 'few'], stderr=subprocess.PIPE,
                                text=True) for _ in range(8)]
    told = [process.communicate()[1] for process in running]
    is_equal('statuses', sorted(process.returncode for process in running), [0] + 7 * [1])
    is_equal('refused', sum('is in tree already' in text for text in told), 7)
    is_equal('files', len(files()), 2)
    is_equal('rows', len(content('tree/' + files()[0])), 9)


def left():
    """What an export has left that was killed while it gave names is replaced; a hidden file is none of a table."""
    few()
    change('few', host='a')
    export('few')
    path, row = files()
    with open('tree/' + path, 'wb') as f:
        f.write(b'half')
    os.rename('tree/' + row, f'tree/trace/.{os.path.basename(row)}.1')
    export('few')
    is_equal('rows', len(content('tree/' + path)), 9)
    duckdb_open()
    is_equal('traces', duckdb('SELECT count(*) AS n FROM _trace'), [{'n': '1'}])


def unwritable():
    """Links and directories of others are not used; a full disk or a signal leaves no name and no hidden file."""
    few()
    change('few', host='a')
    os.mkdir('elsewhere')
    for path in 'category=fs', 'category=fs/host=a', 'category=fs/host=a/date=2017-07-14', 'trace':
        tree = 'linked' + str(path.count('/')) + path[0]
        os.makedirs(os.path.dirname(f'{tree}/{path}'), mode=0o700)
        os.symlink(os.getcwd() + '/elsewhere', f'{tree}/{path}')
        done = export('few', tree=tree, status=1)
        is_equal('one line', done.stderr.count('\n'), 1)
        is_equal('elsewhere', os.listdir('elsewhere'), [])
    if os.geteuid() == 0:
        os.makedirs('theirs/category=fs')
        os.chown('theirs/category=fs', 65534, 65534)
        done = export('few', tree='theirs', status=1)
        is_equal('why', 'belongs to another user' in done.stderr, True)
        is_equal('files', files('theirs'), [])
    make('large', fs=[event('READ', 10 * S + i, i * i % 9973, i) for i in range(20000)])
    done = run('bash', '-c', 'ulimit -f 8; exec "$@"', '-', 'iotracer', 'export', *PARTITION, '-o', 'full', 'large',
               status=1)
    is_equal('why', done.stderr.count('File too large'), 1)
    is_equal('left', files('full'), [])


def inject(what, status=0):
    """Export with a system call of the tool that fails, or that brings a signal, by strace."""
    done = run('strace', '-f', '-o', 'calls', '-e', what, 'iotracer', 'export', *PARTITION, '-o', 'tree', 'few',
               status=status)
    return done.stderr


def stopped():
    """An export that fails or is ended by a signal leaves nothing, wherever it is; a killed one hidden files."""
    few()
    for what, status in (('inject=pread64:signal=TERM:when=2', -signal.SIGTERM),
                         ('inject=pread64:signal=INT:when=2', -signal.SIGINT),
                         ('inject=write:error=ENOSPC:when=1', 1), ('inject=fsync:error=EIO:when=1', 1),
                         ('inject=flock:error=EIO', 1)):
        told = inject(what, status)
        is_equal(f'lines of {what}', told.count('\n'), int(status == 1))
        is_equal(f'left by {what}', files(), [])
    # the row of _trace gets its name last: without it the trace is not there
    told = inject('inject=renameat2:error=EIO', 1)
    is_equal('line', told.count('\n'), 1)
    path, = files()
    is_equal('name', path.startswith('category=fs/'), True)
    inject('inject=renameat:signal=KILL', -signal.SIGKILL)
    export('few')
    is_equal('complete', [path.count('/.') for path in files()].count(0), 2)
    is_equal('rows', len(traces()), 1)


def counts():
    """_trace has what stats says: lost, missed, sampled and unreadable; also of a part of a trace."""
    make('t', fs=[event('READ', (10 + i) * S, 5, 100, sample=10, seq=i + 3 * (i > 4), **({'gap': 3} if i == 5 else {})) for i in range(9)],
         block=[{'op': 0, 'time': 20 * S, 'latency': 7}])
    with open('t/metadata.json', encoding='utf-8') as f:
        categories = json.load(f)['categories']
    categories[0].update(missed=4, events=11)
    change('t', categories=categories, host='a')
    for options in (), ('--from', '+12'), ('--filter', 'op=READ'):
        tree = 'tree' + str(len(options)) + ''.join(options)[-2:]
        done = export('--partial', *options, 't', tree=tree)
        assert 'fs is not all there: lost 3, missed 4, unreadable 2; is sampled' in done.stderr, done.stderr
        document = json.loads(run('iotracer', 'stats', '-f', 'json', '--partial', *options, 't').stdout)
        names = 'records', 'sampled', 'lost', 'missed', 'unreadable'
        for row, category in zip(traces(tree), document['categories'], strict=True):
            is_equal('counts', {k: int(row[k]) for k in names}, {k: category[k] for k in names})
            is_equal('events', int(row['events']), category['count'])
            is_equal('rows', int(row['records']),
                     sum(len(content(path)) for path in glob.glob(f'{tree}/category={row["category"]}/*/*/*')))
    is_equal('status', export('t', tree='whole', status=1).stderr.count('can be read'), 1)
    is_equal('rows', len(traces('whole')), 2)
    one, = [row for row in traces('whole') if row['category'] == 'block']
    is_equal('row', {k: one[k] for k in ('host', 'state', 'format', 'begin_ns', 'end_ns', 'records', 'lost')}, {
        'host': 'a', 'state': 'LOSSY', 'format': '2', 'begin_ns': str(REALTIME), 'end_ns': str(REALTIME + 999 * S),
        'records': '1', 'lost': '0'})


def hostile():
    """Texts of metadata.json may be anything."""
    few()
    change('few', kernel='=1+1,"\n' + 'x' * 9, tool_version='v' * 100000, host='a', state='COMPLETE')
    export('few')
    row, = traces()
    is_equal('kernel', row['kernel'], '\\0751+1,"\\012' + 'x' * 9)
    is_equal('version', row['tool_version'], '')


def mistakes():
    few()
    make('b', fs=[])
    change('b', REALTIME + 5)
    for words, told in (
            (['--partition=host,category', '-o', 'x', 'few'], '--partition=host,category: say host,category,date, in any order'),
            (['--partition=host,host,category,date', '-o', 'x', 'few'], 'say host,category,date, in any order'),
            (['--partition=host,category,date,', '-o', 'x', 'few'], 'say host,category,date, in any order'),
            ([*PARTITION, 'few'], '--partition makes a tree of files: say where (-o DIRECTORY)'),
            ([*PARTITION, '-o', 'x', '-f', 'json', 'few'], '--partition goes without --format'),
            ([*PARTITION, '-o', 'x', '-z', 'few'], '--partition goes without --gzip'),
            ([*PARTITION, '-o', 'x', '--columns=io-tracer', 'few'], '--partition goes without --columns'),
            (['few', 'b'], 'b: one trace at a time, unless with --partition')):
        done = run('iotracer', 'export', *words, status=2)
        assert done.stderr.splitlines()[0].endswith(told), done.stderr
    is_equal('made', os.path.exists('x'), False)
    done = export('nothing', status=1)
    is_equal('line', done.stderr.count('\n'), 1)
    run('iotracer', 'traces', 'merge', '-o', 'both', 'few', 'b')
    done = export('both', status=1)
    is_equal('line', done.stderr, 'iotracer: both: is a merged trace of several hosts: add each trace that it was made of\n')
    for words, status, told in (
            (['--sql=mysql'], 2, '--sql=mysql: say duckdb, clickhouse or spark'),
            (['--tree=tree'], 2, '--tree goes with --sql'),
            (['--sql=spark', '--tree=few'], 1, 'few: is no tree of iotracer export --partition: trace in it: No such file or directory')):
        done = run('iotracer', 'format', *words, status=status)
        assert done.stderr.splitlines()[0].endswith(told), done.stderr
    is_equal('output', done.stdout, '')


# --- statements -----------------------------------------------------------------

def spark():
    """What Spark would be given is its language, says the parser of sqlfluff; and what is not, it refuses."""
    few()
    os.mkdir("it's")
    export('few', tree="it's/tree")
    every = run('iotracer', 'format', '--sql=spark').stdout
    is_equal('tables', every.count('CREATE TABLE'), len(CATEGORIES) + 1)
    text = run('iotracer', 'format', '--sql=spark', '--tree', "it's/tree").stdout
    is_equal('tables', text.count('CREATE TABLE'), 2)
    for name, changed, status in (('every', every, 0), ('tree', text, 0), ('bad', text.replace('USING CSV', 'USING', 1), 1),
                                  ('open', text.replace(')\nUSING', '\nUSING', 1), 1)):
        with open(name + '.sql', 'w', encoding='utf-8') as f:
            f.write(changed)
        run('sqlfluff', 'parse', '--dialect', 'sparksql', name + '.sql', status=status)


def quoted():
    """A tree may be anywhere; of its name's characters none is one of a pattern."""
    few()
    for place in 'a*b?[c]', "it's", 'env=prod/host=z', 'x y':
        os.makedirs(place + '/aXbY')
        export('few', tree=place + '/tree')
        duckdb_open(place + '/tree')
        is_equal(place, duckdb('SELECT count(*) AS n FROM fs'), [{'n': '9'}])
    os.rename('x y', 'x\\y')
    done = run('iotracer', 'format', '--sql=duckdb', '--tree=x\\y/tree', status=1)
    is_equal('output', (done.stdout, done.stderr.count('\n')), ('', 1))


# --- the tutorial ---------------------------------------------------------------

def host_of(i):
    return f'web{i:02}'


def fifty():
    """Traces of fifty hosts over midnight. Disks of web17 and web31 are slow; web42 has lost seven events."""
    for i in range(1, 51):
        events, slow = [], 40 if i == 17 else 25 if i == 31 else 1
        for n in range(10 + i % 7):
            at = (2 + n) * 60 * S + i
            events.append(event('WRITE', at, 20000 + 10 * n + i, 4096 * (1 + n % 3), requested=4096 * (1 + n % 3), path=1,
                                comm='postgres', seq=2 * n + 7 * (i == 42 and n > 4), **({'gap': 7} if i == 42 and n == 5 else {})))
            events.append(event('FSYNC', at + S, slow * (1000000 + 1000 * n + i), 0, path=1 + n % 2, comm='postgres',
                                seq=2 * n + 1 + 7 * (i == 42 and n > 4)))
        name = f'traces/{host_of(i)}'
        os.makedirs('traces', exist_ok=True)
        trace(name, {'fs': events}, ['/srv/db/wal', '/srv/db/base'], 100, None)
        change(name, DECEMBER - 6 * 60 * S, host=host_of(i))


QUESTION = ('SELECT {host} AS host, op, count(*) AS n, sum(latency_ns) AS latency, '
            "sum(CASE WHEN op = 'WRITE' AND result > 0 THEN result ELSE 0 END) AS bytes, max(latency_ns) AS most FROM {table} "
            'GROUP BY host, op')


def sums():
    """
    After the tutorial: counts, bytes and latencies of each host and operation, by DuckDB, by DuckDB of its Parquet
    files, and by ClickHouse, are those of iotracer stats, to the unit.
    """
    expected = {}
    for i in range(1, 51):
        name = 'traces/' + host_of(i)
        for row in rows_of(run('iotracer', 'stats', '-f', 'csv', name).stdout):
            expected[host_of(i), row['op']] = [int(row[key]) for key in
                                               ('count', 'latency_total_ns', 'bytes', 'latency_max_ns')]
        is_equal('rows of export', len(exported(name, 'fs')), sum(n[0] for (host, _), n in expected.items()
                                                                  if host == host_of(i)))
    is_equal('hosts', len(expected), 100)
    joined = '(SELECT * FROM fs ALL INNER JOIN (SELECT DISTINCT trace, host FROM _trace) AS t USING trace)'
    for what, found in (
            ('DuckDB', duckdb(QUESTION.format(host='host', table='fs'))),
            ('Parquet', duckdb(QUESTION.format(host='host', table="read_parquet('parquet/*/*/*.parquet', hive_partitioning = true)"))),
            ('ClickHouse', rows_of(clickhouse(QUESTION.format(host='host', table=joined).replace('count(*)', 'count()') +
                                              ' FORMAT CSVWithNames')))):
        is_equal(what, {(row['host'], row['op']): [int(row[key]) for key in ('n', 'latency', 'bytes', 'most')]
                        for row in found}, expected)
    is_equal('lost', duckdb('SELECT host, lost FROM _trace WHERE lost > 0'), [{'host': 'web42', 'lost': '7'}])


if __name__ == '__main__':
    # what was started in the background ignores it
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    globals()[sys.argv[1]](*sys.argv[2:])
