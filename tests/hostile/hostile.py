# SPDX-License-Identifier: GPL-2.0
"""
Attackers: processes of user nobody, and of root in a container without any capability. They
repeat what can hurt a tracer. hostile.bats runs them beside fio, storm.bats in the storm:

    python3 hostile.py attack DIRECTORY SECONDS

Every user may write to DIRECTORY. The other hostile_*.bats test what single attacks do, and
what must hold against each.
"""
import ctypes
import itertools
import json
import mmap
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import time

from lib.categories import CATEGORIES, WITH_KINDS
from lib.category import command, is_conserved, stats
from lib.iot import (add, as_user, IOT, is_equal, is_true, join, main, NOBODY, parameter, reload,
                     slurp, touch)
from lib.never import delete_module, never
from lib.places import UAPI
from lib.process import spawn
from lib.stream import Blocks, fields

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
NOTHING = 'kind=all pid=1'  # the first process does nothing
SIZES = {'fs': 131072}
PAGE = mmap.PAGESIZE
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID = 0x20000, 0x4000000, 0x8000000, 0x20000000
MS_REC, MS_PRIVATE, MS_BIND = 0x4000, 0x40000, 0x1000
CLOSE_RANGE, PR_CAPBSET_DROP = 436, 24
MAPPINGS, DESCRIPTORS = 2000, 2000

# The attacks: each function is one round


def renames(place):
    """Rename a file many times: each name is another path that the tracer has to store."""
    path = f'{place}/renamed'
    touch(path)
    for _ in range(200):
        new = f'{place}/{random.getrandbits(64)}'
        os.rename(path, new)
        path = new
        os.close(os.open(path, os.O_RDONLY))
    os.unlink(path)


def names(place):
    """Look up long names that do not exist."""
    for _ in range(200):
        os.path.lexists(f'{place}/{random.getrandbits(64)}{"x" * 200}')
    os.path.lexists('/'.join([place] + [f'{random.getrandbits(900):0225x}'] * 17))


def mappings(place):
    """Make thousands of mappings that one call removes."""
    fd = os.open(f'{place}/mapped', os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 2 * PAGE)
    begin = LIBC.mmap(None, ctypes.c_size_t(MAPPINGS * PAGE), 0, 0x22, -1, 0)
    for i in range(MAPPINGS):
        # every second page of the file, so that the kernel does not join them
        LIBC.mmap(ctypes.c_void_p(begin + i * PAGE), ctypes.c_size_t(PAGE), 1, 0x11, fd,
                  ctypes.c_long(i % 2 * PAGE))
        if not i % 100: # on a slow machine few rounds come to their end
            LIBC.munmap(ctypes.c_void_p(begin + i * PAGE), ctypes.c_size_t(PAGE))
    LIBC.munmap(ctypes.c_void_p(begin), ctypes.c_size_t(MAPPINGS * PAGE))
    os.close(fd)


def descriptors(place):
    """Open thousands of descriptors that one call closes."""
    fd = os.open(f'{place}/open', os.O_RDWR | os.O_CREAT)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    first = os.dup(fd)
    last = first
    for _ in range(min(DESCRIPTORS, most - 100)):
        last = os.dup(fd)
    LIBC.syscall(CLOSE_RANGE, first, last, 0)
    os.close(fd)


def hangs(_place):
    """Cause a page fault that does not end until its process is killed."""
    pid = spawn(lambda: never(os.memfd_create('never'), user_only=True)[0][0])
    time.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def knocks(_place):
    """Try to unload the tracer, and to open each of its files."""
    is_equal(delete_module(b'iotracer'), 'EPERM')
    for name in ('control', 'hooks', 'format', 'paths', 'fs/control', 'fs/log', 'fs/stream'):
        for flags in os.O_RDONLY, os.O_WRONLY:
            try:
                fd = os.open(f'{IOT}/{name}', flags)
            except (PermissionError, FileNotFoundError): # or nothing is loaded just now
                continue
            is_true(os.fstat(fd) is None, f'{name} can be opened')


ATTACKS = (renames, names, mappings, descriptors, hangs, knocks)

# The attackers


