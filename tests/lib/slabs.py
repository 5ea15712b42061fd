# SPDX-License-Identifier: GPL-2.0
"""
What the kernel has allocated, for the tests that compare it with an earlier time.

slabs.py now         print each cache of the slab allocator that the module uses, its objects in
                     use and the objects of one of its slabs
slabs.py grown FILE N  print the caches that have N objects and two slabs more than in FILE, which
                     has what "now" printed; the exit status is 1 if there are none
slabs.py orphans     print the number of vmalloc areas of code that is unloaded: their callers have
                     no name
"""
import glob
import os
import re
import sys
import time

CACHES = re.compile(r'(kmalloc-|proc_dir_entry|pde_opener|seq_file)')


def settle():
    """
    Have the kernel's counts as exact as they can be. It counts all objects of slabs that belong to a
    CPU as in use. So a CPU may have only the slab that it allocates from, and each cache is shrunk before
    it is read. Still the count may be wrong by a slab or two. Everything that the module allocates by
    kmalloc is below 8 KiB.
    """
    os.sync()
    put('/proc/sys/vm/drop_caches', 3)
    for name in 'kmalloc-*', 'proc_dir_entry', 'pde_opener', 'seq_file':
        for cache in glob.glob('/sys/kernel/slab/' + name):
            for file, value in ('cpu_partial', 0), ('shrink', 1):
                if os.path.exists(f'{cache}/{file}'):
                    put(f'{cache}/{file}', value)


def put(path, value):
    with open(path, 'w', encoding='ascii') as f:
        f.write(str(value))


def now():
    """{cache: (objects in use, objects of a slab)}"""
    settle()
    with open('/proc/slabinfo', encoding='ascii') as f:
        rows = [line.split() for line in f if CACHES.match(line)]
    return {row[0]: (int(row[1]), int(row[4])) for row in rows}


def read(path):
    with open(path, encoding='ascii') as f:
        rows = [line.split() for line in f]
    return {name: (int(used), int(slab)) for name, used, slab in rows}


def grown(before, objects):
    """The caches that have this many objects and two slabs more than before, and how many more."""
    return {name: used - before[name][0] for name, (used, slab) in now().items()
            if name in before and used - before[name][0] >= objects + 2 * slab}


def orphans():
    with open('/proc/vmallocinfo', encoding='ascii') as f:
        return sum(line.split()[2].startswith('0x') for line in f)


class Slabs:
    """What the kernel has allocated now."""

    def __init__(self):
        self.before = now()
        self.orphans = orphans()

    def are_back(self, objects):
        """No cache has this many objects more than then; some are freed late."""
        for _ in range(10):
            more, areas = grown(self.before, objects), orphans()
            if not more and areas == self.orphans:
                return
            time.sleep(3)
        raise AssertionError(f'more objects: {more}; areas without an owner: {areas}, before {self.orphans}')


def main(command, *arguments):
    if command == 'now':
        for name, counts in now().items():
            print(name, *counts)
    elif command == 'orphans':
        print(orphans())
    else:
        found = grown(read(arguments[0]), int(arguments[1]))
        for name, more in found.items():
            print(name, more)
        sys.exit(not found)


if __name__ == '__main__':
    main(*sys.argv[1:])
