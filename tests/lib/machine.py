# SPDX-License-Identifier: GPL-2.0
"""What suites have in their machine: filesystems, devices, the module."""
import contextlib
import os
import subprocess

from lib.iot import is_true, load, unload
from lib.places import TOOL

DISKS = {'ext4': '/dev/vda', 'xfs': '/dev/vdb', 'btrfs': '/dev/vdc'}
MKFS = {'ext4': ('mkfs.ext4', '-q', '-F'), 'xfs': ('mkfs.xfs', '-q', '-f'), 'btrfs': ('mkfs.btrfs', '-q', '-f')}


def execute(*words, **options):
    """Run a program. What it printed is in the error if it fails. Return: its output."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          **options)
    is_true(done.returncode == 0, f'{" ".join(words)}: {done.stdout}')
    return done.stdout


def new_filesystem(kind, device, top, size=None):
    """Make a filesystem, of this size if given, and mount it."""
    os.makedirs(top, exist_ok=True)
    execute(*MKFS[kind], device, *((size,) if size else ()))
    execute('mount', device, top)


def new_tmpfs(top, options=None):
    os.makedirs(top, exist_ok=True)
    execute('mount', '-t', 'tmpfs', *(('-o', options) if options else ()), 'files', top)


def umount(*tops):
    execute('umount', *tops)


def umount_left(*tops):
    """umount(8) of those that a failed test has left mounted."""
    for top in tops:
        if os.path.ismount(top):
            umount(top)


def files_and_disk():
    """Mount a tmpfs in /mnt/files and an ext4 of 256 MiB in /mnt/disk."""
    new_tmpfs('/mnt/files')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk', '256M')


def umount_files_and_disk():
    unload()
    umount('/mnt/files', '/mnt/disk')


def three_filesystems():
    """Mount ext4, xfs and btrfs in directories of these names in /mnt, and a tmpfs; load the module."""
    os.makedirs('/mnt/disk', exist_ok=True)
    new_tmpfs('/mnt/files')
    for kind, device in DISKS.items():
        new_filesystem(kind, device, f'/mnt/{kind}')
    is_true(load(), 'insmod failed')


def umount_three_filesystems():
    unload()
    umount('/mnt/files', '/mnt/ext4', '/mnt/xfs', '/mnt/btrfs')


def with_tool():
    """Have iotracer in PATH."""
    os.environ['PATH'] = os.path.dirname(TOOL) + ':' + os.environ['PATH']


def map_device(name, table):
    """
    Make a device of the device mapper. No udev runs that could be waited for.

    @table: as dmsetup(8) reads it
    Return: its path in /dev
    """
    execute('modprobe', '-a', 'dm_mod', 'dm_crypt')
    execute('dmsetup', 'create', '--noudevrules', '--noudevsync', name, input=table + '\n')
    return '/dev/' + execute('dmsetup', 'info', '-c', '--noheadings', '-o', 'blkdevname', name).strip()


def unmap(name):
    """Remove a device of the device mapper."""
    execute('dmsetup', 'remove', '--noudevsync', '--retry', name)


@contextlib.contextmanager
def mapped(name, table):
    """A device of the device mapper, as map_device() makes it; if what uses it fails, it stays for unmap_all()."""
    yield map_device(name, table)
    unmap(name)


def unmap_all():
    """A device that a failed test left mapped would keep its disk from all later tests."""
    subprocess.run(('dmsetup', 'remove_all', '--force', '--noudevsync'), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)


def sectors(device):
    """The size of a device in sectors of 512 bytes."""
    return int(execute('blockdev', '--getsz', device))
