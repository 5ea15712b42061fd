# SPDX-License-Identifier: GPL-2.0
"""
Processes as targets: by id, with descendants, by name and by control group.

Processes as targets.
"""
import contextlib
import os
import re
import socket
import struct
import threading
import time

from directories import direct, Directory, Disk, LINE, PAGE, read_file, write_file
from lib import category
from lib.iot import (CONTROL, forget, in_json, IOT, is_equal, is_true, join, LOAD_DIVISOR, matches,
                     must, slurp, targets, touch, unlisted, write)
from lib.machine import execute, files_and_disk, map_device, sectors, umount_files_and_disk, unmap, with_tool
from lib.process import spawn, with_number
from lib.suite import Suite


def setup():
    execute('modprobe', 'overlay')
    files_and_disk()
    with_tool()


SUITE = Suite(setup=setup, teardown=umount_files_and_disk)


class Worker:
    """A process that does what it is told: lines of Python, until the with statement ends."""

    def __init__(self, comm=None):
        self.ours, theirs = socket.socketpair()
        self.pid = spawn(self.work, theirs, comm)
        theirs.close()
        self.answer()

    def work(self, orders, comm):
        self.ours.close()
        if comm:
            must(comm, '/proc/self/comm')
        names = dict(globals())
        orders.sendall(b'.')
        for line in orders.makefile():
            exec(line, names) # pylint: disable=exec-used
            orders.sendall(b'.')

    def answer(self):
        is_equal(self.ours.recv(1), b'.')

    def does(self, line):
        self.ours.sendall(line.encode() + b'\n')
        self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.ours.shutdown(socket.SHUT_RDWR) # other workers have a copy of it
        join(self.pid)


class Processes(Directory):
    """The target that control lists under a text such as pid=1."""

    def __init__(self, text): # pylint: disable=super-init-not-called
        names = [name for name, texts in targets() if texts[0] == text.encode()]
        is_equal(len(names), 1)
        self.name = os.fsdecode(unlisted(names[0]))
        self.dir = f'{IOT}/{self.name}'
        self.control = self.dir + '/control'

    def all_rows(self, *operations):
        """(process, operation, path) of each event; without names of operations of the VFS only"""
        found = []
        for line in self.log().split('\n')[:-1]:
            is_true(LINE.fullmatch(line), f'not a line of a log: {line!r}')
            f = line.split(';')
            if f[7] in operations or not operations and f[4] == 'VFS':
                found.append((int(f[6]), f[7], f[8]))
        return found


def trace(text):
    must('add ' + text)
    return Processes(text)


def is_ended(text):
    return f' {text} (ended)\n' in slurp(CONTROL)


F, G = '/mnt/files/f', '/mnt/files/g'
CALLS = direct, forget, read_file, write_file, threading # what workers are told to call


@SUITE.test('one process: what it has open, what it opens, its threads, and nobody else')
def by_pid():
    touch('f', 'g')
    with Worker() as one, Worker() as other:
        for worker in one, other:
            worker.does("fd = os.open('f', os.O_RDWR)")
        target = trace(f'pid={one.pid}')
        is_equal(target.name, f'pid_{one.pid}')
        is_equal(target.value('tasks'), f'pid={one.pid}')
        for worker in one, other:
            worker.does("os.pwrite(fd, b'12345', 10)")
            worker.does("read_file('g')")
            worker.does("t = threading.Thread(target=write_file, args=('g',)); t.start(); t.join()")
            worker.does("join(spawn(write_file, 'f'))")
        write_file('f')
        log = target.log()
        is_equal(target.all_rows('OPEN', 'READ', 'WRITE'),
                 [(one.pid, 'WRITE', F), (one.pid, 'OPEN', G), (one.pid, 'READ', G),
                  (one.pid, 'OPEN', G), (one.pid, 'WRITE', G)])
        matches(log, rf';W;10;5;VFS;python3;{one.pid};WRITE;{F};;5\n')
        target.is_conserved()
        is_equal(target.stats()[0], len(log.split('\n')) - 1)
        must(f'remove pid={one.pid}')
        is_equal(targets(), [])


