# SPDX-License-Identifier: GPL-2.0
"""
Category cache: known accesses to cold and warm files give the expected events for each page, and
the events match the kernel's own counts.

The files are on ext4, xfs and btrfs below /mnt. Which of their pages are in memory is known from
mincore(2), and from cachestat(2) where the kernel has it.
"""
import ctypes
import mmap
import os
import random
import subprocess
import time

from lib import category, iot
from lib.category import stops
from lib.iot import (IOT, is_equal, is_true, join, LOAD_DIVISOR, matches, memory_group, must,
                     parameter, reload, slurp, write)
from lib.kernel import VERSION
from lib.machine import three_filesystems, umount_three_filesystems
from lib.process import spawn
from lib.suite import Suite

SUITE = Suite(setup=three_filesystems, teardown=umount_three_filesystems, after=stops('cache'))

PAGE = 4096
CACHE = 'cache'
PLACES = ('/mnt/ext4', '/mnt/xfs', '/mnt/btrfs')

# Filesystems on which all pages of one write may be in one folio.
LARGE_FOLIOS = ('/mnt/xfs',) if VERSION < (6, 16) else PLACES
PAGES = 600
SIZE = PAGES * PAGE - 1000
libc = ctypes.CDLL(None, use_errno=True)


def command(*lines):
    category.command(*lines, category=CACHE)


def make(path, size=SIZE):
    with open(path, 'wb') as f:
        f.write(random.randbytes(size))
        os.fsync(f.fileno())


def forget(path):
    iot.forget(path)
    is_equal(resident(path), set())


