# SPDX-License-Identifier: GPL-2.0
"""
Files that the kernel opens for itself: each is opened, read, written and released once in category
fs, with the flag KERNEL. Each test has the kernel open a file of its own, and compares the records of
that file with what the file then is.
"""
import errno
import glob
import os
import resource
import struct
import subprocess
import time

from lib.category import cleaning, command, events, FS
from lib.iot import is_equal, is_true, load, reload, slurp
from lib.kernel import VERSION
from lib.machine import execute, files_and_disk, umount, umount_files_and_disk
from lib.places import TESTS
from lib.suite import reloads, Suite
from lib.syscalls import native

HOME = '/mnt/disk/home'
CORE_PATTERN = '/proc/sys/kernel/core_pattern'
AT_FDCWD = -100
PAGE = 4096


def nfs(command_):
    """Call a function of lib/nfs.bash."""
    execute('bash', '-ec', f'. {TESTS}/lib/nfs.bash; {command_}')


def setup():
    files_and_disk()
    is_true(load(), 'insmod failed')


def after():
    if os.path.exists(FS):
        command('stop')
    if os.path.ismount('/mnt/nfs'):
        umount('/mnt/nfs')
    if os.path.ismount('/proc/fs/nfsd'):
        nfs('stop_nfs')


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, after=after, around=cleaning)


def put(path, text):
    with open(path, 'wb') as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    return path


def home():
    os.system(f'rm -rf {HOME} && mkdir {HOME}')
    os.chdir(HOME)


def start(*conditions):
    command('filter ' + (' '.join(conditions) or 'none'), 'reset', 'start')


def rows(of, *ops):
    """The records of a file, which os.stat() describes, of these operations or of all."""
    device = f'{os.major(of.st_dev)}:{os.minor(of.st_dev)}'
    return [e for e in events() if (e.get('inode'), e.get('device')) == (str(of.st_ino), device) and
            (not ops or e['op'] in ops)]


def is_kernels(found):
    for e in found:
        is_true('KERNEL' in e.get('flags', '').split('|'), e)


def opened_once(of, *ops, times=1):
    """The file was opened @times, by one of the operations, and released as often, by the kernel."""
    opens, releases = rows(of, *ops), rows(of, 'RELEASE')
    is_equal((len(opens), len(releases)), (times or len(releases), times or len(opens)))
    is_true(opens, of)
    is_kernels(opens + releases)
    is_equal({e['result'] for e in opens + releases}, {'0'})
    return opens


def moved(of, op):
    """What the kernel has read or written of the file, as its records say."""
    found = rows(of, op)
    is_kernels(found)
    return sum(int(e['result']) for e in found)


def crash(pattern):
    """A child dumps core. Return: its pid."""
    put(CORE_PATTERN, pattern)
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (100 * PAGE, 100 * PAGE))
        os.abort()
    is_true(os.WCOREDUMP(os.waitpid(pid, 0)[1]) or 'none' in pattern, 'no core')
    return pid


@SUITE.test('a core dump')
def core_dump():
    home()
    before = slurp(CORE_PATTERN)
    start()
    try:
        pid = crash('core.%p')
    finally:
        put(CORE_PATTERN, before)
    path = f'{HOME}/core.{pid}'
    of = os.stat(path)
    create, = opened_once(of, 'CREATE', 'OPEN')
    is_equal((create['op'], create['path'], create['pid'], create['flags2']),
             ('CREATE', path, pid, '0600'))
    is_true('O_CREAT' in create['flags'].split('|'), create)
    is_true(0 < moved(of, 'WRITE') <= of.st_size, of)


@SUITE.test('a core dump that cannot be created')
def no_core_dump():
    home()
    before = slurp(CORE_PATTERN)
    start()
    try:
        pid = crash(HOME + '/none/core')
    finally:
        put(CORE_PATTERN, before)
    found = [e for e in events() if e['pid'] == pid and e.get('path') == HOME + '/none/core' and
             e['op'] != 'UNLINK'] # an older dump is deleted first
    is_equal([(e['op'], e['result']) for e in found], [('OPEN', str(-errno.ENOENT))])
    is_kernels(found)


@SUITE.test('the accounting of processes')
def accounting():
    home()
    path = put('acct', '')
    of = os.stat(path)
    start(f'inode={of.st_ino}')
    is_equal(native.acct(path), 0)
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    is_equal(native.acct(0), 0)
    # newer kernels open it a second time, on a mount of their own
    opens = opened_once(of, 'OPEN', times=2 if VERSION >= (7, 0) else 1)
    is_equal(opens[0]['path'], f'{HOME}/acct')
    is_equal(moved(of, 'WRITE'), os.stat(path).st_size)
    is_true(len(rows(of, 'WRITE')) >= 3, of)