@SUITE.test('a process has ended: its target stays, and is not of the next process with its number')
def ended():
    touch('f')
    with Worker() as worker:
        number = worker.pid
        text = f'pid={number}'
        target = trace(text)
        worker.does("write_file('f')")
        is_true(not is_ended(text), slurp(CONTROL))
    is_true(is_ended(text), slurp(CONTROL))
    seen = target.stats()[0]
    is_equal(target.all_rows('WRITE'), [(number, 'WRITE', F)])
    with_number(number, write_file, 'f')
    is_equal(target.stats()[0], seen)

    def again():
        must(f'add {text}')
        write_file('f')

    with_number(number, again)
    newer = f'{IOT}/pid_{number}_2'
    is_equal(slurp(newer + '/log').count(';WRITE;/mnt/files/f;'), 1)
    is_equal(target.stats()[0], seen)
    must(f'remove {text}')
    must(f'remove {text}')
    is_equal(targets(), [])


@SUITE.test('a process and its descendants, two such trees at a time')
def by_tree():
    touch('f')
    with Worker() as one, Worker() as other:
        one.does("child = Worker()")
        first, second = trace(f'tree={one.pid}'), trace(f'tree={other.pid}')
        one.does("child.does('os.rename(\"f\", \"f\")')")
        one.does("child.does('join(spawn(write_file, \"f\"))')")
        one.does("write_file('f')")
        other.does("join(spawn(read_file, 'f'))")
        write_file('f')
        rows = first.all_rows('RENAME', 'READ', 'WRITE')
        is_equal([row[1] for row in rows], ['RENAME', 'WRITE', 'WRITE'])
        is_equal(len({row[0] for row in rows}), 3)
        is_equal(rows[2][0], one.pid)
        is_equal([row[1] for row in second.all_rows('READ', 'WRITE')], ['READ'])
        one.does("child.__exit__()")
        # a descendant outlives its parent
        one.does("way = os.pipe()")
        one.does("spawn(lambda: os.read(way[0], 1) and write_file('f', b'orphan'))")
        way = os.open(f'/proc/{one.pid}/fd/{way_of(one)}', os.O_WRONLY)
    join_all = first.stats()[0]
    is_true(not is_ended(f'tree={one.pid}'), slurp(CONTROL))
    is_true(is_ended(f'tree={other.pid}'), slurp(CONTROL))
    os.write(way, b'x')
    os.close(way)
    wait_for(lambda: is_ended(f'tree={one.pid}'))
    is_true(first.stats()[0] > join_all, 'the orphan is not traced')
    matches(first.log(), r';W;0;6;VFS;')


@SUITE.test('a tree that is deep, when it is added')
def deep_tree():
    """The last of a hundred descendants, each the child of the one before, and a process beside them."""
    touch('f')
    ready, go = os.pipe(), os.pipe()

    def live(left):
        if left:
            join(spawn(live, left - 1))
            return
        os.write(ready[1], struct.pack('<i', os.getpid()))
        os.read(go[0], 1)
        write_file('f')

    first = spawn(live, 100)
    last, = struct.unpack('<i', os.read(ready[0], 4))
    target = trace(f'tree={first}')
    write_file('f')
    os.write(go[1], b'x')
    join(first)
    is_equal(target.all_rows('WRITE'), [(last, 'WRITE', '/mnt/files/f')])


def way_of(worker):
    """The writing end of the pipe that the worker made last."""
    pipes = [int(n) for n in os.listdir(f'/proc/{worker.pid}/fd')
             if os.readlink(f'/proc/{worker.pid}/fd/{n}').startswith('pipe:')]
    return max(pipes)


def wait_for(condition):
    deadline = time.monotonic() + 300
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(slurp(CONTROL))
        time.sleep(0.01)


