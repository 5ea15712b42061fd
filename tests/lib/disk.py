# SPDX-License-Identifier: GPL-2.0
"""Disks: partitions, and the kernel's counts for disks."""
import fcntl
import os
import struct
import subprocess
import time

from lib.iot import slurp

DISK = '/dev/vdd'
BLKRRPART = 0x125f
PARTS = ((2048, 131072), (133120, 65536))  # first sector, sectors


def dd(*words):
    subprocess.run(('dd', 'status=none', 'conv=notrunc') + words, check=True)


def partition():
    """Make two partitions, by writing an MBR."""
    table = b''.join(struct.pack('<B3sB3sII', 0, b'', 0x83, b'', *part) for part in PARTS)
    fd = os.open(DISK, os.O_RDWR)
    os.pwrite(fd, bytes(446) + table + bytes(32) + b'\x55\xaa', 0)
    os.fsync(fd)
    fcntl.ioctl(fd, BLKRRPART)
    os.close(fd)
    for _ in range(600):
        if os.path.exists(DISK + '2'):
            return
        time.sleep(0.1)
    raise AssertionError('no partitions')


def unpartition():
    dd('if=/dev/zero', f'of={DISK}', 'bs=4k', 'count=1')
    fd = os.open(DISK, os.O_RDWR)
    os.fsync(fd)
    fcntl.ioctl(fd, BLKRRPART)
    os.close(fd)


def diskstats(name):
    """The count and sectors of each kind of request, for a disk or partition."""
    for line in slurp('/proc/diskstats').split('\n'):
        word = line.split()
        if word[2:3] == [name]:
            n = [int(w) for w in word[3:]]
            return {'READ': (n[0], n[2]), 'WRITE': (n[4], n[6]), 'DISCARD': (n[11], n[13]),
                    'FLUSH': (n[15], 0)}
    raise AssertionError(f'{name} is not in /proc/diskstats')