def rounds(attack, place, seconds):
    """Attack until the time is over, or a file "stop" is beside the attacker's directory."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not os.path.exists(f'{place}/../stop'):
        attack(place)


def drop_capabilities():
    for capability in range(64):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    LIBC.capset(header, (ctypes.c_uint32 * 6)())


def contained(function, *args):
    """Call it as root of a container: with own pids and mounts, where mountinfo is a FIFO."""
    is_equal(LIBC.unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID), 0)

    def first():
        LIBC.mount(b'none', b'/', None, MS_REC | MS_PRIVATE, None)
        is_equal(LIBC.mount(b'proc', b'/proc', b'proc', 0, None), 0)
        fifo = f'/tmp/mountinfo.{random.getrandbits(64)}'
        os.mkfifo(fifo)
        is_equal(LIBC.mount(fifo.encode(), b'/proc/1/mountinfo', None, MS_BIND, None), 0)
        drop_capabilities()
        function(*args)

    join(spawn(first))


def attack(place, seconds):
    """Run all attackers at once for @seconds, and check that none of them got in."""
    pids = []
    for i, kind in enumerate(itertools.product(ATTACKS, (True, False))):
        what, in_container = kind
        home = f'{place}/attacker{i}'
        os.makedirs(home, exist_ok=True)
        os.chmod(home, 0o777)
        if in_container:
            pids.append(spawn(contained, rounds, what, home, seconds))
        else:
            pids.append(spawn(as_user, NOBODY, rounds, what, home, seconds))
    failed = [i for i, pid in enumerate(pids) if os.waitpid(pid, 0)[1]]
    is_equal(failed, [])

# What must hold


class Calls(Blocks):
    """
    Counts the records of category fs as they come, so that no ring is full before fio ends.

    of_file: numbers of the operations on this file; by: (user, operation) of all; total: of both
    """

    def __init__(self, path):
        super().__init__()
        parts = next(e for e in fields().values() if e[0] == 'fs')[1]
        layout, end = '<', 0
        for name, code in ('inode', 'Q'), ('device', 'I'), ('uid', 'I'), ('op', 'H'):
            at, size, _ = parts[name]
            layout += f'{at - end}x{code}'
            end = at + size
        self.layout = struct.Struct(f'{layout}{self.size - end}x')
        st = os.stat(path)
        self.file = st.st_ino, os.major(st.st_dev) << 20 | os.minor(st.st_dev)
        self.of_file, self.by, self.total = [], set(), 0

    def keep(self, cpu, records):
        rows = list(self.layout.iter_unpack(records))
        self.of_file += [row[3] for row in rows if row[:2] == self.file]
        self.by.update({row[2:] for row in rows})
        self.total += len(rows)

    def once(self):
        """Read what is there just now, or a part of it."""
        data = os.read(self.fd, 1 << 20)
        if data:
            self.take(data)
        return bool(data)


def operations():
    """The numbers of fs's operations, by name."""
    text = slurp(f'{UAPI}/ops.def')
    return {name: int(n) for name, n in re.findall(r'^IOT_OP\(FS, (\w+), (\d+),', text, re.M)}


def start_fio(path):
    """Make 256 random reads and writes of 4 KiB."""
    return subprocess.Popen(
        ['fio', '--name=load', f'--filename={path}', '--rw=randrw', '--bs=4k', '--size=1M',
         '--ioengine=psync', '--output-format=json', '--fallocate=none', '--disk_util=0',
         '--thread'], stdout=subprocess.PIPE, text=True)


def fio(path, calls):
    """Run fio and count its calls. Return (reads, writes) as fio counts them."""
    with start_fio(path) as process:
        while process.poll() is None:
            if not calls.once():
                time.sleep(0.1)
        is_equal(process.returncode, 0)
        job = json.loads(process.stdout.read())['jobs'][0]
    return job['read']['total_ios'], job['write']['total_ios']


def is_exact(target, path, calls):
    """The target and category fs, which records every call of every process, see what fio did."""
    target.command('reset')
    command('filter kind=all')
    calls.of_file.clear()
    gaps = sum(calls.gaps.values())
    reads, writes = fio(path, calls)
    command(f'filter {NOTHING}')
    while calls.once():
        pass
    log = [line for line in target.log().split('\n') if ';VFS;' in line]
    is_equal((sum(';R;' in c for c in log), sum(';W;' in c for c in log)), (reads, writes))
    is_equal(target.stats('vfs'), (reads + writes, reads + writes, 0, 0, 0))
    ops = operations()
    missing = [n - calls.of_file.count(ops[op]) for op, n in (('READ', reads), ('WRITE', writes))]
    # on a machine so busy that the reader was lapped, what is missing is in the gaps
    is_true(min(missing) >= 0 and sum(missing) <= sum(calls.gaps.values()) - gaps,
            (missing, gaps, calls.gaps, is_conserved()))


def untraced(calls):
    """What the attackers do, as nobody and as root of a container, and was not recorded yet."""
    ops = operations()
    return [(user, op) for user in (0, NOBODY)
            for op in ('RENAME', 'GETATTR', 'MMAP', 'MUNMAP', 'OPEN', 'CLOSE')
            if (user, ops[op]) not in calls.by]


def memory():
    """Bytes that the tracer reports to hold."""
    held = [stats(name) for name in CATEGORIES]
    return sum(s['memory_bytes'] for s in held) + held[0]['paths_bytes']


def beside_fio():
    seconds = float(os.environ.get('HOSTILE_SECONDS', '15'))
    reload()
    path = '/mnt/disk/load'
    with open(path, 'wb') as f:
        f.write(os.urandom(1 << 20))
    os.sync()
    for name in CATEGORIES:
        command(f'size {SIZES.get(name, 4096)}', category=name)
        kinds = 'kind=all' if name in WITH_KINDS else 'none'
        command(f'filter {NOTHING if name == "fs" else kinds}', 'start', category=name)
    target = add(path, 4096)
    calls = Calls(path)
    n = 0
    begin = time.monotonic()
    attackers = spawn(attack, '/mnt/files', 40 * seconds)
    os.nice(-8) # so that reading keeps pace with all that they do, and fio ends
    # On a busy machine fio may run a few times only, while few of the attackers do.
    while time.monotonic() < begin + seconds or untraced(calls):
        is_true(os.waitpid(attackers, os.WNOHANG) == (0, 0),
                f'the attackers ended; not traced: {untraced(calls)}')
        is_exact(target, path, calls)
        n += 1
        for name in CATEGORIES:
            is_true(stats(name)['memory_bytes'] > 0, name)
        is_true(memory() <= int(parameter('ring_memory_limit')), f'{memory()} bytes')
    print(f'fio was exact {n} times beside {calls.total} calls')
    touch('/mnt/files/stop')
    join(attackers)
    os.unlink('/mnt/files/stop')
    calls.close()
    for name in CATEGORIES:
        command('stop', category=name)
        is_conserved(name)


if __name__ == '__main__':
    if sys.argv[1] == 'attack':
        attack(sys.argv[2], float(sys.argv[3]))
    else:
        main(globals())