@SUITE.test('by name: of the process, or of a thread')
def by_comm():
    touch('f', 'g')
    with Worker('a base') as one, Worker('other') as other:
        target, thread = trace('comm=a\\040base'), trace('comm=helper')
        is_equal(target.name, 'comm_a base')
        for worker in one, other:
            worker.does("write_file('f')")
            worker.does("t = threading.Thread(target=lambda: (must('helper', '/proc/thread-self/comm'),"
                        " read_file('g'))); t.start(); t.join()")
        is_equal(target.all_rows('READ', 'WRITE'), [(one.pid, 'WRITE', F), (one.pid, 'READ', G)])
        is_equal(thread.all_rows('READ', 'WRITE'), [(one.pid, 'READ', G), (other.pid, 'READ', G)])
        must('remove comm=a\\040base')
        must('remove comm=helper')


@contextlib.contextmanager
def group(path):
    os.mkdir(path)
    try:
        yield path
    finally:
        os.rmdir(path)


def in_group(path, function, *args):
    def call():
        must(str(os.getpid()), path + '/cgroup.procs')
        function(*args)

    join(spawn(call))


@SUITE.test('a control group, those below it, and the next group of that path')
def by_cgroup():
    top = '/mnt/group'
    os.makedirs(top, exist_ok=True)
    os.system(f'mount -t cgroup2 none {top}')
    try:
        touch('f')
        service, beside = f'{top}/a b.service', f'{top}/a'
        with group(beside), group(service):
            target = trace('cgroup=/a\\040b.service')
            is_equal(target.name, 'cgroup_a b.service')
            must('add cgroup=/sys/fs/cgroup/a\\040b.service/')
            is_equal(len(targets()), 1)
            with group(service + '/sub'):
                in_group(service, write_file, 'f', b'1')
                in_group(service + '/sub', write_file, 'f', b'22')
            in_group(beside, write_file, 'f', b'333')
            write_file('f', b'4444')
            is_true(not is_ended('cgroup=/a\\040b.service'), slurp(CONTROL))
        is_true(is_ended('cgroup=/a\\040b.service'), slurp(CONTROL))
        with group(service):
            is_true(not is_ended('cgroup=/a\\040b.service'), slurp(CONTROL))
            in_group(service, write_file, 'f', b'55555')
        is_equal([len(line) for line in re.findall(r';W;0;(\d+);', target.log())], [1, 1, 1])
        is_equal(re.findall(r';W;0;(\d+);', target.log()), ['1', '2', '5'])
        must('remove cgroup=/sys/fs/cgroup/a\\040b.service')
        is_equal(targets(), [])
    finally:
        os.system(f'umount {top}')


DISK = '/mnt/disk'


def is_of(target, file, comm, pid):
    """The bios of the processes are those of the file; they have made dirty what was written."""
    rows = [row for row in target.bios() if row[5] == file.path]
    is_equal([row[:3] for row in rows], file.bios())
    is_equal({row[3:5] for row in rows}, {(comm, pid)})


@SUITE.test('what was made dirty is theirs, whoever writes it back, and when they are gone')
def written_back():
    """What processes have made dirty is theirs, whoever writes it back, and when they are gone."""
    top = '/mnt/group'
    os.makedirs(top, exist_ok=True)
    os.system(f'mount -t cgroup2 none {top}')
    mine, other, big = Disk(DISK + '/mine'), Disk(DISK + '/other'), bytes(8 * PAGE)
    try:
        with group(top + '/service'), Worker('writer') as one, Worker('another') as two:
            ours = [trace(text) for text in (f'pid={one.pid}', f'tree={one.pid}', 'comm=writer',
                                             'cgroup=/service')]
            must(str(one.pid), top + '/service/cgroup.procs')
            one.does(f"write_file('{mine.path}', bytes({len(big)}))")
            two.does(f"write_file('{other.path}', bytes({len(big)}))")
            pid = one.pid
        os.sync() # both have exited; whatever was written back before is theirs, too
        is_equal([sum(n for _, _, n in file.bios()) for file in (mine, other)], 2 * [len(big)])
        for target in ours:
            is_of(target, mine, 'writer', pid)
            is_equal([row for row in target.bios() if row[5] == other.path], [])
            target.is_conserved()
        found = [row for row in in_json(f'pid={pid}') if row.get('path') == mine.path and
                 row['op'] == 'BLOCK_WRITE']
        is_true(found and all('ORIGINATOR' in row['flags'] for row in found), found)
        is_equal({(row['uid'], row['ppid']) for row in found}, {(0, 0)})
    finally:
        os.system(f'umount {top}')


