# SPDX-License-Identifier: GPL-2.0
"""
Reads and writes of each kind of file are recorded, whether the file appears after the start
of category fs or was open before. Only this process is traced.
"""
import os
import signal
import socket
import struct
import pty
import termios
import tty

from lib.category import command, events, is_conserved, stats
from lib.iot import is_equal, touch
from lib.syscalls import native

ONLY = 'op=READ,WRITE,DIO_READ,DIO_WRITE'
IN_CREATE = 0x100
NUMBER = struct.pack('<Q', 1)


def opened(path, flags=os.O_RDONLY, mode=0o600):
    fd = os.open(path, flags, mode)
    return fd, fd if flags & os.O_RDWR else None


def made(path, kind=os.O_CREAT):
    return opened(path, os.O_RDWR | kind)


def mounted(fstype, path):
    os.makedirs(path, exist_ok=True)
    if not os.path.ismount(path):
        is_equal(os.system(f'mount -t {fstype} none {path}'), 0)
    return path


def unmount():
    """What the tests have mounted."""
    for path in '/mnt/ram', '/mnt/queues':
        if os.path.ismount(path):
            is_equal(os.system(f'umount {path}'), 0)


def fifo():
    if not os.path.exists('/mnt/files/fifo'):
        os.mkfifo('/mnt/files/fifo')
    return made('/mnt/files/fifo')


def sockets():
    return [s.detach() for s in socket.socketpair()]


def terminal():
    ours, its = pty.openpty()
    tty.setraw(its, termios.TCSANOW)
    return its, ours


def memfd():
    fd = os.memfd_create('m')
    return fd, fd


def events_counted():
    fd = os.eventfd(0)
    return fd, fd


def timer():
    fd = native.timerfd_create(1, 0)
    native.timerfd_settime(fd, 0, struct.pack('<4Q', 0, 0, 0, 1), 0)
    return fd, None


def watcher():
    fd = native.inotify_init1(0)
    native.inotify_add_watch(fd, '/mnt/files', IN_CREATE)
    touch('/mnt/files/watched')
    os.unlink('/mnt/files/watched')
    return fd, None


def signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    fd = native.signalfd4(-1, struct.pack('<Q', 1 << (signal.SIGUSR1 - 1)), 8, 0)
    os.kill(os.getpid(), signal.SIGUSR1)
    return fd, None


# A function that returns descriptors to read from and to write to; kind; bytes to read.
KINDS = {
    'pipe': (os.pipe, 'pipe', 8),
    'fifo': (fifo, 'pipe', 8),
    'socket': (sockets, 'socket', 8),
    'tmpfs': (lambda: made('/mnt/files/late'), 'file', 8),
    'ext4': (lambda: made('/mnt/ext4/late'), 'file', 8),
    'xfs': (lambda: made('/mnt/xfs/late'), 'file', 8),
    'btrfs': (lambda: made('/mnt/btrfs/late'), 'file', 8),
    'without a name': (lambda: made('/mnt/xfs', os.O_TMPFILE), 'file', 8),
    'mounted later': (lambda: made(mounted('ramfs', '/mnt/ram') + '/late'), 'file', 8),
    'directory': (lambda: opened('/mnt/ext4'), 'dir', 8),
    'character device': (lambda: opened('/dev/zero', os.O_RDWR), 'device', 8),
    'terminal': (terminal, 'device', 8),
    'block device': (lambda: opened('/dev/vda'), 'device', 8),
    'memfd': (memfd, 'other', 8),
    'eventfd': (events_counted, 'other', 8),
    'timerfd': (timer, 'other', 8),
    'signalfd': (signals, 'other', 128),
    'mqueue': (lambda: opened(mounted('mqueue', '/mnt/queues') + '/q', os.O_CREAT), 'file', 80),
    'proc': (lambda: opened('/proc/self/stat'), 'pseudo', 8),
    'sysfs': (lambda: opened('/sys/devices/system/cpu/online'), 'pseudo', 8),
    'debugfs': (lambda: opened(mounted('debugfs', '/sys/kernel/debug') + '/kprobes/blacklist'),
                'pseudo', 8),
    'debugfs, by itself': (lambda: opened('/sys/kernel/debug/fault_around_bytes'), 'pseudo', 8),
}
if os.path.isdir('/proc/sys/fs/inotify'): # not in the kernels of scripts/debug-kernel
    KINDS['inotify'] = watcher, 'other', 100


def result_of(call, *args):
    try:
        return call(*args)
    except OSError as e:
        return -e.errno


def use(reader, writer, size):
    """Write and read. Return: the events that should be recorded."""
    rows = []
    if writer is not None:
        rows.append(('WRITE', str(result_of(os.write, writer, NUMBER))))
    if reader == writer:
        result_of(os.lseek, reader, 0, os.SEEK_SET)
    if reader is not None:
        n = result_of(os.read, reader, size)
        rows.append(('READ', str(n if isinstance(n, int) else len(n))))
    return rows


def seen():
    return [(e['op'], e['result']) for e in events()
            if e['pid'] == os.getpid() and '/iotracer/' not in e.get('path', '')]


def each(kinds):
    return [(name, make, size) for name, (make, kind, size) in KINDS.items()
            if kind in kinds.split(',')]


def wrong_of(files):
    """
    Use files. Return: the recorded and expected events of those where they differ, and how many were missed.
    """
    wrong = {}
    for name, (reader, writer), size in files:
        command('reset')
        missed = stats()['missed']
        expected = use(reader, writer, size)
        missed = stats()['missed'] - missed
        if (seen(), missed) != (expected, 0):
            wrong[name] = (seen(), expected, missed)
    return wrong


def close(*descriptors):
    for fd in set(descriptors) - {None}:
        os.close(fd)


def later(kinds='file,dir,pipe,socket,device,pseudo,other'):
    """Files that appear after the start, one by one, two of each kind."""
    missed = stats()['missed']
    command(f'filter pid={os.getpid()} kind={kinds} {ONLY}', 'start')
    wrong = {}
    for name, make, size in each(kinds):
        for _ in range(2):
            files = make()
            wrong |= wrong_of([(name, files, size)])
            close(*files)
    command('stop')
    is_equal(wrong, {})
    is_equal(is_conserved()['missed'], missed)


def kind_by_kind():
    """Each kind alone: no other kind that may have the same functions is hooked."""
    for kind in 'pipe', 'socket', 'device', 'other':
        later(kind)


def earlier():
    """Files that were open before the start, and before the filter named their kind."""
    missed = stats()['missed']
    files = [(name, make(), size) for name, make, size in each('pipe,socket,device,pseudo,other')]
    command(f'filter pid={os.getpid()} {ONLY}', 'start',
            f'filter pid={os.getpid()} kind=pipe,socket,device,pseudo,other {ONLY}')
    wrong = wrong_of(files)
    command('stop')
    for _, descriptors, _ in files:
        close(*descriptors)
    is_equal(wrong, {})
    is_equal(is_conserved()['missed'], missed)


def by_kretprobe():
    """Kretprobes hook nothing when a file is opened; pipes and sockets are hooked by name."""
    later('pipe,socket')
