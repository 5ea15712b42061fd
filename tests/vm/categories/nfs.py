# SPDX-License-Identifier: GPL-2.0
"""
What an NFS server read or wrote, summed up from the logs of category fs and of a target.

    python3 nfs.py moved READ|WRITE PATH    bytes in category fs
    python3 nfs.py of_target R|W LOG        bytes in the log of the target
    python3 nfs.py follow PATH              a target follows its path, which the client changes
"""
import os
import re
import sys

from lib.category import events
from lib.iot import add, is_equal, is_true, must, slurp, touch


def moved(op, path):
    """Each event names a thread of the server, has its flags, and is of this file."""
    found = [e for e in events() if e['op'] == op]
    for e in found:
        is_equal((e['comm'], e['path']), ('nfsd', path))
        is_true(re.fullmatch(r'([A-Z]+\|)?KERNEL\|NFSD', e['flags']), e)
    print(sum(int(e['result']) for e in found))


def of_target(direction, log):
    lines = [line.split(';') for line in slurp(log).splitlines()]
    found = [line for line in lines if line[1] == direction and line[4] == 'VFS']
    is_equal({line[5] for line in found} | {'nfsd'}, {'nfsd'})
    print(sum(int(line[3]) for line in found))


def follow(path):
    """The path of a target, on the client or the server, comes to lead to files of the client."""
    client = '/mnt/nfs/' + os.path.basename(path)

    def write(at):
        fd = os.open(client, os.O_WRONLY | os.O_CREAT | os.O_SYNC)
        os.pwrite(fd, b'x', at)
        os.close(fd)

    touch(client)
    target = add(path, 100)
    touch('/mnt/nfs/new')
    os.rename('/mnt/nfs/new', client)
    write(1)
    os.unlink(client)
    write(2)
    os.unlink(client)
    touch('/mnt/nfs/new')
    os.link('/mnt/nfs/new', client)
    write(3)
    found = [line.split(';') for line in target.log().splitlines()]
    is_equal([int(line[2]) for line in found if line[4] == 'VFS' and line[1] == 'W'], [1, 2, 3])
    must(f'remove {path}')


{'moved': moved, 'of_target': of_target, 'follow': follow}[sys.argv[1]](*sys.argv[2:])
