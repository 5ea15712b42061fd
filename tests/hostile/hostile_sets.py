# SPDX-License-Identifier: GPL-2.0
"""
Sets of hooks, while modules whose functions they hook come and go, and while other modules
redirect the same functions. /mnt/disk is mounted. /dev/vdb has a btrfs, whose module is not
loaded at first. The other modules are in the directory GHOSTS; their sources are tests/hostile/ghost.
"""
import collections
import errno
import mmap
import os
import subprocess
import time

from lib import category
from lib.categories import CATEGORIES
from lib.iot import add, IOT, is_equal, is_true, join, must, reload, slurp, unload, write
from lib.kernel import VERSION
from lib.machine import execute, new_filesystem, new_tmpfs, umount
from lib.places import GHOSTS
from lib.process import spawn
from lib.suite import Skip, Suite

HERE = '/mnt/disk'
PAGE = 4096
FUNCTION = 'btrfs_buffered_write'
WAYS = 'attach=auto', 'attach=entry', 'attach=kprobe'
NOT_THERE = ('detached', -errno.ENOENT)
BUSY = -errno.EBUSY
FOLLOWED = 'kretprobe-names-as-given'


def setup():
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk')
    os.makedirs('/mnt/btrfs', exist_ok=True)
    execute('mkfs.btrfs', '-q', '-f', '/dev/vdb')
    execute('modprobe', '-r', 'btrfs')


def after():
    unload()
    if os.path.ismount('/mnt/btrfs'):
        umount('/mnt/btrfs')
    for module in 'ghost', 'foreign', 'btrfs':
        if os.path.isdir(f'/sys/module/{module}'):
            rmmod(module)


def has_livepatches():
    if not os.path.exists(GHOSTS + '/patch.ko'):
        raise Skip('this kernel has no livepatches')


SUITE = Suite(setup=setup, teardown=lambda: umount('/mnt/disk', '/mnt/files'), after=after)


def run(*words):
    subprocess.run(words, check=True)


def insmod(name, *parameters):
    run('insmod', f'{GHOSTS}/{name}.ko', *parameters)


def is_refused(name, *parameters):
    """The module does not load, because a function is busy."""
    done = subprocess.run(['insmod', f'{GHOSTS}/{name}.ko', *parameters], check=False,
                          capture_output=True, text=True)
    is_true(done.returncode and 'busy' in done.stderr, done)


def rmmod(name):
    run('rmmod', name)


def address(symbol, module=''):
    """The address of a function or variable of a module, of any if it is not named, or None."""
    for line in slurp('/proc/kallsyms').split('\n'):
        words = line.split()
        if len(words) == 4 and words[2] == symbol and module in words[3]:
            return words[0]
    return None


def hooks():
    """(mechanism, error) by function and operation"""
    rows = [line.split() for line in slurp(IOT + '/hooks').split('\n')[1:-1]]
    return {(r[0], r[1]): (r[2], int(r[6])) for r in rows}


def hook(symbol):
    found = {how for (name, _), how in hooks().items() if name == symbol}
    is_equal(len(found), 1)
    return found.pop()


def entry(how):
    """What hooks shows for a function that is observed but not redirected."""
    return (FOLLOWED if how == 'attach=kprobe' else 'entry', 0)


def traced(name, work, path=None, complete=True):
    """Count the events of @work by operation. With a path, count its pages instead."""
    category.command('reset', category=name)
    work()
    s = category.is_conserved(name)
    is_equal((s['lost'], s['overwritten']), (0, 0))
    is_true(not complete or s['missed'] == 0, s)
    found = collections.Counter()
    for r in category.events(path, name):
        found[r['op']] += 1 if path is None else int(r['pages'])
    return found


def looked_up(path, work):
    found = traced('cache', work, path)
    return found['HIT'] + found['MISS']


def start(name, condition=f'tree={os.getpid()}'):
    category.command('stop', f'filter {condition}', 'start', category=name)


# Modules that come and go


def write_pages(path, n, flags=0):
    fd = os.open(path, os.O_WRONLY | flags, 0o600)
    for _ in range(n):
        is_equal(os.write(fd, bytes(PAGE)), PAGE)
    os.close(fd)


