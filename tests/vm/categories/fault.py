# SPDX-License-Identifier: GPL-2.0
"""
Category fault: the page faults of a program, counted as getrusage(2) counts them.

The files are on ext4, xfs and btrfs below /mnt, and on a tmpfs, /mnt/files. The events have to be
the faults that a child counts of itself by getrusage(2).
"""
import ctypes
import mmap
import os
import signal
import subprocess

from lib import category, fuse
from lib.category import stops
from lib.iot import IOT, is_equal, is_true, join, reload, slurp, write
from lib.kernel import VERSION
from lib.machine import three_filesystems, umount_three_filesystems
from lib.places import PROGRAMS
from lib.process import FUSE, spawn, waits_in
from lib.suite import reloads, Suite

SUITE = Suite(setup=three_filesystems, teardown=umount_three_filesystems, after=stops('fault'))

PAGE = 4096
FAULT = 'fault'
PLACES = ('/mnt/ext4', '/mnt/xfs', '/mnt/btrfs', '/mnt/files')


def command(*lines):
    category.command(*lines, category=FAULT)


def make(path, pages):
    with open(path, 'wb') as f:
        f.write(b'\1' * (PAGE * pages))
        os.fsync(f.fileno())
    return os.stat(path)


class Mapping:
    """A shared mapping of a file. @memory also has pages that the file has lost."""

    def __init__(self, path):
        fd = os.open(path, os.O_RDWR)
        self.map = mmap.mmap(fd, os.fstat(fd).st_size)
        self.memory = (ctypes.c_ubyte * len(self.map)).from_buffer(self.map)


def touched(path, access, stride=1):
    """Run fault.c. Returns its (minor, major) faults, the address of its mapping, and its pid."""
    program = f'{PROGRAMS}/fault'
    with subprocess.Popen([program, path, access, str(stride)], stdout=subprocess.PIPE,
                          text=True) as p:
        minor, major, base = map(int, p.communicate()[0].split())
    is_equal(p.returncode, 0)
    return (minor, major), base, p.pid


def in_child(function, *args):
    """What a function returns in a child, and the pid of the child."""
    r, w = os.pipe()

    def run():
        os.write(w, repr(function(*args)).encode())

    pid = spawn(run)
    join(pid)
    os.close(w)
    with os.fdopen(r) as f:
        return eval(f.read()), pid  # pylint: disable=eval-used


def trace(*conditions):
    command('stop', 'reset', 'filter ' + ' '.join((f'tree={os.getpid()}',) + conditions), 'start')


def rows(path):
    return category.events(path, category=FAULT)


