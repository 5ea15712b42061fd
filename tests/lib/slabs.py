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
import re
import sys

CACHES = re.compile(r'(kmalloc-|proc_dir_entry|pde_opener|seq_file)')


def now():
    """{cache: (objects in use, objects of a slab)}"""
    with open('/proc/slabinfo', encoding='ascii') as f:
        rows = [line.split() for line in f if CACHES.match(line)]
    return {row[0]: (int(row[1]), int(row[4])) for row in rows}


def read(path):
    with open(path, encoding='ascii') as f:
        rows = [line.split() for line in f]
    return {name: (int(used), int(slab)) for name, used, slab in rows}


def grown(path, objects):
    before = read(path)
    return {name: used - before[name][0] for name, (used, slab) in now().items()
            if name in before and used - before[name][0] >= objects + 2 * slab}


def orphans():
    with open('/proc/vmallocinfo', encoding='ascii') as f:
        return sum(line.split()[2].startswith('0x') for line in f)


def main(command, *arguments):
    if command == 'now':
        for name, counts in now().items():
            print(name, *counts)
    elif command == 'orphans':
        print(orphans())
    else:
        found = grown(arguments[0], int(arguments[1]))
        for name, more in found.items():
            print(name, more)
        sys.exit(not found)


if __name__ == '__main__':
    main(*sys.argv[1:])