@SUITE.test('what was made dirty before a process was added is not its', once=True)
def dirty_before():
    """What was made dirty before the process was added is nobody's: only category block has it."""
    path = DISK + '/before'
    with Worker('writer') as one:
        one.does(f"write_file('{path}', bytes({8 * PAGE}))")
        target = trace(f'pid={one.pid}')
        category.command('reset', 'start', category='block')
        os.sync()
        category.command('stop', category='block')
        found = [row for row in category.events(category='block')
                 if row.get('inode') == str(os.stat(path).st_ino)]
        is_equal(sum(int(row['result']) for row in found), 8 * PAGE)
        is_equal([row for row in target.bios() if row[5] == path], [])
        must(f'remove pid={one.pid}')


@SUITE.test('what a process submits, and not what other layers make of it')
def submitted():
    """What a process submits: cold reads, direct writes, fsync; and not the bios of other layers."""
    mine = Disk(DISK + '/direct')
    stacked = map_device('stacked', f'0 {sectors("/dev/vdb")} linear /dev/vdb 0')
    try:
        with Worker('worker') as one, Worker('other') as two:
            one.does(f"write_file('{mine.path}', bytes({8 * PAGE})); forget('{mine.path}')")
            must(f'remove {mine.path}')
            mine = Disk(mine.path)
            target = trace(f'pid={one.pid}')
            for worker in two, one:
                before = mine.bios()
                worker.does(f"direct('{mine.path}'); forget('{mine.path}'); read_file('{mine.path}')")
                worker.does(f"write_file('{mine.path}', b'x'); "
                            f"fd = os.open('{mine.path}', os.O_RDWR); os.fsync(fd)")
            theirs = [row for row in target.bios() if row[5] == mine.path]
            is_equal({row[3:5] for row in theirs}, {('worker', one.pid)})
            is_equal([row[:3] for row in theirs], mine.bios()[len(before):])
            target.command('reset')
            for worker in one, two:
                worker.does(f"direct('{stacked}', 1, 0)")
                worker.does(f"fd = os.open('{stacked}', os.O_RDWR); os.fsync(fd)")
            rows = [row for row in in_json(f'pid={one.pid}') if row['op'].startswith('BLOCK_')]
            number = os.stat(stacked).st_rdev
            is_equal([(row['op'], row['device2'], row['requested_bytes']) for row in rows],
                     [(op, f'{os.major(number)}:{os.minor(number)}', size) for op, size in
                      (('BLOCK_WRITE', PAGE), ('BLOCK_READ', PAGE), ('BLOCK_FLUSH', 0))])
            matches(target.log(), rf';F;0;0;BLK;worker;{one.pid};BLOCK_FLUSH;;;0\n')
            one.does("os.close(fd)")
            two.does("os.close(fd)")
    finally:
        unmap('stacked')


LOAD = '''
for i in range(count):
    write_file(f'file{i}'); read_file(f'file{i}'); os.rename(f'file{i}', f'x{i}')
    os.truncate(f'x{i}', 3); os.listdir('.'); os.stat(f'x{i}'); os.path.exists('nothing')
    os.unlink(f'x{i}')
'''


