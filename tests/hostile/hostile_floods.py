# SPDX-License-Identifier: GPL-2.0
"""
A process without privileges makes very many calls of one kind: what other processes do is recorded
as before, what is lost is counted, and the kernel logs no complaint (scripts/vm fails if it does).

The floods are made by hostile_floods.c, which runs as user nobody.
"""
import collections
import contextlib
import ctypes
import json
import mmap
import os
import resource
import subprocess
import time

from lib import category, fuse, syscalls
from lib.iot import is_equal, is_true, join, LOAD_DIVISOR, must, reload, slurp, unload
from lib.kernel import VERSION
from lib.machine import map_device, new_filesystem, new_tmpfs, sectors, umount, unmap_all
from lib.places import PROGRAMS
from lib.process import FUSE, spawn, waits_in
from lib.suite import Skip, Suite


def setup():
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk')


def after():
    unmap_all()
    for name in 'fs', 'block', 'uring', 'cache':
        command('stop', name=name)


def teardown():
    unload()
    umount('/mnt/files', '/mnt/disk')


def map_flood():
    map_device('flood', f'0 {sectors("/dev/vdc")} linear /dev/vdc 0')


SUITE = Suite(setup=setup, teardown=teardown, after=after)

PROGRAM = f'{PROGRAMS}/hostile_floods'
USER = 65534
NOBODY = ['setpriv', '--reuid', str(USER), '--regid', str(USER), '--clear-groups']
MAPPINGS = 30000
DESCRIPTORS = 25000
FEW = 9000
PLACES = 8199  # slots of a table of objects in flight: table.c
PAGE = 4096


def command(*lines, name='fs'):
    category.command(*lines, category=name)


