# SPDX-License-Identifier: GPL-2.0
"""
Every way to read and write a file, on every kind of filesystem: access_methods.c
uses each once and compares the log with it. This file also tests what must not be in a log.
"""
import fcntl
import mmap
import os
import re
import struct
import subprocess

from lib.iot import add, CONTROL, forget, IOT, is_equal, is_true, must, reload, slurp, touch
from lib.machine import execute, three_filesystems, umount, umount_three_filesystems
from lib.places import PROGRAMS
from lib.suite import reloads, Skip, Suite

WAYS = f'{PROGRAMS}/access_methods'
OVERLAY = '/mnt/ext4/overlay'
FS_IOC_ADD_ENCRYPTION_KEY, FS_IOC_SET_ENCRYPTION_POLICY = 0xc0506617, 0x800c6613


def mount_overlay():
    execute('mount', '-t', 'overlay', 'none', OVERLAY, '-o',
            'lowerdir=/mnt/ext4/lower,upperdir=/mnt/ext4/upper,workdir=/mnt/ext4/work')


def setup():
    three_filesystems()
    for name in 'lower', 'upper', 'work', 'overlay':
        os.mkdir('/mnt/ext4/' + name)
    mount_overlay()
    execute('btrfs', 'subvolume', 'create', '/mnt/btrfs/sub')


def teardown():
    umount(OVERLAY)
    umount_three_filesystems()


SUITE = Suite(setup=setup, teardown=teardown)


def dd(*words):
    execute('dd', 'status=none', *words)


def put(path, size, conv='notrunc,fsync'):
    """One write(2) of zeroes, which is then on the disk."""
    dd('if=/dev/zero', 'of=' + path, f'bs={size}', 'count=1', 'conv=' + conv)


def get(path, size):
    """One read(2) by dd."""
    dd('if=' + path, 'of=/dev/null', f'bs={size}', 'count=1')


def found(t, regex):
    """How many lines of a target's log match."""
    return len(re.findall(regex, t.log(), re.M))


def use_each_way(directory):
    """Return: whether the log is as it should be, how many calls were missed, and what the program said."""
    path = directory + '/file'
    t = add(path, 1000)
    missed = t.stats()[4]
    done = subprocess.run((WAYS, t.dir, path, directory + '/other'), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    missed = t.stats()[4] - missed
    must('remove ' + path)
    return done.returncode == 0, missed, done.stdout


def each_way(directory):
    def run():
        with open(directory + '/file', 'w', encoding='ascii') as f:
            f.write('data\n')
        ok, _, said = use_each_way(directory)
        is_true(ok, said)
    return run


def each_way_by_kprobes(directory):
    """
    The kernel calls no handler of a kprobe inside another one. An interrupt that comes
    there completes a request unseen, which is counted; then all is done again.
    """
    with open(directory + '/file', 'w', encoding='ascii') as f:
        f.write('data\n')
    while True:
        ok, missed, said = use_each_way(directory)
        if ok:
            return
        is_true(missed > 0, said)


SUITE.add('ext4: each way to read and write a file leaves its records', each_way('/mnt/ext4'))
SUITE.add('xfs: each way to read and write a file leaves its records', each_way('/mnt/xfs'))
SUITE.add('btrfs: each way to read and write a file leaves its records', each_way('/mnt/btrfs'))
SUITE.add('btrfs subvolume: each way to read and write a file leaves its records', each_way('/mnt/btrfs/sub'))
SUITE.add('tmpfs: each way to read and write a file leaves its records', each_way('/mnt/files'))
SUITE.add('overlayfs: each way to read and write a file leaves its records', each_way(OVERLAY))


@SUITE.test('files of subvolumes and a snapshot with one inode number have logs of their own')
def subvolumes():
    for name in 'one', 'two':
        execute('btrfs', 'subvolume', 'create', f'/mnt/btrfs/{name}')
        with open(f'/mnt/btrfs/{name}/same', 'wb') as f:
            f.write(bytes(65536))
    execute('btrfs', 'subvolume', 'snapshot', '/mnt/btrfs/one', '/mnt/btrfs/three')
    paths = [f'/mnt/btrfs/{name}/same' for name in ('one', 'two', 'three')]
    is_equal(len({os.stat(path).st_ino for path in paths}), 1)
    ts = [add(path) for path in paths]
    get(paths[0], 4096)
    get(paths[2], 8192)
    is_equal([found(t, ';R;0;') for t in ts], [1, 0, 1])
    for path in paths:
        must('remove ' + path)


@SUITE.test('a file on overlayfs and the file below it are two targets')
def stacked():
    path, below = OVERLAY + '/stacked', '/mnt/ext4/upper/stacked'
    with open(path, 'w', encoding='ascii') as f:
        f.write('data\n')
    overlay, upper = add(path), add(below)
    is_true(overlay.name != upper.name, upper.name)
    get(path, 4096)
    is_equal([found(t, 'R;0;5;VFS;dd') for t in (overlay, upper)], [1, 1])
    get(below, 4096)
    is_equal([found(t, 'R;0;5;VFS;dd') for t in (overlay, upper)], [1, 2])
    # what is done to the disk is in the log of the lower one only
    put(path, 4096)
    is_equal(found(overlay, 'W;0;4096;VFS;dd'), 1)
    is_equal(found(overlay, ';BLK;'), 0)
    is_equal(found(upper, r';W;\d+;4096;BLK;'), 1)
    must('remove ' + path)
    must('remove ' + below)


@SUITE.test('what is read and written through a mapping is seen at the block layer only')
def mapped():
    path = '/mnt/ext4/mapped'
    put(path, 16384, 'fsync')
    forget(path)
    t = add(path)
    fd = os.open(path, os.O_RDWR)
    with mmap.mmap(fd, 16384) as m:
        m[9000] += 1
        m.flush()
    os.close(fd)
    is_equal(found(t, 'VFS'), 0)
    is_true(found(t, r';R;\d+;\d+;BLK;python3;') >= 1, t.log())
    is_equal(found(t, r';W;\d+;4096;BLK;'), 1)
    must('remove ' + path)


def by_block(path, size, are):
    """Whether data that is written is in a block event of the file."""
    touch(path)
    t = add(path)
    put(path, size)
    is_equal(found(t, f';W;0;{size};VFS;dd'), 1)
    if are:
        is_equal(found(t, rf';W;\d+;{size};BLK;'), 1)
    else:
        is_equal(found(t, 'BLK'), 0)
    must('remove ' + path)


@SUITE.test('btrfs: data that is compressed, or inline in metadata, is in no block event')
def compressed():
    os.mkdir('/mnt/btrfs/packed')
    execute('btrfs', 'property', 'set', '/mnt/btrfs/packed', 'compression', 'zlib')
    by_block('/mnt/btrfs/plain', 65536, True)
    by_block('/mnt/btrfs/packed/file', 65536, False)
    by_block('/mnt/btrfs/inline', 100, False)


def encrypt(directory):
    """Encrypt what is made in an empty directory of ext4, with a key of zeroes."""
    fd = os.open(directory, os.O_RDONLY)
    key = bytearray(struct.pack('<II32xII32x64x', 2, 0, 64, 0))
    fcntl.ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, key)
    fcntl.ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY,
                bytearray(struct.pack('<BBBBB3x16s', 2, 1, 4, 3, 0, bytes(key[8:24]))))
    os.close(fd)