def haunt():
    """Load the ghost that is called btrfs. Return a file on ext4 whose writes call it."""
    insmod('btrfs')
    major, minor = slurp('/sys/class/misc/haunted/dev').split(':')
    path = HERE + '/haunted'
    if os.path.exists(path):
        os.unlink(path)
    os.mknod(path, 0o20600, os.makedev(int(major), int(minor)))
    return path


def ghost_at(where):
    """
    Load ghost until its function is at @where, which the unloaded btrfs has freed. Return: False
    if it never is, as the kernel has given that memory to something else.
    """
    for _ in range(20):
        insmod('ghost')
        if address('ghost_sum') == where:
            return True
        rmmod('ghost')
    return False


@SUITE.test('sets: a function at the old address of a hooked function is not taken for it')
def ghosts():
    """Another module's function is at the address of a hooked one, which then comes back."""
    for way in WAYS:
        is_true(any(ghost_instead(way) for _ in range(5)), 'ghost_sum is never where btrfs was')


@SUITE.test("sets: files of a module at the old address of another one's are a new kind of file")
def ghost_files():
    """Another module's file_operations are at the address of those of a file that was traced."""
    is_true(any(ghost_file_instead() for _ in range(5)), 'fops is never where that of btrfs was')


def ghost_file_instead():
    """Return: whether fops of ghost came to the address of that of btrfs."""
    reload('attach=auto')
    path = haunt()
    function, where = address(FUNCTION), address('fops', '[btrfs]')
    start('fs', 'kind=device op=WRITE')
    is_equal(traced('fs', lambda: write_pages(path, 3)), {'WRITE': 3})
    rmmod('btrfs')
    came = ghost_at(function)
    if came:
        is_equal(address('fops', '[ghost]'), where)
        is_equal(traced('fs', lambda: write_pages('/dev/ghost', 4)), {'WRITE': 4})
        rmmod('ghost')
    category.command('stop', 'filter none')
    return came


def ghost_instead(way):
    """Return: whether ghost_sum came to the address of the hooked function."""
    reload(way)
    path = haunt()
    where = address(FUNCTION)
    start('cache', 'kind=all')
    is_equal(hook(FUNCTION), entry(way))
    is_equal(looked_up(path, lambda: write_pages(path, 70)), 70)
    rmmod('btrfs')
    is_equal(hook(FUNCTION), NOT_THERE)
    if not ghost_at(where):
        category.command('stop', category='cache')
        return False
    is_true('ghost_sum' not in slurp('/sys/kernel/tracing/enabled_functions'), 'it is hooked')
    traced('cache', lambda: write_pages('/dev/ghost', 50))
    is_equal(int(slurp('/sys/module/ghost/parameters/sum')), 50 * PAGE)
    rmmod('ghost')
    is_equal(haunt(), path)
    is_equal(hook(FUNCTION), entry(way))
    is_equal(looked_up(path, lambda: write_pages(path, 60)), 60)
    category.command('stop', category='cache')
    is_equal(hooks(), {})
    is_equal(looked_up(path, lambda: write_pages(path, 1)), 0)
    rmmod('btrfs')
    return True


def mounted_btrfs():
    run('mount', '-t', 'btrfs', '/dev/vdb', '/mnt/btrfs')


def gone_btrfs():
    run('umount', '/mnt/btrfs')
    run('modprobe', '-r', 'btrfs')


@SUITE.test('sets: the functions of a module are hooked each time it is loaded, also the first time')
def comes_and_goes():
    """The real btrfs, which is not loaded at first."""
    path = '/mnt/btrfs/file'
    for way in WAYS[:2]:
        reload(way)
        start('cache')
        is_equal(hook(FUNCTION), NOT_THERE)
        for pages in 200, 150:
            mounted_btrfs()
            is_equal(hook(FUNCTION), entry(way))
            if pages == 200: # without redirecting, fs needs one in memory to find its kind
                write_pages(path, 1, os.O_CREAT)
                start('fs', f'tree={os.getpid()} op=WRITE')
            new = lambda n=pages: write_pages(path, n, os.O_CREAT | os.O_TRUNC)
            is_equal(looked_up(path, new), pages)
            is_equal(traced('fs', new, complete=way == 'attach=auto'), {'WRITE': pages})
            gone_btrfs()
            is_equal(hook(FUNCTION), NOT_THERE)
        category.command('stop', category='cache')
        category.command('stop', category='fs')


