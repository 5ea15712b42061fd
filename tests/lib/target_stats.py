# SPDX-License-Identifier: GPL-2.0
"""Print inode, seen, stored and the sum of the other counts of each target that saw a call."""
import glob

for path in glob.glob('/proc/iotracer/*/stats'):
    with open(path, encoding='utf-8') as f:
        values = dict(line.rstrip('\n').split(' ', 1) for line in f if ' ' in line)
    if 'vfs' not in values:
        continue # a category
    seen, stored, *rest = map(int, values['vfs'].split())
    if seen:
        print(values['inode'], seen, stored, sum(rest))