def is_counted(path, of, found, pid, base):
    """Check that the events are the child's faults, with the file and the right offsets."""
    st = os.stat(path)
    is_equal((sum(r['severity'] == 'MINOR' for r in found),
              sum(r['severity'] == 'MAJOR' for r in found)), of)
    for r in found:
        is_equal((int(r['inode']), r['device'], r['pid'], int(r['result'])),
                 (st.st_ino, f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}', pid, 0))
        is_equal(int(r['address'], 16) - base, int(r.get('offset', 0)))
        is_true(int(r['latency']) > 0 and int(r['attempts']) >= 1, r)


def traced(path, access, stride=1, op=None):
    """Trace one access, with a filter for @op. Returns its faults and the events, checked."""
    trace(*([f'op={op}'] if op else []))
    of, base, pid = touched(path, access, stride)
    command('stop')
    found = rows(path)
    is_counted(path, of, found, pid, base)
    return of, found


@SUITE.test('page faults: minor and major counts equal those of getrusage on ext4, xfs, btrfs, tmpfs')
def sums():
    """Minor and major faults are those of getrusage(2), for cold, warm and written pages."""
    for place in PLACES:
        path = place + '/sums'
        make(path, 300)
        for access in ('cr', 'r'):
            of, found = traced(path, access)
            is_true(access == 'r' or place == '/mnt/files' or of[1], f'{place}: nothing was cold: {of}')
            is_equal({(r['op'], r['flags']) for r in found}, {('READ', 'SHARED|USER')})
            is_equal(sum(int(r['pages']) for r in found), 300)
        of, found = traced(path, 'rw', 7, 'WRITE')
        if place == '/mnt/files':
            # a tmpfs need not know of writes, so the first read maps the pages writable
            is_equal((of, found), ((0, 0), []))
            continue
        is_equal(sum(of), 43)
        is_equal({r['flags'] for r in found}, {'SHARED|MKWRITE|USER'})
        is_equal([int(r['offset']) for r in found], [p * PAGE + 8 for p in range(0, 300, 7)])
    s = category.is_conserved(FAULT)
    is_equal((s['lost'], s['missed']), (0, 0))


@SUITE.test('page faults: of programs, private copies, the kernel itself, and with SIGBUS')
def kinds():
    """Faults of programs, private copies, the kernel's own, and beyond the end of a file."""
    path = '/mnt/ext4/kinds'
    make(path, 8)

    of, found = traced(path, 'p', 3)
    is_equal((sum(of), len(found)), (3, 3))
    is_equal({(r['op'], r['flags'], r['pages']) for r in found}, {('WRITE', 'COW|USER', '1')})

    def by_kernel():
        m = Mapping(path)
        source = os.open('/mnt/ext4/source', os.O_RDONLY | os.O_DIRECT)
        return os.preadv(source, [memoryview(m.map)[:2 * PAGE]], 0)

    make('/mnt/ext4/source', 2)
    trace()
    is_equal(in_child(by_kernel)[0], 2 * PAGE)
    command('stop')
    found = rows(path)
    is_equal({(r['op'], r['flags']) for r in found}, {('WRITE', 'SHARED|MKWRITE|GUP')})
    # since 7.x one fault makes a whole large folio writable
    both = [0, PAGE]
    is_true([int(r.get('offset', 0)) for r in found] in ([both, both[:1]] if VERSION >= (7, 0)
                                                         else [both]), found)

    def beyond():
        m = Mapping(path)
        os.truncate(path, 4 * PAGE)
        return m.memory[6 * PAGE]

    trace()
    pid = os.fork()
    if not pid:
        beyond()
        os._exit(0)
    is_equal(os.WTERMSIG(os.waitpid(pid, 0)[1]), signal.SIGBUS)
    command('stop')
    found = [r for r in rows(path) if int(r['result'])]
    is_equal([(r['result'], r['offset'], r.get('pages', '0')) for r in found],
             [('-14', str(6 * PAGE), '0')])

    subprocess.run(['cp', '/bin/true', '/mnt/xfs/program'], check=True)
    trace()
    subprocess.run(['/mnt/xfs/program'], check=True)
    command('stop')
    found = rows('/mnt/xfs/program')
    is_true('EXEC' in {r['op'] for r in found}, found)
    category.is_conserved(FAULT)


@SUITE.test('page faults: filters', once=True)
def filters():
    path = '/mnt/ext4/filters'
    other = '/mnt/xfs/filters'
    st = make(path, 64)
    make(other, 64)

    def both():
        for name in (path, other):
            touched(name, 'rw', 5)

    def found(*conditions):
        trace(*conditions)
        both()
        command('stop')
        category.is_conserved(FAULT)
        return {(r['path'], r['op']) for r in category.events(category=FAULT)
                if r.get('path', '').endswith('/filters')}

    everything = {(p, o) for p in (path, other) for o in ('READ', 'WRITE')}
    is_equal(found(), everything)
    dev = f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}'
    is_equal(found(f'dev={dev}'), {(path, 'READ'), (path, 'WRITE')})
    is_equal(found(f'dev={dev}', f'inode={st.st_ino}', 'op=WRITE'), {(path, 'WRITE')})
    is_equal(found('min_latency=60000000000'), set())
    is_equal(found('kind=pipe'), set())
    is_equal(found('comm=nobody'), set())
    trace(f'pid={os.getpid()}')
    both()
    command('stop')
    is_equal([r for r in category.events(category=FAULT) if r['pid'] != os.getpid()], [])
    is_equal(write(f'{IOT}/{FAULT}/control', 'filter op=FSYNC\n'), 'EINVAL')


@SUITE.test('page faults: hooked only while started; by kretprobe the counts are the same')
def hooked():
    """Nothing is hooked before start and after stop; kretprobes see the same."""
    def lines():
        return [line for line in slurp(IOT + '/hooks').split('\n') if 'handle_mm_fault' in line]

    is_equal(lines(), [])
    command('start')
    is_true(lines(), 'handle_mm_fault is not hooked')
    command('stop')
    is_equal(lines(), [])
    reload('attach=kprobe')
    sums()
    kinds()
    reload()


@SUITE.test('page faults: each page of a large folio counts when it is mapped')
def by_large_pages():
    """Each page of a large folio counts when it is mapped, if this kernel uses large folios."""
    path = '/mnt/xfs/large'
    make(path, 2048)

    _, found = traced(path, 'r')
    is_equal(sum(int(r['pages']) for r in found), 2048)


def touch_page(fd, page):
    return mmap.mmap(fd, PAGE, prot=mmap.PROT_READ, offset=page * PAGE)[0]


@SUITE.test('page faults: of files of FUSE; a process that waits in one does not keep the module')
@reloads
def unbounded():
    """
    Files of FUSE have the same counts, and a task that waits for the server does not keep
    the module loaded. Both hold without redirection, too.
    """
    with fuse.mounted(300) as hold:
        for parameters in ('attach=auto', 'attach=kprobe'):
            reload(parameters)
            trace()
            of, base, pid = touched(fuse.FILE, 'cp')
            command('stop')
            is_counted(fuse.FILE, of, rows(fuse.FILE), pid, base)
            is_equal(sum(of), 300)
            fd = os.open(fuse.FILE, os.O_RDONLY) # that drops its cached pages
            hold.set()
            trace()
            first = spawn(touch_page, fd, 0)
            waits_in(first, 'folio_wait_bit_common', *FUSE)
            is_equal(rows(fuse.FILE), [])
            reload(parameters)
            is_equal(os.waitpid(first, os.WNOHANG), (0, 0))
            trace()
            second = spawn(touch_page, fd, 200)
            waits_in(second, 'folio_wait_bit_common', *FUSE)
            hold.clear()
            join(first, second)
            os.close(fd)
            command('stop')
            found = rows(fuse.FILE)
            # of the first fault the reloaded module sees only the attempt after the wait
            is_equal({(r['pid'], r['attempts'], r['severity']) for r in found},
                     {(first, '1', 'MAJOR'), (second, '2', 'MAJOR')})
            is_equal(category.stats(FAULT)['missed'], 0)