@SUITE.test('a swap file')
def swap_file():
    home()
    pages = 64
    header = bytearray(PAGE)
    struct.pack_into('<III', header, 1024, 1, pages - 1, 0)
    header[-10:] = b'SWAPSPACE2'
    path = put('swap', bytes(header) + bytes((pages - 1) * PAGE))
    os.chmod(path, 0o600)
    os.system('sync')
    of = os.stat(path)
    start(f'inode={of.st_ino}')
    is_equal(native.swapon(path, 0), 0)
    is_equal(native.swapoff(path), 0)
    # swapoff(2) opens it to find it
    is_equal({e['path'] for e in opened_once(of, 'OPEN', times=2)}, {f'{HOME}/swap'})


@SUITE.test('firmware')
def firmware():
    home()
    path = put(HOME + '/firm', b'x' * 5000)
    of = os.stat(path)
    where = '/sys/module/firmware_class/parameters/path'
    before = slurp(where)
    is_equal(os.system('modprobe test_firmware'), 0)
    start()
    try:
        put(where, HOME)
        put('/sys/devices/virtual/misc/test_firmware/trigger_request', 'firm')
    finally:
        put(where, before or '\n')
        os.system('modprobe -r test_firmware')
    is_equal([e['path'] for e in opened_once(of, 'OPEN')], [path])
    is_equal(moved(of, 'READ'), 5000)


@SUITE.test('a module that is read from a descriptor')
def module():
    """What the kernel reads of a module is its own; the program has opened the file."""
    path, = glob.glob(f'/lib/modules/{os.uname().release}/kernel/drivers/net/dummy.ko*')
    home()
    copy = HOME + '/module.ko'
    put(copy, subprocess.run(['xz', '-dc', path], check=True, stdout=subprocess.PIPE).stdout
        if path.endswith('.xz') else open(path, 'rb').read())
    of = os.stat(copy)
    fd = os.open(copy, os.O_RDONLY)
    start(f'inode={of.st_ino}')
    is_equal(native.finit_module(fd, '', 0), 0)
    os.system(f'rmmod {os.path.basename(path).split(".")[0]}')
    os.close(fd)
    is_equal(moved(of, 'READ'), of.st_size)
    is_equal([e['flags'] for e in rows(of, 'RELEASE')], ['O_LARGEFILE'])


@SUITE.test('a kernel that is read from a descriptor')
def kexec():
    """What the kernel reads of a file that turns out to be no kernel."""
    home()
    path = put(HOME + '/kernel', b'x' * 3 * PAGE)
    of = os.stat(path)
    fd = os.open(path, os.O_RDONLY)
    start(f'inode={of.st_ino}')
    is_equal(native.kexec_file_load(fd, -1, 1, '', 4), -errno.ENOEXEC) # KEXEC_FILE_NO_INITRAMFS
    is_equal(moved(of, 'READ'), of.st_size)
    os.close(fd)


@SUITE.test('a message queue')
def message_queue():
    """A queue is a file that shows what the kernel has in memory; it has no path."""
    start(f'pid={os.getpid()}')
    fd = native.mq_open('iotracer', os.O_RDWR | os.O_CREAT, 0o600, 0)
    of = os.fstat(fd)
    os.close(fd)
    is_equal(rows(of), [])
    command(f'filter pid={os.getpid()} kind=pseudo', 'reset')
    fd = native.mq_open('iotracer', os.O_RDWR, 0, 0)
    os.close(fd)
    is_equal({(e['op'], e.get('path')) for e in rows(of)},
             {('OPEN', None), ('CLOSE', None), ('FLUSH', None), ('RELEASE', None)})
    is_kernels(rows(of, 'OPEN', 'RELEASE'))
    is_equal(native.mq_unlink('iotracer'), 0)


@SUITE.test('an event of fanotify')
def event_of_fanotify():
    """The descriptor of an event is a file that the kernel has opened."""
    home()
    path = put(HOME + '/f', 'x')
    of = os.stat(path)
    group = native.fanotify_init(0, os.O_RDONLY)
    is_equal(native.fanotify_mark(group, 1, 8, AT_FDCWD, path), 0) # FAN_MARK_ADD, FAN_CLOSE_WRITE
    start(f'inode={of.st_ino} pid={os.getpid()}')
    put(path, 'y')
    fd = struct.unpack_from('<IBBHQii', os.read(group, PAGE))[5]
    os.close(fd)
    os.close(group)
    found = rows(of, 'OPEN', 'RELEASE')
    kernels = [e for e in found if 'KERNEL' in e['flags']]
    is_equal([(e['op'], e['path'], e['result']) for e in kernels],
             [('OPEN', path, '0'), ('RELEASE', path, '0')])
    is_equal(len(found), 4)


