# SPDX-License-Identifier: GPL-2.0
"""
What an NFS server read or wrote, summed up from the logs of category fs and of a target.

    python3 nfs.py moved READ|WRITE PATH    bytes in category fs
    python3 nfs.py of_target R|W LOG        bytes in the log of the target
"""
import re
import sys

from lib.category import events
from lib.iot import is_equal, is_true, slurp


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


{'moved': moved, 'of_target': of_target}[sys.argv[1]](*sys.argv[2:])