def load_and_unload(count, stop):
    """
    Load and unload a module until a file @stop exists. The size of the file @count is how often.
    rmmod is repeated: while its functions are looked up, the kernel holds the module briefly.
    """
    while not os.path.exists(stop):
        insmod('btrfs')
        while subprocess.run(['rmmod', 'btrfs'], check=False, capture_output=True).returncode:
            pass
        with open(count, 'ab') as f:
            f.write(b'x')


@SUITE.test('sets: modules are loaded and unloaded while sets are started and stopped')
def churn():
    """Sets are started while a module comes and goes. In the end what exists is attached."""
    for way in WAYS[::2]:
        reload(way)
        count, stop = '/tmp/churned', '/tmp/stop'
        with open(count, 'wb'):
            pass
        other = spawn(load_and_unload, count, stop)
        rounds = 0
        while rounds < 4 or os.path.getsize(count) < 4:
            start('cache', 'kind=all')
            category.command('stop', category='cache')
            rounds += 1
        with open(stop, 'wb'):
            pass
        join(other)
        os.unlink(stop)
        start('cache', 'kind=all')
        is_equal(hook(FUNCTION), NOT_THERE)
        path = haunt()
        is_equal(hook(FUNCTION), entry(way))
        is_equal(looked_up(path, lambda: write_pages(path, 20)), 20)
        rmmod('btrfs')
        category.command('stop', category='cache')


# Other modules that redirect


def calls():
    """Make as many calls of each kind as CALLS has."""
    path = HERE + '/calls'
    for _ in range(30):
        os.mkdir(path)
        os.rmdir(path)
    for _ in range(20):
        with open(path, 'wb'):
            pass
        os.truncate(path, 100)
        os.unlink(path)


CALLS = {'MKDIR': 30, 'RMDIR': 30, 'TRUNCATE': 20, 'UNLINK': 20}


def touch_pages():
    """Cause a page fault for each of 40 pages."""
    fd = os.open(HERE + '/pages', os.O_RDONLY)
    with mmap.mmap(fd, 40 * PAGE, prot=mmap.PROT_READ) as m:
        m.madvise(mmap.MADV_RANDOM)
        for page in range(40):
            m.madvise(mmap.MADV_DONTNEED)
            m[page * PAGE]
    os.close(fd)


def is_all_traced():
    """Every category that was started records everything."""
    is_equal(traced('fs', calls), CALLS)
    faults = [r for r in events_of('fault', touch_pages) if r['path'] == HERE + '/pages']
    is_equal(len(faults), 40)
    is_equal(looked_up(HERE + '/pages', lambda: write_pages(HERE + '/pages', 40)), 40)


def events_of(name, work):
    traced(name, work)
    return category.events(category=name)


def begin(way):
    """Start all categories, and add a target."""
    reload(way)
    write_pages(HERE + '/pages', 40, os.O_CREAT)
    target = add(HERE + '/pages')
    start('fs', f'tree={os.getpid()} op={",".join(CALLS)}')
    for name in CATEGORIES:
        if name != 'fs':
            start(name)
    return target


def end():
    for name in CATEGORIES:
        category.command('stop', category=name)


def target_sees(target):
    before = target.stats('vfs')[0]
    write_pages(HERE + '/pages', 40)
    return target.stats('vfs')[0] - before


# Functions of categories fs, fault and cache, and of a target. iotracer never redirects the
# last one.
MKDIR, UNLINK = (('do_mkdirat', 'do_unlinkat') if VERSION < (7, 0) else
                 ('filename_mkdirat', 'filename_unlinkat'))
TAKEN = (MKDIR, '__x64_sys_truncate', UNLINK, 'handle_mm_fault',
         'ext4_file_write_iter', 'filemap_read')


@SUITE.test('sets: a function that another module redirects is followed, all others are redirected')
def foreign_first():
    """Exactly the functions that another module redirected are followed; nothing is missing."""
    begin('attach=auto')
    free = hooks()
    is_true(sum(how == ('redirect', 0) for how in free.values()) > 100, free)
    end()
    reload()
    insmod('foreign', 'functions=' + ','.join(TAKEN))
    target = begin('attach=auto')
    for (symbol, what), how in hooks().items():
        usual = free[symbol, what]
        if symbol not in TAKEN or usual[0] != 'redirect':
            is_equal((symbol, how), (symbol, usual))
        elif symbol.startswith('ext4_'):
            is_equal((symbol, how), (symbol, ('kretprobe', BUSY)))
        else:
            is_equal((symbol, how), (symbol, (FOLLOWED, BUSY)))
    for there in True, False:
        is_all_traced()
        is_equal(target_sees(target), 40)
        if there:
            rmmod('foreign')
    end()
    must(f'remove {HERE}/pages')
    begin('attach=auto')
    is_equal(hooks(), free)
    is_refused('foreign', f'functions={MKDIR}')
    end()


