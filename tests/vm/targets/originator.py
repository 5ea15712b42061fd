# SPDX-License-Identifier: GPL-2.0
"""
Pages and requests that another task writes back or drops: filters on tasks match them by
their originator, the task that dirtied or read the data. The last tests run the tool.

The filter matches a child, which writes or reads one file. This process, which it does not
match, does the same with another file, and has the kernel write back or drop both.
"""
import json
import os
import re
import signal
import subprocess
import time

from lib import category
from lib.iot import (as_user, IOT, is_equal, is_true, join, matches, memory_group, must, NOBODY,
                     reload, slurp, unload)
from lib.machine import (execute, mapped, new_filesystem, new_tmpfs, sectors, umount, unmap_all,
                         with_tool)
from lib.process import spawn, with_number
from lib.suite import Suite

PAGE = 4096
SIZE = 1 << 18
MINE = '/mnt/disk/mine'
OTHER = '/mnt/disk/other'
USER = 4711
ON_DISK = 'noauto_da_alloc'


def setup():
    with_tool()
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk')
    execute('mount', '-o', 'remount,' + ON_DISK, '/mnt/disk')
    # Without merges a request has the data of one file only.
    must('2', '/sys/block/vda/queue/nomerges')
    reload()


def teardown():
    unload()
    must('0', '/sys/block/vda/queue/nomerges')
    umount('/mnt/disk', '/mnt/files')


def after():
    for name in 'block', 'cache':
        command(name, 'stop', 'filter none')
    unmap_all()


SUITE = Suite(setup=setup, teardown=teardown, after=after)


def command(name, *lines):
    category.command(*lines, category=name)


def put(path, size=SIZE):
    with open(path, 'wb') as f:
        f.write(b'x' * size)


def get(path):
    with open(path, 'rb') as f:
        f.read()