def flood(scenario, path, number):
    """Run a scenario as user nobody. Return: its output."""
    return subprocess.run([*NOBODY, PROGRAM, scenario, path, str(number)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


@contextlib.contextmanager
def flooding(scenario, path, number, *words):
    """
    Run a scenario as user nobody and wait for its first word. Yields go_on(word), which lets
    it continue until it prints that word.
    """
    with subprocess.Popen([*NOBODY, PROGRAM, scenario, path, str(number)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        def until(word):
            is_equal(process.stdout.readline(), word + '\n')

        def go_on(word):
            process.stdin.write('\n')
            process.stdin.flush()
            until(word)

        until(words[0])
        yield go_on
        process.stdin.close()
        is_equal(process.wait(), 0)


def make(path, size=PAGE):
    with open(path, 'wb') as f:
        f.write(b'f' * size)
        os.fsync(f.fileno())
    os.chmod(path, 0o666)

# Many things in one call


def trace_fs(op, size=65536):
    """Trace the operations @op of user nobody on a file."""
    make('/mnt/files/f')
    inode = os.stat('/mnt/files/f').st_ino
    command('stop', f'size {size}', 'reset', f'filter uid=65534 op={op} inode={inode}', 'start')


def seen_all(number):
    """This many events were recorded, all of one call. Return: the events."""
    command('stop')
    s = category.is_conserved()
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    rows = category.events()
    is_equal(len(rows), number)
    is_equal({(r['path'], r['result']) for r in rows}, {('/mnt/files/f', '0')})
    is_equal(len({(r['time'], r['latency']) for r in rows}), 1)
    return rows


@SUITE.test('one munmap of 30,000 mappings is recorded whole')
def mappings():
    trace_fs('MUNMAP')
    start = int(flood('unmap', '/mnt/files/f', MAPPINGS))
    rows = seen_all(MAPPINGS)
    # all have the same time: their order is unknown if the task moved to another CPU
    is_equal(sorted(int(r['address'], 16) for r in rows),
             [start + i * PAGE for i in range(MAPPINGS)])
    is_equal({r['requested'] for r in rows}, {str(PAGE)})


@SUITE.test('one close_range of 25,000 descriptors is recorded whole')
def descriptors():
    trace_fs('CLOSE')
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS + 200, DESCRIPTORS + 200))
    flood('close', '/mnt/files/f', DESCRIPTORS)
    rows = seen_all(DESCRIPTORS)
    is_equal(sorted(int(r['fd']) for r in rows), list(range(100, 100 + DESCRIPTORS)))


def counted(number):
    """Each event was recorded or counted as missed. Return: how many were recorded."""
    command('stop')
    s = category.is_conserved()
    is_equal(s['seen'] + s['missed'], number)
    return s['seen']


@SUITE.test('with little memory each event of munmap is recorded or counted as missed', once=True)
def no_memory():
    """The rings take nearly all of ring_memory_limit, which leaves little for the call."""
    reload('ring_memory_limit=3000000')
    trace_fs('MUNMAP', 1000)
    flood('unmap', '/mnt/files/f', FEW)
    is_true(0 < counted(FEW) < FEW, 'the limit does not hold')
    # the memory was given back
    trace_fs('MUNMAP', 1000)
    before = category.stats()['missed']
    flood('unmap', '/mnt/files/f', 500)
    command('stop')
    is_equal((category.stats()['seen'], category.stats()['missed']), (500, before))
    reload()


@SUITE.test('by kretprobe each event of munmap is recorded or counted as missed', once=True)
def by_kretprobe():
    """A kretprobe runs with preemption off: few events are recorded, the rest is counted."""
    reload('attach=kprobe')
    trace_fs('MUNMAP')
    flood('unmap', '/mnt/files/f', FEW)
    is_true(counted(FEW) >= 50, 'fewer than 50 events were recorded')
    reload()

# Tables


def fio(path):
    return json.loads(subprocess.run(
        ['fio', '--name=f', f'--filename={path}', '--rw=randrw', '--bs=4k', '--size=512k',
         '--ioengine=io_uring', '--iodepth=8', '--output-format=json', '--thread',
         '--force_async=4'], check=True, text=True, stdout=subprocess.PIPE).stdout)['jobs'][0]


def belong_together(rows):
    """Each COMPLETE has its SUBMIT, and the other way round."""
    numbers = {op: sorted(int(r.get('request', 0)) for r in rows if r['op'] == op)
               for op in ('SUBMIT', 'COMPLETE')}
    is_equal(numbers['COMPLETE'], numbers['SUBMIT'])
    is_equal(len(set(numbers['SUBMIT'])), len(numbers['SUBMIT']))
    for r in rows:
        is_true(r['op'] != 'COMPLETE' or int(r['latency']) > 0, r)


@SUITE.test('io_uring: beside 20,000 requests that wait, fio and full rings are recorded whole', once=True)
def requests():
    polls, full = 20000, 1000
    make('/mnt/disk/f')
    command('stop', 'size 131072', 'reset', 'filter op=SUBMIT,COMPLETE', 'start', name='uring')
    with flooding('polls', '/mnt/disk/f', polls, 'ready'):
        job = fio('/mnt/disk/fio')
        subprocess.run([PROGRAMS + '/uring', 'overflow', '/mnt/disk/f'], check=True,
                       stdout=subprocess.DEVNULL)
        flood('overflow', '/mnt/disk/f', full)
    command('stop', name='uring')
    s = category.is_conserved('uring')
    is_equal((s['lost'], s['overwritten']), (0, 0))
    by_comm = collections.defaultdict(list)
    for r in category.events(category='uring'):
        by_comm[r['comm'], r.get('opcode')].append(r)

    rows = by_comm['fio', 'READ'] + by_comm['fio', 'WRITE']
    belong_together(rows)
    done = [r for r in rows if r['op'] == 'COMPLETE']
    is_equal((len(done), sum(int(r['result']) for r in done)),
             (job['read']['total_ios'] + job['write']['total_ios'],
              job['read']['io_bytes'] + job['write']['io_bytes']))
    is_equal({r['path'] for r in rows}, {'/mnt/disk/fio'})

    # if a completion finds no room in the ring, its request is still known
    rows = by_comm['uring', 'NOP']
    belong_together(rows)
    is_equal(sum('OVERFLOW' in r.get('flags', '') for r in rows), 12)

    # of requests with the same user_data the latest is known, and no other request
    rows = by_comm['hostile_floods', 'NOP']
    is_equal(sum(r['op'] == 'SUBMIT' for r in rows), full)
    is_equal({r['user_data'] for r in rows}, {'0x7'})

    rows = by_comm['hostile_floods', 'POLL_ADD']
    is_equal(sum(r['op'] == 'SUBMIT' for r in rows), polls)
    known = {int(r['request']) for r in rows if r['op'] == 'COMPLETE' and 'request' in r}
    # a request whose second name gave way to another one's is counted, too: of 8 in a line, few are
    is_true(polls <= len(known) + s['missed'] <= polls + 20, (len(known), s))
    is_true(polls - PLACES <= s['missed'] < polls, s)


def flood_device():
    device = '/dev/' + subprocess.run(
        ['dmsetup', 'info', '-c', '--noheadings', '-o', 'blkdevname', 'flood'], check=True,
        text=True, stdout=subprocess.PIPE).stdout.strip()
    os.chmod(device, 0o666)
    return device


@contextlib.contextmanager
def waiting(scenario, number):
    """Meanwhile the reads of a scenario wait for the device flood."""
    with flooding(scenario, flood_device(), number, 'open') as go_on:
        subprocess.run(['dmsetup', 'suspend', '--noflush', '--nolockfs', 'flood'], check=True)
        try:
            go_on('ready')
            yield
        finally:
            subprocess.run(['dmsetup', 'resume', '--noudevsync', 'flood'], check=True)


def read_disk():
    """Read a disk directly. Return: its number."""
    subprocess.run(['dd', 'if=/dev/vdb', 'of=/dev/null', 'bs=4k', 'count=300', 'iflag=direct',
                    'status=none'], check=True)
    st = os.stat('/dev/vdb')
    return f'{os.major(st.st_rdev)}:{os.minor(st.st_rdev)}'


@SUITE.test('block: beside 9,500 bios that wait for a device, a reader of another one is recorded whole', once=True)
def bios():
    map_flood()
    number = 9500
    command('stop', 'size 65536', 'reset', 'filter op=READ', 'start', name='block')
    with waiting('aio', number):
        disk = read_disk()
    command('stop', name='block')
    s = category.is_conserved('block')
    rows = category.events(category='block')
    mine = [r for r in rows if r['comm'] == 'dd' and r['device'] == disk]
    is_equal([(int(r['sector']) if 'sector' in r else 0, r['result']) for r in mine],
             [(8 * i, str(PAGE)) for i in range(300)])
    others = [r for r in rows if r['comm'] == 'hostile_floods' and 'BIO' in r.get('flags', '')]
    # missed are only bios, and the disk's requests that wait with them
    early = [r for r in rows if 'EARLY' in r.get('flags', '')]
    is_equal({r['disk'] for r in early} - {'vdc'}, set())
    is_equal(len(others) + s['missed'] - len(early), number)
    is_true(number - PLACES <= s['missed'] < number, s)

@SUITE.test('block: beside 1,500 threads in a direct read, an event without file is one that is counted', once=True)
def direct_calls():
    """More threads are in a direct read than there are slots for them."""
    map_flood()
    number, slots = 1500, 1024
    before = category.stats('block')['missed']
    command('stop', 'size 65536', 'reset', 'filter op=READ', 'start', name='block')
    with waiting('direct', number):
        while threads_in('hostile_floods', 'D') < number:
            time.sleep(0.1)
        disk = read_disk()
    command('stop', name='block')
    missed = category.is_conserved('block')['missed'] - before
    rows = category.events(category='block')
    mine = [r for r in rows if r['comm'] == 'dd' and r['device'] == disk]
    is_equal([(int(r['sector']) if 'sector' in r else 0, r['result']) for r in mine],
             [(8 * i, str(PAGE)) for i in range(300)])
    is_true({r.get('path') for r in mine} <= {'/dev/vdb', None}, mine[:3])
    others = [r for r in rows if r['comm'] == 'hostile_floods' and 'BIO' in r.get('flags', '')]
    # Counted are the events without file, and no others but bios and requests without a slot of
    # their own: where they go in that table depends on a secret.
    early = sum('EARLY' in r.get('flags', '') for r in rows)
    is_equal(sum('inode' not in r for r in mine + others) + number - len(others) + early, missed)
    is_true(number - slots <= missed, missed)
    is_true(len(others) > number - number // 10, len(others))


def threads_in(comm, state):
    found = 0
    for name in os.listdir('/proc'):
        with contextlib.suppress(OSError, ValueError):
            for tid in os.listdir(f'/proc/{int(name)}/task'):
                words = slurp(f'/proc/{name}/task/{tid}/stat').rsplit(') ', 1)
                found += words[0].endswith('(' + comm) and words[1][0] == state
    return found


@SUITE.test('fs and cache: beside 3,000 requests that will be retried, those of fio are recorded whole', once=True)
def retried_reads():
    """
    Requests of io_uring wait for the page cache, between two calls of the filesystem. Categories
    fs and cache remember each until it goes on.
    """
    map_flood()
    number = 3000
    slots = 263 + 8 # of category fs, which has the smaller table; and workers, which wait, too
    subprocess.run(['fio', '--name=f', '--filename=/mnt/disk/fio', '--rw=write', '--bs=64k',
                    '--size=4M', '--end_fsync=1', '--output=/dev/null'], check=True)
    fd = os.open('/mnt/disk/fio', os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    before = {name: category.stats(name)['missed'] for name in ('fs', 'cache')}
    command('stop', 'size 65536', 'reset', 'filter op=READ kind=file,device', 'start')
    command('stop', 'size 65536', 'reset', 'filter op=HIT,MISS kind=file,device', 'start',
            name='cache')
    with waiting('reads', number):
        job = json.loads(subprocess.run(
            ['fio', '--name=f', '--filename=/mnt/disk/fio', '--rw=randread', '--bs=4k',
             '--size=4M', '--ioengine=io_uring', '--iodepth=8', '--output-format=json', '--thread',
             '--invalidate=1'], check=True, text=True, stdout=subprocess.PIPE).stdout)['jobs'][0]
    for name in ('fs', 'cache'):
        command('stop', name=name)
    os.close(fd)
    missed = {name: category.is_conserved(name)['missed'] - n for name, n in before.items()}
    rows = [r for r in category.events() if r['path'] == '/mnt/disk/fio']
    is_equal((len(rows), sum(int(r['result']) for r in rows)),
             (job['read']['total_ios'], job['read']['io_bytes']))
    is_equal({r['requested'] for r in rows}, {str(PAGE)})
    # the flood: reads of what is there later, and requests; of some only the end is known
    rows = [r for r in category.events() if r['path'].startswith('/dev/dm')]
    is_equal(len(rows), 2 * number)
    whole = [r for r in rows if (r['requested'], r['result']) == (str(2 * PAGE),) * 2]
    is_equal(len(whole) + missed['fs'], number)
    is_true(number - slots <= missed['fs'] <= number, missed)
    pages = [r for r in category.events(category='cache') if r['path'] == '/mnt/disk/fio']
    is_equal(sum(int(r['pages']) for r in pages), job['read']['total_ios'])


def write_pages(paths, first):
    for path in paths:
        fd = os.open(path, os.O_WRONLY)
        for page in range(first, 8, 2):
            os.pwrite(fd, b'x', page * PAGE)
        os.close(fd)


@SUITE.test('block: beside 60,000 dirty pages a request names who wrote its page, or is counted', once=True)
def originators():
    """
    Two processes write to the same files, then a flood of dirty pages fills the table of pages.
    Each request with a page of a file names the writer of that page, or is counted.
    """
    # of a file most pages are forgotten, or none, so there are many files
    paths = [f'/mnt/disk/written{i}' for i in range(64)]
    for path in [*paths, '/mnt/disk/f']:
        make(path, 0)
        os.truncate(path, 8 * PAGE) # no page is there, so the kernel makes small folios
    knob = '/sys/block/vda/queue/max_sectors_kb'
    usual = slurp(knob)
    must('4', knob)
    try:
        command('stop', 'size 65536', 'reset', 'filter none', 'start', name='block')
        before = category.stats('block')['originators_by_file']
        writers = []
        for first in (0, 1):
            writers.append(spawn(write_pages, paths, first))
            join(writers[-1])
        flood('dirty', '/mnt/disk/f', 60000)
        os.sync()
        command('stop', name='block')
    finally:
        must(usual, knob)
    by_file = category.is_conserved('block')['originators_by_file'] - before
    rows = [r for r in category.events(category='block')
            if r.get('path') in paths and r['op'] == 'WRITE']
    is_equal(len(rows), 8 * len(paths))
    wrong = [r for r in rows if 'origin_pid' in r and
             int(r['origin_pid']) != writers[int(r.get('offset', 0)) // PAGE % 2]]
    # how many the table has forgotten depends on where its secret hash puts them
    is_true(len(wrong) <= by_file and 0 < by_file, (len(wrong), by_file))

# What changes


def differ(some, others):
    """What one of two lists has more often, twenty at most."""
    count = collections.Counter(some)
    count.subtract(others)
    return [(what, n) for what, n in count.items() if n][:20]


@SUITE.test('io_uring: each completion of a ring that is resized all the time is recorded once')
def resized():
    """Requests of a ring that is resized all the time: each is one SUBMIT and one COMPLETE."""
    if VERSION < (6, 13):
        raise Skip('IORING_REGISTER_RESIZE_RINGS came with 6.13')
    number = 8000 // LOAD_DIVISOR
    make('/mnt/disk/f')
    command('stop', 'size 131072', 'reset', f'filter uid={USER}', 'start', name='uring')
    said = [tuple(map(int, line.split()))
            for line in flood('resize', '/mnt/disk/f', number).splitlines()]
    command('stop', name='uring')
    is_true(sorted(data for data, _ in said) == list(range(1, number + 1)), 'the program is wrong')
    s = category.is_conserved('uring')
    is_equal((s['lost'], s['overwritten'], s['missed']), (0, 0, 0))
    rows = category.events(category='uring')
    found = {op: [r for r in rows if r['op'] == op] for op in ('SUBMIT', 'COMPLETE', 'ENTER')}
    belong_together(found['SUBMIT'] + found['COMPLETE'])
    is_equal(differ((int(r['user_data'], 16) for r in found['SUBMIT']), range(1, number + 1)), [])
    is_equal(differ(((int(r['user_data'], 16), int(r['result'])) for r in found['COMPLETE']),
                    said), [])
    is_equal({r.get('unsure') for r in rows}, {None})
    # those of the other thread, which the kernel refuses
    is_true('-17' in {r['result'] for r in found['ENTER']}, 'no other thread looked at the ring')


@SUITE.test('an sqe that changes while the kernel reads it is marked as CHANGED')
def sqe():
    make('/mnt/disk/f')
    command('stop', 'reset', 'filter op=SUBMIT,COMPLETE', 'start', name='uring')
    said = subprocess.run([PROGRAM, 'changed', '/mnt/disk/f', '0'], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    subprocess.run([PROGRAMS + '/uring', 'rw', '/mnt/disk/f'], check=True,
                   stdout=subprocess.DEVNULL)
    command('stop', name='uring')
    is_equal(said.split()[0], '1000')
    rows = category.events(category='uring')
    mine = [(r['op'], r['user_data'], r.get('flags'), r.get('unsure'))
            for r in rows if r['comm'] == 'hostile_floods']
    is_equal(mine, [(op, '0x3e8', None, 'CHANGED') for op in ('SUBMIT', 'COMPLETE')])
    is_equal({r.get('unsure') for r in rows if r['comm'] != 'hostile_floods'}, {None})


def stat_at(address):
    syscalls.libc.syscall(ctypes.c_long(4), ctypes.c_long(address),
                          ctypes.create_string_buffer(256))


def open_unread(address, flags=os.O_RDONLY):
    """Open a name that is in memory but not in that of this process."""
    fd = syscalls.libc.syscall(ctypes.c_long(2), ctypes.c_long(address), ctypes.c_long(flags),
                               ctypes.c_long(0o600))
    is_equal(fd, -1)


def open_at(address, flags=os.O_RDONLY):
    ctypes.string_at(address)
    open_unread(address, flags)


def create_at(address):
    open_at(address, os.O_CREAT | os.O_EXCL | os.O_WRONLY)


def renamed_under(first, second, call=stat_at, op='GETATTR'):
    """
    A call with a name that changes during the lookup, then again.
    Return: path and unsure of both.
    """
    with fuse.mounted(1) as hold:
        shared = mmap.mmap(-1, PAGE)
        shared[:len(first)] = first
        address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
        command('stop', 'reset', f'filter op={op}', 'start')
        hold.set()
        pid = spawn(call, address)
        waits_in(pid, *FUSE)
        shared[:len(second)] = second
        hold.clear()
        join(pid)
        again = spawn(call, address)
        join(again)
        command('stop')
    rows = category.events()
    return [[(r['path'], r.get('unsure')) for r in rows if r['pid'] == p] for p in (pid, again)]


@SUITE.test('the name of a file that changes while the kernel looks it up: the event has the file')
def name_of_a_file():
    """The file is the one that the call has found."""
    is_equal(renamed_under(b'/mnt/fuse/file\0', b'/mnt/files/f\0'),
             [[('/mnt/fuse/file', None)], [('/mnt/files/f', None)]])


@SUITE.test('a name that leads nowhere and changes is marked as CHANGED', once=True)
def name_of_nothing():
    """The call has read the first name, the event has the second."""
    is_equal(renamed_under(b'/mnt/fuse/none\0', b'/mnt/fuse/nobo\0'),
             [[('/mnt/fuse/nobo', 'CHANGED')], [('/mnt/fuse/nobo', None)]])


@SUITE.test('the name of an open that fails and changes meanwhile is marked as CHANGED', once=True)
def open_that_fails():
    """The file that the name leads to after the call is not the one that was not opened."""
    make('/mnt/files/f')
    for first, second, call in ((b'/mnt/fuse/none', b'/mnt/files/none', open_at),
                                (b'/mnt/fuse/file', b'/mnt/files/f', create_at)):
        is_equal(renamed_under(first + b'\0', second + b'\0', call, 'OPEN'),
                 [[(second.decode(), 'CHANGED')], [(second.decode(), None)]])


@SUITE.test('by kretprobe the name of an open that changes meanwhile is marked as CHANGED', once=True)
def open_by_kretprobe():
    """Its handler looks nothing up: the call itself reads the name, then waits."""
    reload('attach=kprobe')
    names = b'/mnt/fuse/none\0', b'/mnt/files/none\0'
    seen = renamed_under(*names, open_at, 'OPEN')
    is_equal([[unsure for _, unsure in rows] for rows in seen], [['CHANGED'], [None]])
    is_equal(renamed_under(*names, open_unread, 'OPEN')[0][0][1], 'CHANGED')
    reload()