def until(condition):
    """Wait until a thread of the kernel has done something, five minutes at most."""
    deadline = time.monotonic() + 300
    while not condition():
        is_true(time.monotonic() < deadline, 'nothing happens')
        time.sleep(0.1)


def is_released(of, times):
    return len(rows(of, 'RELEASE')) == times


@SUITE.test('a file that the NFS server opens for a client, and one of cachefiles for that client')
def served_and_cached():
    """A client reads a file twice, the second time from its cache."""
    home()
    execute('modprobe', 'cachefiles')
    os.mkdir('/mnt/files/served')
    nfs('serve_nfs /mnt/files/served')
    os.mkdir('cache')
    put('/mnt/files/served/f', os.urandom(20 * PAGE))
    served = os.stat('/mnt/files/served/f')
    daemon = os.open('/dev/cachefiles', os.O_RDWR)
    for line in f'dir {HOME}/cache', 'tag iotracer', 'bind':
        os.write(daemon, line.encode())
    start('op=OPEN,CREATE,RELEASE,READ,WRITE,DIO_READ,DIO_WRITE')
    cached = None
    for times in 1, 2:
        is_equal(os.system('mount -t nfs4 -o vers=4.2,fsc 127.0.0.1:/ /mnt/nfs'), 0)
        is_equal(len(open('/mnt/nfs/f', 'rb').read()), served.st_size)
        is_equal(os.system('umount /mnt/nfs'), 0)
        if not cached:
            until(lambda: glob.glob(f'{HOME}/cache/cache/*/*/*'))
            cached = os.stat(glob.glob(f'{HOME}/cache/cache/*/*/*')[0])
        until(lambda: is_released(cached, times))
    until(lambda: is_released(served, len(rows(served, 'OPEN'))))
    os.close(daemon)
    is_equal({e['comm'] for e in opened_once(served, 'OPEN', times=None)}, {'nfsd'})
    is_equal(moved(served, 'READ'), served.st_size) # once: then the cache has it
    is_equal([e['op'] for e in opened_once(cached, 'CREATE', 'OPEN', times=2)], ['CREATE', 'OPEN'])
    is_equal((moved(cached, 'DIO_WRITE'), moved(cached, 'DIO_READ')), (served.st_size, served.st_size))


@SUITE.test('a file that overlayfs copies up')
def copied_up():
    """overlayfs reads the lower file and writes the upper one; the rest is done by the overlay."""
    home()
    os.system('mkdir low up work all')
    put('low/f', b'x' * 3 * PAGE)
    is_equal(os.system(f'mount -t overlay overlay -o lowerdir={HOME}/low,upperdir={HOME}/up,'
                       f'workdir={HOME}/work {HOME}/all'), 0)
    low = os.stat('low/f')
    start(f'pid={os.getpid()} op=OPEN,CREATE,READ,WRITE,RELEASE')
    try:
        with open('all/f', 'r+b', buffering=0) as f:
            f.write(b'y')
        found = events()
        up = os.stat('up/f')
        is_true(up.st_ino != low.st_ino, up)
        overlays = [(e['op'], e.get('flags')) for e in found if e.get('path') == HOME + '/all/f']
        is_equal(overlays, [('OPEN', 'O_RDWR|O_CLOEXEC'), ('WRITE', None),
                            ('RELEASE', 'O_RDWR|O_LARGEFILE')])
        opened_once(low, 'OPEN', times=None) # for its data, and for its attributes
        opened_once(up, 'OPEN', 'CREATE', times=None)
        is_equal(moved(up, 'WRITE'), low.st_size)
        is_true(moved(low, 'READ') in (0, low.st_size), low) # it may be spliced from the cache
        is_kernels([e for e in found if not e.get('path', '').startswith(HOME + '/all')])
    finally:
        command('stop')
        is_equal(os.system(f'umount {HOME}/all'), 0)


@SUITE.test('by kretprobe, which may not sleep')
@reloads
def by_kretprobe():
    for test in core_dump, no_core_dump, accounting:
        reload('attach=kprobe')
        test()