@SUITE.test('ext4: data that fscrypt encrypts is in no block event when it is written', once=True)
def encrypted():
    if not os.path.exists('/sys/fs/ext4/features/encryption'):
        raise Skip('this kernel has no fscrypt')
    top = '/mnt/secret'
    execute('mkfs.ext4', '-q', '-F', '-O', 'encrypt', '/dev/vdd')
    os.makedirs(top, exist_ok=True)
    execute('mount', '/dev/vdd', top)
    for name in 'plain', 'encrypted':
        os.mkdir(f'{top}/{name}')
    encrypt(top + '/encrypted')
    by_block(top + '/plain/file', 16384, True)
    by_block(top + '/encrypted/file', 16384, False)
    umount(top)


@SUITE.test('no block event shows I/O of other files, of directories or of the journal')
def quiet():
    path, noise = '/mnt/ext4/quiet', '/mnt/ext4/noise'
    with open(path, 'w', encoding='ascii') as f:
        f.write('data\n')
    os.sync()
    t = add(path)
    dd('if=/dev/zero', 'of=' + noise, 'bs=64k', 'count=16', 'conv=fsync')
    dd('if=/dev/zero', 'of=' + noise, 'bs=64k', 'count=16', 'oflag=direct', 'conv=notrunc')
    os.mkdir('/mnt/ext4/directory')
    os.chmod(path, 0o600) # writes the inode, by the journal
    os.sync()
    is_equal(t.log(), '')
    must('remove ' + path)


@SUITE.test('block events have the sectors of the device, as filefrag shows them')
def placed():
    path = '/mnt/ext4/placed'
    dd('if=/dev/urandom', 'of=' + path, 'bs=64k', 'count=1', 'conv=fsync')
    forget(path)
    t = add(path)
    get(path, 65536)
    # "  0:   0..  15:   34816..  34831:  16:"
    physical = re.search(r'^ *0: *0\.\. *15: *(\d+)\.\.', execute('filefrag', '-b4096', '-v', path), re.M)
    is_equal(re.findall(r'^[^;]*;R;(\d+;\d+);BLK;', t.log(), re.M), [f'{int(physical[1]) * 8};65536'])
    must('remove ' + path)


@SUITE.test('kretprobes see the same as redirection')
@reloads
def by_kretprobes():
    umount(OVERLAY)
    reload('attach=kprobe')
    for directory in '/mnt/ext4', '/mnt/files':
        each_way_by_kprobes(directory)
    must('add /mnt/ext4/file')
    hooks = slurp(IOT + '/hooks')
    is_true('redirect' not in hooks and 'read_iter kretprobe 1' in hooks, hooks)
    is_equal(len(slurp(CONTROL).splitlines()), 1)
    mount_overlay()