def work():
    exec(LOAD, dict(globals(), count=20 // LOAD_DIVISOR + 1)) # pylint: disable=exec-used


def fs_rows(pid):
    return [(row['op'], row.get('path', ''), row.get('path2', ''), int(row['result']))
            for row in category.events() if row['pid'] == pid]


def rows_of(target, pid):
    rows = []
    for line in target.log().split('\n')[:-1]:
        f = line.split(';')
        if f[4] == 'BLK':
            continue
        is_equal(int(f[6]), pid)
        rows.append((f[7], f[8], f[9], int(f[10])))
    return rows


@SUITE.test('the rows are those of category fs with the same condition')
def as_category_fs():
    with Worker() as worker:
        target = trace(f'pid={worker.pid}')
        category.command(f'filter pid={worker.pid}', 'reset', 'start')
        target.command('reset')
        worker.does('work()')
        category.command('stop')
        beside = fs_rows(worker.pid)
        is_true(len(beside) > 20, 'too few events')
        is_equal(rows_of(target, worker.pid), beside)
        must(f'remove pid={worker.pid}')
        category.command('reset', 'start')
        worker.does('work()')
        category.command('stop', 'filter none')
        is_equal(fs_rows(worker.pid), beside)
        target = trace(f'pid={worker.pid}')
        worker.does('work()')
        is_equal(rows_of(target, worker.pid), beside)


@SUITE.test('beside a directory, and category fs with another filter')
def beside_others():
    """A directory, the filter of category fs and processes: each log is its own."""
    os.mkdir('d')
    touch('d/f', 'g')
    must('add d')
    directory = Directory('d')
    with Worker() as one, Worker() as other:
        target = trace(f'pid={one.pid}')
        category.command(f'filter pid={other.pid} op=WRITE', 'reset', 'start')
        for worker in one, other:
            for name in 'd/f', 'g':
                worker.does(f"write_file('{name}'); read_file('{name}')")
        category.command('stop')
        is_equal([(row['pid'], row['op'], row['path']) for row in category.events()],
                 [(other.pid, 'WRITE', '/mnt/files/d/f'), (other.pid, 'WRITE', G)])
        is_equal(target.all_rows('READ', 'WRITE'),
                 [(one.pid, op, path) for path in ('/mnt/files/d/f', G)
                  for op in ('WRITE', 'READ')])
        log = [line.split(';') for line in directory.log().split('\n')[:-1]]
        is_equal([(int(f[6]), f[7], f[8]) for f in log if f[7] in ('READ', 'WRITE')],
                 [(worker.pid, op, 'f') for worker in (one, other) for op in ('WRITE', 'READ')])
        category.command('filter none')
        must('remove d')
        one.does("write_file('d/f')")
        other.does("write_file('d/f')")
        is_equal(target.all_rows('WRITE')[2:], [(one.pid, 'WRITE', '/mnt/files/d/f')])
        # the log of a process has no pipes, also if category fs has them
        before = target.stats()[0]
        category.command('filter kind=all', 'reset', 'start')
        one.does("ways = os.pipe(); os.write(ways[1], b'x'); os.read(ways[0], 1)")
        category.command('stop', 'filter none')
        is_equal([row['op'] for row in category.events()
                  if row['pid'] == one.pid and row.get('path', '').startswith('pipe:')],
                 ['WRITE', 'READ'])
        is_equal(target.stats()[0], before)


def refused_texts():
    touch('./pid=1')
    for text, error, why in (
            ('pid=0', 'EINVAL', 'pid=0: say the number of a process'),
            ('pid=x', 'EINVAL', 'pid=x: say the number of a process'),
            ('pid=99999999999', 'EINVAL', 'pid=99999999999: say the number of a process'),
            ('tree=', 'EINVAL', 'tree=: say the number of a process'),
            ('pid=4194303', 'ESRCH', 'pid=4194303: there is no process with that number'),
            ('tree=4194303', 'ESRCH', 'tree=4194303: there is no process with that number'),
            ('comm=', 'EINVAL', 'comm=: a name is missing'),
            ('comm=' + 16 * 'x', 'EINVAL',
             f'comm={16 * "x"}: the kernel keeps 15 bytes of a name: say those'),
            ('cgroup=/nowhere', 'ENOENT', 'cgroup=/nowhere: there is no such control group'),
            ('cgroup=nowhere', 'ENOENT', 'cgroup=nowhere: there is no such control group')):
        is_equal((text, write(CONTROL, 'add ' + text)), (text, error))
        matches(slurp(IOT + '/error'), ': ' + re.escape(why))
        is_equal(targets(), [])
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    is_equal(write(CONTROL, f'add pid={thread.native_id}'), 'ESRCH')
    stop.set()
    thread.join()
    is_equal(write(CONTROL, 'remove pid=1'), 'ENOENT')
    must('add ./pid=1')
    is_equal(targets()[0][1], [b'/mnt/files/pid=1'])
    is_equal(write(CONTROL, 'remove pid=1'), 'ENOENT')
    must('remove ./pid=1')


def too_many():
    for i in range(32):
        must(f'add comm=name{i} 16')
    is_equal(write(CONTROL, 'add comm=one\\040more 16'), 'ENOSPC')
    matches(slurp(IOT + '/error'), 'groups of processes, are traced, the most: remove one')
    must('add comm=name7 32')
    must('remove comm=name7')
    must('add comm=one\\040more 16')
    for i in range(32):
        write(CONTROL, f'remove comm=name{i}')
    must('remove comm=one\\040more')
    is_equal(targets(), [])


@SUITE.test('stopped, started, reset, resized, and added again', once=True)
def controlled():
    touch('f')
    with Worker() as worker:
        text = f'pid={worker.pid}'
        must(f'add {text} 100')
        target = Processes(text)
        is_equal(target.status()[2], 100)
        worker.does("write_file('f')")
        target.command('stop')
        worker.does("write_file('f')")
        is_equal(len(target.all_rows('WRITE')), 1)
        target.command('start')
        worker.does("write_file('f')")
        is_equal(len(target.all_rows('WRITE')), 2)
        before = target.status()[1]
        target.command('timereset')
        is_true(target.status()[1] > before, 'T0 stays')
        is_equal(target.log(), '')
        worker.does("write_file('f')")
        must(f'add {text}')
        is_equal((target.status()[2], len(target.all_rows('WRITE'))), (100, 1))
        must(f'add {text} 200')
        is_equal((target.status()[2], target.log()), (200, ''))
        is_equal(slurp(CONTROL), f'pid_{worker.pid} {text}\n')


@SUITE.test('added and removed while they work: all is counted')
def under_load():
    """Whatever comes and goes meanwhile, events are recorded or counted, and nothing is left."""
    touch('f')
    stop = os.pipe()

    def busy():
        os.close(stop[1])
        os.set_blocking(stop[0], False)
        while True:
            with contextlib.suppress(BlockingIOError):
                os.read(stop[0], 1)
                return
            join(spawn(write_file, 'f'))

    workers = [spawn(busy) for _ in range(2)]
    must('add comm=python3 64') # so that the hooks stay
    for _ in range(20 // LOAD_DIVISOR):
        for key in 'pid', 'tree':
            for pid in workers:
                must(f'add {key}={pid} 64')
        for name, _ in targets():
            target = Processes.__new__(Processes)
            target.dir = f'{IOT}/{os.fsdecode(unlisted(name))}'
            target.is_conserved()
        for key in 'pid', 'tree':
            for pid in workers:
                must(f'remove {key}={pid}')
    must('remove comm=python3')
    os.close(stop[1])
    for pid in workers:
        join(pid)
    is_equal(targets(), [])
    is_equal(slurp(IOT + '/fs/control').split('\n')[0], 'stop')


SUITE.add('what is refused, and with what reason', refused_texts, too_many, once=True)
