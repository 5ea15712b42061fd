# SPDX-License-Identifier: GPL-2.0
"""
A database on a disk that is slow for one known cause: findings and the page of report name its file, its
process and that cause, and none of the other causes.

The disk is held back by sleeping (lib/slow_disk.py), many times as long as the database computes. So a
busy machine makes the share of the time that is found smaller, but not so small that the rule fails.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import time

from lib.iot import is_equal, is_true, load, slurp, unload, write
from lib.machine import execute, files_and_disk, umount, umount_files_and_disk, with_tool
from lib.places import TESTS
from lib.suite import Suite
from workloads import category_is_on, running

DEVICE = '/dev/nbd0'
HOME = '/srv/db'
DATABASE, JOURNAL, BACKUP = (f'{HOME}/{name}' for name in ('shop.db', 'shop.db-journal', 'backup'))
CGROUP = '/sys/fs/cgroup/database'
CACHE = 16  # MiB: the database has three times as much
ROWS = 70000
CAUSES = {'fsync-storm', 'slow-flush', 'behind-others', 'read-wait', 'cache-too-small'}
INSERT = "insert into orders(item) values('item');"


def setup():
    files_and_disk()
    os.makedirs(HOME, exist_ok=True)
    execute('modprobe', 'nbd', 'nbds_max=1')
    with_tool()
    is_true(load(), 'insmod failed')


def teardown():
    unload()
    execute('rmmod', 'nbd')
    umount_files_and_disk()


SUITE = Suite(setup=setup, teardown=teardown, seconds=900, tags=('plain',))


def wait_until(what, is_so):
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.1)
    raise AssertionError(f'{what}: not after 300 s')


@contextlib.contextmanager
def disk(flush_ms=0, read_ms=0, mib_per_s=0):
    """The slow disk, with a filesystem at HOME and an empty database there."""
    server = subprocess.Popen([sys.executable, f'{TESTS}/lib/slow_disk.py', DEVICE, '1024',
                               *map(str, (flush_ms, read_ms, mib_per_s))])
    try:
        wait_until('the disk has a size', lambda: slurp('/sys/block/nbd0/size').strip() != '0')
        execute('mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0', DEVICE)
        execute('mount', '-o', 'noatime', DEVICE, HOME)
        sqlite('create table orders(id integer primary key, item text);')
        try:
            yield
        finally:
            umount(HOME)
    finally:
        server.terminate()
        is_equal(server.wait(), 0)


@contextlib.contextmanager
def backup_of_disk():
    """A program that keeps the disk busy. Returns its process."""
    with subprocess.Popen(['dd', 'if=/dev/zero', f'of={BACKUP}', 'bs=4M', 'count=200', 'oflag=direct']) as backup:
        try:
            wait_until('the backup is written', lambda: os.path.exists(BACKUP) and os.stat(BACKUP).st_size)
            yield backup.pid
        finally:
            backup.kill()


def sqlite(script):
    execute('sqlite3', DATABASE, input=script)


def found(script, before=None):
    """What is found in a trace of a database that runs this script, by rule; the page says the same."""
    with open('/tmp/script', 'w', encoding='ascii') as f:
        f.write(script)
    execute('rm', '-rf', '/tmp/slow', '/tmp/slow.html')
    with running(('iotracer', 'record', '-c', 'fs,block,cache', '--strict', '-o', '/tmp/slow'),
                 lambda _: all(map(category_is_on, ('fs', 'block', 'cache'))), stdout=subprocess.DEVNULL):
        execute('sqlite3', DATABASE, '.read /tmp/script', preexec_fn=before)
    print(execute('iotracer', 'stats', '-c', 'block', '--by', 'process,op', '--top=0', '/tmp/slow'))
    rules = {f['id']: f for f in json.loads(execute('iotracer', 'findings', '-f', 'json', '/tmp/slow'))['findings']}
    execute('iotracer', 'report', '/tmp/slow', '-o', '/tmp/slow.html')
    page, = re.findall(r'<script type="application/json" id="document">(.*)</script>', slurp('/tmp/slow.html'))
    for finding in rules.values():
        print(finding['id'], finding['sentence'], finding['rows'])
        is_true(json.dumps(finding['sentence'])[1:-1] in page, f'the page does not say {finding["sentence"]}')
    return rules


def causes(rules):
    return sorted(CAUSES & set(rules))


def rows(finding):
    """The process, without its number, by file."""
    return {row['file']: row['process'].split(' (')[0] for row in finding['rows']}


@SUITE.test('slow database: each transaction waits for flushes')
def flushes():
    with disk(flush_ms=100):
        rules = found(INSERT * 30)
        is_equal(causes(rules), ['fsync-storm', 'slow-flush'])
        is_equal(rows(rules['fsync-storm'])[JOURNAL], 'sqlite3')
        is_equal(rules['slow-flush']['rows'][0]['disk'], 'nbd0')
        # the disk holds each of them for so long
        is_true(rules['slow-flush']['time_ns'] >= rules['slow-flush']['count'] * 100 * 10**6, rules['slow-flush'])


@SUITE.test('slow database: another process has the disk')
def another():
    with disk(mib_per_s=16):
        with backup_of_disk() as pid:
            rules = found(INSERT * 6)
        is_true('behind-others' in rules, causes(rules))
        is_true('cache-too-small' not in rules, causes(rules))
        row, = (row for row in rules['behind-others']['rows'] if row['process'].startswith('sqlite3 ('))
        is_true(row['file'].startswith(HOME), row)
        is_true(row['note'].endswith(f' % of its wait behind dd ({pid}), at work on {BACKUP}'), row)


@SUITE.test('slow database: its data does not fit into memory')
def memory():
    write('/sys/fs/cgroup/cgroup.subtree_control', '+memory')
    os.makedirs(CGROUP)
    write(f'{CGROUP}/memory.max', f'{CACHE}M')

    def inside():
        write(f'{CGROUP}/cgroup.procs', str(os.getpid()))
    with disk(read_ms=20):
        # those pages that it has written last are in memory, which is full
        execute('sqlite3', DATABASE, preexec_fn=inside, input=f"""
            pragma synchronous = off;
            insert into orders(item) with recursive n(i) as (select 1 union all select i + 1 from n where i < {ROWS})
                select printf('%0800d', i) from n;""")
        execute('sync')
        is_true(os.stat(DATABASE).st_size >= 3 * CACHE << 20, 'the database is small')
        rules = found(''.join(f'select length(item) from orders where id = {i * 7919 % ROWS + 1};' for i in range(1200)), inside)
        is_equal(causes(rules), ['cache-too-small', 'read-wait'])
        for rule in 'cache-too-small', 'read-wait':
            is_equal(rows(rules[rule]), {DATABASE: 'sqlite3'})
    os.rmdir(CGROUP)


@SUITE.test('slow database: a fast one has none of these causes')
def fast():
    with disk():
        is_equal(causes(found('begin;' + INSERT * 200 + 'commit;')), [])