def resident(path):
    """Pages of a file that are in memory, as mincore(2) reports."""
    fd = os.open(path, os.O_RDWR)
    size = os.fstat(fd).st_size
    pages = -(-size // PAGE)
    with mmap.mmap(fd, size) as m:
        there = (ctypes.c_ubyte * pages)()
        start = ctypes.c_ubyte.from_buffer(m)
        is_equal(libc.mincore(ctypes.c_void_p(ctypes.addressof(start)),
                              ctypes.c_size_t(size), there), 0)
        del start
    os.close(fd)
    return {i for i in range(pages) if there[i] & 1}


def cachestat(path):
    """Number of pages in memory by cachestat(2); None before 6.5, which does not have it."""
    what = (ctypes.c_uint64 * 2)(0, 0)
    stat = (ctypes.c_uint64 * 5)()
    fd = os.open(path, os.O_RDONLY)
    ret = libc.syscall(451, fd, what, stat, 0)
    os.close(fd)
    return stat[0] if ret == 0 else None


def counters(*names):
    """Counters of /proc/vmstat, after all CPUs have added what they hold back."""
    slurp('/proc/sys/vm/stat_refresh')
    lines = dict(line.split() for line in slurp('/proc/vmstat').split('\n') if line)
    return [int(lines[name]) for name in names]


def traced(work, *conditions, mine=True):
    """Trace @work. Returns its result, and the events."""
    own = (f'tree={os.getpid()}',) if mine else ()
    command('stop', 'size 65536', 'reset', ' '.join(('filter',) + (own + conditions or ('none',))),
            'start')
    result = work()
    command('stop')
    s = category.is_conserved(CACHE)
    is_equal((s['lost'], s['overwritten']), (0, 0))
    # a kretprobe in an interrupt that interrupts another kretprobe is missed, and counted
    is_true(not s['missed'] or parameter('attach') == 'kprobe', s)
    return result, category.events(category=CACHE)


def pages_in(found):
    """The pages of events, sorted; a page is there once for each event of it."""
    return sorted(p for r in found
                  for p in range(int(r.get('index', 0)), int(r.get('index', 0)) + int(r['pages'])))


def pages_of(found, op, path=None, flag=None):
    return pages_in(r for r in found if r['op'] == op and path in (None, r.get('path'))
                    and (flag is None or flag in r.get('flags', '')))


def by_number(found, op, path):
    """The pages of a file by its inode number: events without a path count, too."""
    number = str(os.stat(path).st_ino)
    return pages_in(r for r in found if r['op'] == op and r.get('inode') == number)


def is_described(found, path):
    """Check the fields that do not depend on the operation."""
    st = os.stat(path)
    for r in found:
        if r.get('path') != path:
            continue
        is_equal((int(r['inode']), r['device']),
                 (st.st_ino, f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}'))
        is_equal(int(r.get('offset', 0)) // PAGE, int(r.get('index', 0)))


def span(offset, length, size=SIZE):
    return list(range(offset // PAGE, -(-min(offset + length, size) // PAGE)))


def offsets_in_pages(found, path):
    """The offsets of lookups that are not at the beginning of a page, sorted."""
    at = [int(r.get('offset', 0)) for r in found if r['op'] in ('HIT', 'MISS') and r.get('path') == path]
    return sorted(offset for offset in at if offset % PAGE)


@SUITE.test('cache: HIT and MISS of cold and warm reads')
def reads():
    """Each page of each read of a known pattern is one HIT or MISS, cold and warm."""
    for place in PLACES:
        path = place + '/reads'
        make(path)
        forget(path)
        wanted = [(random.randrange(SIZE), random.choice((1, 100, 4096, 5000, 70000)))
                  for _ in range(60)]

        def scattered():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
            for offset, length in wanted:
                os.pread(fd, length, offset)
            os.close(fd)

        hits, misses, there = [], [], set()
        for offset, length in wanted:
            pages = span(offset, length)
            hits += [p for p in pages if p in there]
            misses += [p for p in pages if p not in there]
            there.update(pages)
        _, found = traced(scattered)
        is_described(found, path)
        is_equal(resident(path), there)
        is_equal(cachestat(path) in (None, len(there)), True)
        is_equal(pages_of(found, 'MISS', path), sorted(misses))
        is_equal(pages_of(found, 'HIT', path), sorted(hits))
        is_equal(set(pages_of(found, 'READAHEAD', path)), there)
        is_equal({r['file_pages'] for r in found if r.get('path') == path}, {str(PAGES)})
        # each run of pages begins at the first byte of them that the read wants
        inside = sorted(offset for offset, _ in wanted if offset % PAGE)
        is_equal(offsets_in_pages(found, path), inside)

        _, found = traced(scattered)
        is_equal(offsets_in_pages(found, path), inside)
        is_equal(pages_of(found, 'MISS', path), [])
        is_equal(pages_of(found, 'READAHEAD', path), [])
        is_equal(pages_of(found, 'HIT', path), sorted(hits + misses))
        is_equal({r.get('flags', '') for r in found if r.get('path') == path}, {''})

        forget(path)
        _, found = traced(lambda: in_order(path, 10000))
        once = sorted(p for o in range(0, SIZE, 10000) for p in span(o, 10000))
        is_equal(sorted(pages_of(found, 'HIT', path) + pages_of(found, 'MISS', path)), once)
        is_equal(pages_of(found, 'READAHEAD', path), list(range(PAGES)))
        is_true(0 < len(pages_of(found, 'MISS', path)) < PAGES, f'{place}: no readahead helped')


def in_order(path, length):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, length):
        pass
    os.close(fd)


@SUITE.test('cache: HIT and MISS of writes; each page made dirty is written once')
def writes():
    """Writes to new and old pages; each page that is made dirty is written, once."""
    for place in PLACES:
        path = place + '/writes'
        make(path, 100 * PAGE)

        def over():
            fd = os.open(path, os.O_RDWR)
            os.pwrite(fd, b'x' * (20 * PAGE), 90 * PAGE)
            os.pwrite(fd, b'y' * 10, 5 * PAGE + 4090)
            os.fsync(fd)
            os.close(fd)

        _, found = traced(over)
        is_described(found, path)
        written = [5, 6] + list(range(90, 110))
        is_equal(pages_of(found, 'HIT', path, 'WRITE'), [5, 6] + list(range(90, 100)))
        is_equal(pages_of(found, 'MISS', path, 'WRITE'), list(range(100, 110)))
        dirty = pages_of(found, 'DIRTY', path)
        # a large folio is made dirty as a whole
        is_equal(sorted(set(dirty) & set(written)), written)
        is_true(place in LARGE_FOLIOS or dirty == written, f'{place}: {dirty}')
        is_true(set(pages_of(found, 'WRITEBACK_START', path)) >= set(written), place)
        _, found = traced(over, mine=False)
        is_equal(pages_of(found, 'MISS', path), [])
        is_equal(by_number(found, 'WRITEBACK_START', path), by_number(found, 'WRITEBACK_END', path))
        is_equal(pages_of(found, 'WRITEBACK_END', path), pages_of(found, 'WRITEBACK_START', path))
        is_true(set(pages_of(found, 'DIRTY', path)) >= set(written), place)
        # an event in an interrupt has no process
        for r in found:
            if 'INTERRUPT' in r.get('flags', ''):
                is_equal((r['op'], r['pid'], r['comm']), ('WRITEBACK_END', 0, 'irq'))

        def append():
            fd = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.write(fd, b'z' * 10)
            os.close(fd)

        _, found = traced(append, 'op=HIT,MISS')
        is_equal((place, pages_of(found, 'MISS', path), pages_of(found, 'HIT', path)), (place, [110], []))


@SUITE.test('cache: HIT and MISS of page faults')
def mappings():
    """A page fault is one HIT or MISS of one page."""
    for place in PLACES:
        path = place + '/mapped'
        make(path)
        forget(path)

        def touch(stride, advice=mmap.MADV_RANDOM):
            fd = os.open(path, os.O_RDWR)
            with mmap.mmap(fd, SIZE) as m:
                m.madvise(advice)
                for page in range(0, PAGES, stride):
                    m[page * PAGE]  # pylint: disable=pointless-statement
            os.close(fd)

        _, found = traced(lambda: touch(7), 'op=HIT,MISS')
        is_equal(pages_of(found, 'MISS', path), list(range(0, PAGES, 7)))
        is_equal(pages_of(found, 'HIT', path), [])
        is_equal({r['flags'] for r in found if r.get('path') == path}, {'FAULT'})
        _, found = traced(lambda: touch(7), 'op=HIT,MISS')
        hits = pages_of(found, 'HIT', path)
        is_equal(pages_of(found, 'MISS', path), [])
        # a page that was mapped by the fault of another one needs no fault
        is_true(set(hits) <= set(range(0, PAGES, 7)) and len(hits) == len(set(hits)), hits)
        # the kernel retries a fault that reads ahead or waits for that; it counts once
        forget(path)
        _, found = traced(lambda: touch(1, mmap.MADV_NORMAL), 'op=HIT,MISS')
        looked = pages_of(found, 'HIT', path) + pages_of(found, 'MISS', path)
        is_equal((place, sorted(looked)), (place, sorted(set(looked))))
        is_true(pages_of(found, 'HIT', path) and pages_of(found, 'MISS', path), found)


@SUITE.test('cache: HIT and MISS of sendfile and splice')
def spliced():
    path = '/mnt/ext4/spliced'
    make(path)

    def send():
        with open(path, 'rb') as source, open('/mnt/files/sink', 'wb') as sink:
            done = 0
            while done < SIZE:
                done += os.sendfile(sink.fileno(), source.fileno(), done, SIZE - done)

    forget(path)
    _, found = traced(send)
    is_equal(sorted(set(pages_of(found, 'HIT', path) + pages_of(found, 'MISS', path))),
             list(range(PAGES)))
    _, found = traced(send)
    is_equal(pages_of(found, 'MISS', path), [])
    is_equal(sorted(set(pages_of(found, 'HIT', path))), list(range(PAGES)))


REMOVALS = ('INVALIDATE', 'EVICT', 'DROP', 'RECLAIM')


def removed(path, work):
    """Number of the file's pages before @work, and of those that left the cache, by operation."""
    number = str(os.stat(path).st_ino)
    there = len(resident(path))
    _, found = traced(work, f'inode={number}', 'op=' + ','.join(REMOVALS), mine=False)
    of = [r for r in found if r['op'] in REMOVALS and r.get('inode') == number
          and r.get('path') in (None, path)]
    return there, {op: sum(int(r['pages']) for r in of if r['op'] == op)
                   for op in {r['op'] for r in of}}


def write_direct(path):
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, 8 * PAGE) as m:
        os.pwritev(fd, [m], 0)
    os.close(fd)


def drop():
    must('1', '/proc/sys/vm/drop_caches')


@SUITE.test('cache: a page that is removed has its reason: INVALIDATE, EVICT, DROP')
def removals():
    for place in PLACES:
        path = place + '/removed'
        for name, work, wanted in (
                ('fadvise', lambda: forget(path), 'INVALIDATE'),
                ('truncate', lambda: os.truncate(path, 0), 'INVALIDATE'),
                ('drop_caches', drop, 'DROP'),
                ('unlink', lambda: os.unlink(path), 'EVICT')):
            make(path)
            in_order(path, 65536)
            there, found = removed(path, work)
            # fadvise and drop_caches may leave a page that is in use for a moment.
            left = len(resident(path)) if name in ('fadvise', 'drop_caches') else 0
            is_equal((name, there, found), (name, PAGES, {wanted: PAGES - left}))
            is_true(left < 8, left)
        for _ in range(5):
            make(path)
            in_order(path, 65536)
            there, found = removed(path, lambda: write_direct(path))
            gone = there - len(resident(path))
            is_equal((place, found), (place, {'INVALIDATE': gone} if gone else {}))
            if gone >= 8: # a page that is in use for a moment may stay
                break
        else:
            raise AssertionError(f'{place}: direct I/O invalidated no pages')


@SUITE.test('cache: a page that a control group gives back has the reason RECLAIM')
def reclaimed():
    """Pages that a control group has to give back."""
    path = '/mnt/ext4/reclaimed'
    make(path)
    forget(path)
    with memory_group() as group:
        def read():
            must(str(os.getpid()), group + '/cgroup.procs')
            in_order(path, 65536)

        join(spawn(read))
        there, found = removed(path, lambda: write(group + '/memory.reclaim', '64M'))
        left = len(resident(path))
        is_equal(found, {'RECLAIM': there - left})
        is_true(there - left > 0, 'nothing was reclaimed')


def counted_by_kernel(work):
    """
    Pages dirtied and written during @work as the kernel counts them, and all events then. It is
    done again if a thread of the kernel has dirtied or written a page while the hooks were
    attached or detached, as nobody can know whether that is an event.
    """
    def now():
        return counters('nr_dirtied', 'nr_written')

    def settled():
        begin = now()
        work()
        os.sync()
        return begin, now()

    for _ in range(10):
        os.sync()
        before = now()
        (begin, end), found = traced(settled, 'kind=all', mine=False)
        if before == begin and end == now():
            return [b - a for a, b in zip(begin, end)], found
    raise AssertionError('the kernel always writes something')


@SUITE.test("cache: DIRTY and WRITEBACK_END match /proc/vmstat's nr_dirtied and nr_written")
def vmstat():
    """The pages of the whole system, with metadata, are those of /proc/vmstat."""
    for place in PLACES:
        def load():
            subprocess.run(['fio', '--name=cache', f'--directory={place}', '--rw=randrw',
                            '--bs=1k-64k', f'--size={2048 // LOAD_DIVISOR}k', '--numjobs=2',
                            '--fsync=20', '--output=/dev/null'], check=True)

        (dirtied, written), found = counted_by_kernel(load)
        is_true(min(dirtied, written) > 400 // LOAD_DIVISOR, (dirtied, written))
        is_equal((place, len(pages_of(found, 'DIRTY')), len(pages_of(found, 'WRITEBACK_END'))),
                 (place, dirtied, written))
        is_equal(len(pages_of(found, 'WRITEBACK_START')), written)


@SUITE.test('cache: a request that io_uring retries is counted once')
def uring():
    """Each page counts once, though the kernel retries requests that it tried without waiting."""
    for place in PLACES:
        path = place + '/uring'
        make(path, 1 << 20)
        forget(path)

        def fio(rw):
            subprocess.run(['fio', '--name=uring', f'--filename={path}', f'--rw={rw}', '--bs=8k',
                            '--size=1m', '--ioengine=io_uring', '--iodepth=64', '--invalidate=0',
                            '--fadvise_hint=random', '--output=/dev/null'], check=True)

        def again():
            subprocess.run(['fio', '--name=again', f'--filename={path}', '--rw=write', '--bs=4k',
                            '--size=4k', '--loops=40', '--ioengine=io_uring', '--iodepth=1',
                            '--invalidate=0', '--output=/dev/null'], check=True)

        _, found = traced(lambda: fio('randread'), 'op=HIT,MISS')
        is_equal((place, sorted(pages_of(found, 'HIT', path) + pages_of(found, 'MISS', path))),
                 (place, list(range(256))))
        is_true(pages_of(found, 'MISS', path), place)
        _, found = traced(lambda: fio('randwrite'), 'op=HIT,MISS')
        is_equal(pages_of(found, 'HIT', path, 'WRITE'), list(range(256)))
        _, found = traced(again, 'op=HIT,MISS')
        is_equal((place, pages_of(found, 'HIT', path, 'WRITE')), (place, [0] * 40))


@SUITE.test('cache: filters', once=True)
def filters():
    path, other = '/mnt/ext4/filtered', '/mnt/xfs/filtered'
    for name in path, other:
        make(name)
    st = os.stat(path)

    def both():
        for name in path, other:
            in_order(name, SIZE)
            forget(name)
            in_order(name, 8192)

    def seen(*conditions):
        _, found = traced(both, *conditions)
        return {(r['path'], r['op']) for r in found if r.get('path', '').endswith('/filtered')}

    ops = {'HIT', 'MISS', 'READAHEAD', 'INVALIDATE'}
    is_equal(seen(), {(p, o) for p in (path, other) for o in ops})
    dev = f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}'
    is_equal(seen(f'dev={dev}'), {(path, o) for o in ops})
    is_equal(seen(f'dev={dev}', f'inode={st.st_ino}', 'op=MISS,READAHEAD'),
             {(path, 'MISS'), (path, 'READAHEAD')})
    is_equal(seen('op=MISS', f'min_size={PAGES * PAGE}'), set())
    is_equal(seen('kind=dir'), set())
    is_equal(seen('comm=nobody'), set())
    is_equal(write(f'{IOT}/{CACHE}/control', 'filter op=READ\n'), 'EINVAL')
    matches(slurp(f'{IOT}/{CACHE}/control'), 'filter ')


@SUITE.test('cache: samples', once=True)
def samples():
    path = '/mnt/ext4/sampled'
    make(path)

    def warm():
        for _ in range(20):
            in_order(path, PAGE)

    command('sample 10')
    _, found = traced(warm, 'op=HIT')
    command('sample 1')
    is_equal({r['sample'] for r in found}, {'10'})
    total = sum(int(r['sample']) * int(r['pages']) for r in found if r.get('path') == path)
    is_true(abs(total - 20 * PAGES) <= 20, f'{total} pages, not {20 * PAGES}')


@SUITE.test('cache: pages of tmpfs have no events', once=True)
def of_tmpfs():
    """Pages of tmpfs have no events, whatever is done to them."""
    path = '/mnt/files/pages'

    def work():
        make(path)
        in_order(path, 65536)
        with open(path, 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
            m[7 * PAGE] = 1
        os.truncate(path, PAGE)
        os.unlink(path)

    device = os.stat('/mnt/files').st_dev
    _, found = traced(work, 'kind=all', f'dev={os.major(device)}:{os.minor(device)}')
    is_equal(found, [])


@SUITE.test('cache: files that no program touches have their paths')
def unseen():
    """A file that no program touches while tracing has a path by the mount of its filesystem."""
    reload()
    paths = []
    for place in PLACES:
        os.makedirs(place + '/unseen')
        paths += [place + '/unseen/' + name for name in ('plain', 'link', 'b' * 200)]
        for path in paths[-3::2]:
            with open(path, 'wb') as f:
                f.write(bytes(8 * PAGE))
        os.link(paths[-3], paths[-2])
    _, found = traced(os.sync, 'kind=all', 'op=WRITEBACK_START,WRITEBACK_END', mine=False)
    for path in paths[::3] + paths[2::3]:
        ino = str(os.stat(path).st_ino)
        for op in 'WRITEBACK_START', 'WRITEBACK_END':
            mine = [r for r in found if r['op'] == op and r['inode'] == ino]
            is_equal((path, pages_in(mine)), (path, list(range(8))))
            is_true({r.get('path') for r in mine} <= {path, path.replace('plain', 'link')}, mine)


@SUITE.test('cache: files that are renamed have their new paths')
def renamed():
    """A file that is renamed before it is written to the disk has its new path there."""
    for place in PLACES:
        old, new = place + '/old', place + '/new'

        def write_and_rename():
            with open(old, 'wb') as f:
                f.write(bytes(3 * PAGE))
            os.rename(old, new)
            os.sync()

        _, found = traced(write_and_rename, 'op=DIRTY,WRITEBACK_START', mine=False)
        number = str(os.stat(new).st_ino)
        mine = [r for r in found if r['inode'] == number]
        is_equal(sorted({(r['op'], r.get('path')) for r in mine}),
                 [('DIRTY', old), ('WRITEBACK_START', new)])


@SUITE.test('cache: files of a filesystem that is mounted elsewhere have their new paths')
def remounted():
    """Files of a filesystem that is mounted elsewhere while tracing have their new paths."""
    def written(name):
        with open('/mnt/moved/' + name, 'wb') as f:
            f.write(bytes(PAGE))
            return str(os.fstat(f.fileno()).st_ino)

    def moved(device, home, *how):
        subprocess.run(['mount'] + list(how) + ['/mnt/moved'], check=True)
        subprocess.run(['umount', home], check=True)
        inodes = {written('first')}
        os.sync() # when the module may notice the change
        deadline = time.monotonic() + 300
        while '/mnt/moved/second' not in {r.get('path') for r in category.events(category=CACHE)}:
            is_true(time.monotonic() < deadline, 'the new path is not known after five minutes')
            inodes.add(written('second'))
            os.sync()
        subprocess.run(['umount', '/mnt/moved'], check=True)
        subprocess.run(['mount', device, home], check=True)
        return inodes

    os.makedirs('/mnt/moved', exist_ok=True)
    os.makedirs('/mnt/xfs/part', exist_ok=True)
    for case in (('/dev/vda', '/mnt/ext4', '/dev/vda'),
                 ('/dev/vdb', '/mnt/xfs', '--bind', '/mnt/xfs/part')):
        inodes, found = traced(lambda case=case: moved(*case), 'kind=file', 'op=WRITEBACK_START',
                               mine=False)
        paths = {r.get('path') for r in found if r['inode'] in inodes}
        is_true('/mnt/moved/second' in paths, paths)
        is_true(paths <= {'/mnt/moved/first', '/mnt/moved/second', None}, paths)


@SUITE.test('cache: hooked only while started; kretprobes give the same events')
def hooked():
    """Nothing is hooked before start and after stop; kretprobes see the same in tasks."""
    def lines():
        return [line for line in slurp(IOT + '/hooks').split('\n') if 'filemap_' in line]

    is_equal(lines(), [])
    command('start')
    is_true(lines(), 'nothing is hooked')
    is_equal([line for line in lines() if line.split()[3] != '1' and 'splice' not in line], [])
    command('stop')
    # a function that another category redirects is hooked at its entry all the same
    category.command('start')
    command('start')
    is_equal({line.split()[2] for line in lines() if ' HIT,MISS ' in line} - {'detached'}, {'entry'})
    category.command('stop')
    command('stop')
    is_equal(lines(), [])
    reload('attach=kprobe')
    reads()
    mappings()
    removals()
    reload()