@SUITE.test('sets: with attach=entry other modules may redirect any function')
def foreign_later():
    """Nothing is redirected; nothing is missing before, while and after another module does."""
    target = begin('attach=entry')
    table = hooks()
    is_equal({how for how in table.values()} - {NOT_THERE},
             {('entry', 0), ('kretprobe', 0), (FOLLOWED, 0), ('tracepoint', 0)})
    for step in 'before', 'there', 'gone':
        if step == 'there':
            insmod('foreign', 'functions=' + ','.join(TAKEN))
        if step == 'gone':
            rmmod('foreign')
        is_all_traced()
        is_equal(target_sees(target), 40)
        is_equal(hooks(), table)
    end()


def is_settling():
    """Not all tasks use the livepatch yet, or not all have left it."""
    try:
        return slurp('/sys/kernel/livepatch/patch/transition') != '0\n'
    except OSError:
        return False


def patch_settles():
    deadline = time.monotonic() + 300
    while is_settling():
        is_true(time.monotonic() < deadline, 'the livepatch is not done')
        time.sleep(0.1)


def load_patch():
    insmod('patch')
    patch_settles()


def unload_patch():
    is_equal(write('/sys/kernel/livepatch/patch/enabled', '0'), 1)
    patch_settles()
    deadline = time.monotonic() + 300
    while subprocess.run(['rmmod', 'patch'], check=False, capture_output=True).returncode:
        is_true(time.monotonic() < deadline, 'the livepatch stays')
        time.sleep(0.1)


def truncates(patched):
    """Of 20 calls each is recorded once, with the result that the program got."""
    path = HERE + '/truncated'
    result = -errno.EUCLEAN if patched else 0

    def work():
        for n in range(20):
            try:
                os.truncate(path, n)
                got = 0
            except OSError as e:
                got = -e.errno
            is_equal(got, result)

    write_pages(path, 1, os.O_CREAT)
    is_equal([(r['op'], int(r['result'])) for r in events_of('fs', work)],
             [('TRUNCATE', result)] * 20)


def trace_truncates():
    start('fs', f'tree={os.getpid()} op=TRUNCATE')


def kprobe(command):
    """Add, or remove, another user's kprobe. With it ftrace passes and restores all registers."""
    events = '/sys/kernel/tracing/events/kprobes'
    if command == 'remove':
        must('0', f'{events}/enable')
        must('-:kprobes/seen', '/sys/kernel/tracing/kprobe_events')
    else:
        must('p:kprobes/seen __x64_sys_truncate', '/sys/kernel/tracing/kprobe_events')
        must('1', f'{events}/seen/enable')


@SUITE.test('sets: a livepatch that was there before us')
def livepatch_first():
    has_livepatches()
    load_patch()
    reload()
    trace_truncates()
    table = hooks()
    is_equal({name for name, how in table.items() if how == (FOLLOWED, BUSY)},
             {('__x64_sys_truncate', 'TRUNCATE')})
    is_true(sum(how == ('redirect', 0) for how in table.values()) > 100, table)
    truncates(patched=True)
    kprobe('add')
    truncates(patched=True)
    kprobe('remove')
    unload_patch()
    truncates(patched=False)
    is_equal(hooks(), table)
    category.command('stop', category='fs')
    trace_truncates()
    is_equal(hook('__x64_sys_truncate'), ('redirect', 0))
    is_refused('patch')
    truncates(patched=False)
    category.command('stop', category='fs')


@SUITE.test('sets: a livepatch that is loaded later')
def livepatch_later():
    has_livepatches()
    reload('attach=entry')
    trace_truncates()
    truncates(patched=False)
    load_patch()
    truncates(patched=True)
    unload_patch()
    truncates(patched=False)
    category.command('stop', category='fs')