def drop(path):
    """Drop the clean pages of a file from the cache."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def child(function, path, *, comm=None, uid=None, group=None):
    """Start a child, with another name, user or group, that calls function after let_go()."""
    def body():
        if group:
            must(str(os.getpid()), group + '/cgroup.procs')
        if comm:
            with open('/proc/self/comm', 'w', encoding='ascii') as f:
                f.write(comm)
        if uid:
            os.setresuid(uid, uid, uid)
        os.close(go_w)
        os.read(go_r, 1)
        function(path)
    go_r, go_w = os.pipe()
    pid = spawn(body)
    os.close(go_r)
    return pid, go_w


def let_go(pid, go):
    os.close(go)
    join(pid)


def inode(path):
    return str(os.stat(path).st_ino)


def is_theirs(flags):
    return 'ORIGINATOR' in flags.split('|')


def written(name, path, ops=('WRITE',)):
    """Bytes of the file in these events, all of which must have the flag ORIGINATOR."""
    rows = [r for r in category.events(category=name)
            if r.get('inode') == inode(path) and r['op'] in ops and
            r['device'] == r.get('file_device', r['device'])]
    is_true(all(is_theirs(r.get('flags', '')) for r in rows), rows[:3])
    if name == 'cache':
        return sum(int(r['pages']) * PAGE for r in rows)
    return sum(int(r['result']) for r in rows)


def conditions(pid, group):
    """Conditions that the child meets, each with the arguments that child() needs for it."""
    number = os.stat(group).st_ino
    nobody = 1 << 40 # no control group has this number, as 1 has the root, where kernel threads are
    return ((f'tree={pid}', {}), (f'pid=1,{pid}', {}), (f'tid={pid},1', {}),
            ('comm=none,some\\040body', {'comm': 'some body'}), (f'uid=1,{USER}', {'uid': USER}),
            (f'cgroup={nobody},{number}', {'group': group}))


def for_each_condition(function):
    with memory_group() as group:
        os.chmod('/mnt/disk', 0o777)
        for n, (key, _) in enumerate(conditions(0, group)):
            what = conditions(0, group)[n][1]
            for path in (MINE, OTHER):
                put(path, 0)
                os.chmod(path, 0o666)
            pid, go = child(function, MINE, **what)
            yield conditions(pid, group)[n][0], lambda p=pid, g=go: let_go(p, g)


def put_as(comm, path):
    must(comm, '/proc/self/comm')
    put(path)


def originators_of(path):
    return {r.get('origin_comm') for r in category.events(category='block')
            if r.get('inode') == inode(path) and r['op'] == 'WRITE'}


def next_process():
    """What a process made dirty is not that of the next one with its number: nobody is named."""
    for _ in range(3): # once in a thousand times they cannot be told apart
        command('block', 'stop', 'filter none', 'size 65536', 'reset', 'start')
        number = category.do(put_as, 'first', MINE)
        with_number(number, put_as, 'second', OTHER)
        os.sync()
        command('block', 'stop')
        if originators_of(MINE) == {None}:
            break
    is_equal((originators_of(MINE), originators_of(OTHER)), ({None}, {'second'}))


def requests():
    for condition, do in for_each_condition(put):
        command('block', 'stop', 'size 65536', 'reset', 'filter ' + condition, 'start')
        do()
        put(OTHER)
        os.sync()
        command('block', 'stop')
        category.is_conserved('block')
        is_equal((condition, written('block', MINE)), (condition, SIZE))
        is_equal((condition, written('block', OTHER)), (condition, 0))


def pages():
    for condition, do in for_each_condition(put):
        command('cache', 'stop', 'size 65536', 'reset', 'filter ' + condition, 'start')
        do()
        put(OTHER)
        os.sync()
        drop(MINE)
        drop(OTHER)
        command('cache', 'stop')
        for op in ('WRITEBACK_START', 'WRITEBACK_END', 'INVALIDATE'):
            is_equal((condition, op, written('cache', MINE, (op,))), (condition, op, SIZE))
            is_equal((condition, op, written('cache', OTHER, (op,))), (condition, op, 0))
    for condition, do in for_each_condition(get):
        for path in (MINE, OTHER):
            put(path)
        os.sync()
        drop(MINE)
        drop(OTHER)
        command('cache', 'reset', 'filter ' + condition, 'start')
        do()
        get(OTHER)
        drop(MINE)
        drop(OTHER)
        command('cache', 'stop')
        is_equal((condition, written('cache', MINE, ('INVALIDATE',))), (condition, SIZE))
        is_equal((condition, written('cache', OTHER, ('INVALIDATE',))), (condition, 0))


def filter_later():
    pid, go = child(put, MINE)
    command('cache', 'stop', 'size 65536', 'reset', 'filter none', 'start', f'filter tree={pid}')
    let_go(pid, go)
    os.sync()
    command('cache', 'stop')
    is_equal(written('cache', MINE, ('WRITEBACK_START',)), SIZE)


def read_again():
    put(MINE)
    os.sync()
    drop(MINE)
    pid, go = child(get, MINE)
    # the originator is known even if the filter does not want the reads
    command('cache', 'reset', f'filter pid={pid} op=INVALIDATE', 'start')
    let_go(pid, go)
    drop(MINE)
    get(MINE)
    drop(MINE)
    command('cache', 'stop')
    is_equal(written('cache', MINE, ('INVALIDATE',)), SIZE)


def still_dirty(name):
    lines = dict(line.split() for line in slurp(f'{IOT}/{name}/dirty').split('\n')[:-1])
    is_equal(set(lines), {'dirty_bytes', 'writeback_bytes', 'unknown_filesystems'})
    return int(lines['dirty_bytes']), int(lines['writeback_bytes'])


def dirty():
    for name in ('block', 'cache'):
        for path in (MINE, OTHER):
            put(path, 0)
        os.sync()
        pid, go = child(put, MINE)
        command(name, 'stop', 'reset', f'filter tree={pid}', 'start')
        is_equal((name, *still_dirty(name)), (name, 0, 0))
        let_go(pid, go)
        put(OTHER, 3 * PAGE)
        is_equal((name, *still_dirty(name)), (name, SIZE, 0))
        command(name, 'filter none')
        is_true(still_dirty(name)[0] >= SIZE + 3 * PAGE, still_dirty(name))
        os.sync()
        is_equal(still_dirty(name), (0, 0))
        command(name, 'stop', 'filter none')


def rows_of(trace):
    """Export a trace, and yield its rows."""
    subprocess.run(['iotracer', 'export', '-f', 'json', '-o', trace + '.rows', trace], check=True)
    for directory, _, names in os.walk(trace + '.rows'):
        for name in names:
            with open(os.path.join(directory, name), encoding='utf-8') as f:
                yield from map(json.loads, f)


def unwritten_bytes(trace):
    """The bytes still to be written that the metadata of a trace reports."""
    with open(trace + '/metadata.json', encoding='utf-8') as f:
        return json.load(f)['unwritten_bytes']


def recorded(trace, path, size, unwritten):
    """The trace has @size bytes of the file as written, and reports @unwritten as not written."""
    is_equal(unwritten_bytes(trace), unwritten)
    rows = [r for r in rows_of(trace) if str(r.get('inode')) == inode(path)]
    for op, column, unit in (('WRITE', 'result', 1), ('WRITEBACK_START', 'pages', PAGE)):
        mine = [r for r in rows if r['op'] == op]
        is_equal((op, sum(int(r[column]) * unit for r in mine)), (op, size))
        is_true(all(is_theirs(r['flags']) for r in mine), mine[:2])



SUITE.add('block: filters on tree, pid, tid, comm, uid and cgroup match requests by their originator', requests)
SUITE.add('block: the next process with the number of an originator is another one', next_process)


@SUITE.test('block: the same on a device that has bios and no requests')
def bios():
    umount('/mnt/disk')
    with mapped('over', f'0 {sectors("/dev/vda")} linear /dev/vda 0') as device:
        execute('mount', '-o', ON_DISK, device, '/mnt/disk')
        requests()
        umount('/mnt/disk')
    execute('mount', '-o', ON_DISK, '/dev/vda', '/mnt/disk')


SUITE.add('cache: the same filters match writeback and invalidation of pages', pages)
SUITE.add('cache: the filter may be set after start', filter_later, once=True)
SUITE.add('cache: pages that another task reads again do not match', read_again)
SUITE.add('dirty: the bytes still to be written, of all tasks or of those that the filter matches', dirty)


@SUITE.test('dirty: cannot be read without privileges', once=True)
def dirty_of_root():
    is_equal(as_user(NOBODY, slurp, IOT + '/block/dirty'), 'EACCES')


def record(*words, status=0):
    """Run iotracer record. Return: what it said."""
    done = subprocess.run(('iotracer', 'record', *words), stderr=subprocess.PIPE, text=True, check=False)
    is_equal((done.returncode, done.stderr if done.returncode != status else ''), (status, ''))
    return done.stderr


DD = 'dd', 'if=/dev/zero', 'of=/mnt/disk/wb', 'bs=1M', 'count=2'
WRITTEN = 2 << 20


@SUITE.test('record -c block -- dd: its data is in the trace when another process writes it back', once=True)
def record_writeback():
    def write_back():
        while not os.path.exists('/mnt/disk/wb') or os.stat('/mnt/disk/wb').st_size != WRITTEN:
            time.sleep(0.1)
        os.sync()

    pid = spawn(write_back)
    record('-o', 'trace', '-c', 'block,cache', '--drain', '600', '--', *DD)
    join(pid)
    recorded('trace', '/mnt/disk/wb', WRITTEN, 0)


@SUITE.test('record: bytes that are still dirty at the end are reported, in metadata.json too', once=True)
def record_dirty():
    said = record('-o', 'trace', '-c', 'block', '--drain', '0', '--', *DD)
    matches(said, f'{WRITTEN} bytes that the command wrote to files were not on their device')
    recorded('trace', '/mnt/disk/wb', 0, WRITTEN)
    is_true('were not on' not in record('-o', 'again', '-c', 'fs', '--', 'true'), 'it says so of nothing')
    is_equal(unwritten_bytes('again'), None)


@SUITE.test('record: processes that the command leaves running are named, or with --wait recorded', once=True)
def record_leftovers():
    # the process has this name from its exec on
    said = record('-o', 'trace', '--', 'sh', '-c', '''sleep 300 >/dev/null 2>&1 &
        until grep -qx sleep "/proc/$!/comm"; do :; done; exit 3''', status=3)
    found = re.search(r'still running, but no longer recorded: sleep \((\d+)\)', said)
    is_true(found, said)
    os.kill(int(found[1]), signal.SIGKILL)

    def let_it_go():
        time.sleep(1)
        with open('go', 'w', encoding='ascii') as f:
            f.write('\n')

    os.mkfifo('go')
    pid = spawn(let_it_go)
    said = record('-o', 'waited', '--wait', '--', 'sh', '-c',
                  '(read -r x <go; echo late >/mnt/disk/late) & exit 3', status=3)
    join(pid)
    is_true('still running' not in said, said)
    is_true(any(r.get('path') == '/mnt/disk/late' for r in rows_of('waited')), 'what came late is not in the trace')
