# SPDX-License-Identifier: GPL-2.0
"""
The faults of tests/mutants, which scripts/mutate plants.

	faults.py files [FAULT]...    print of each fault, a file tests/mutants/NAME.sed, the file that it changes
	faults.py check               exit with 1, and say why, if a fault changes nothing, or not only one file,
	                              or the tests that must notice it are not there

A fault says "# in: FUNCTION()", or for what is in no function "# in: FILE", the end of a path.
"""
import collections
import functools
import glob
import os
import re
import subprocess
import sys

import runner

SOURCES = 'module/**/*.[chS]', 'module/**/*.def', 'tools/**/*'


def lines_of(fault, key):
    """The values of the lines `# KEY: VALUE` of a fault."""
    with open(fault, encoding='utf-8') as f:
        return re.findall(rf'^# {key}: (.*)$', f.read(), re.M)


@functools.cache
def sources():
    return sorted({path for pattern in SOURCES for path in glob.glob(pattern, recursive=True)
                   if os.path.isfile(path) and not path.endswith('.o')})


@functools.cache
def definitions():
    """The files that define each function."""
    found = collections.defaultdict(set)
    for path in sources():
        if path.endswith(('.c', '.h')):
            with open(path, encoding='utf-8') as f:
                for name in re.findall(r'^[A-Za-z_][^\n;={}]*?\b(\w+)\([^;{}]*?\)\n\{', f.read(), re.M):
                    found[name].add(path)
    return found


def is_changed(fault, path):
    with open(path, 'rb') as f:
        return f.read() != subprocess.run(['sed', '-f', fault, path], check=True, stdout=subprocess.PIPE).stdout


def changed_by(fault):
    """The files that a fault changes: one, unless something is wrong with it."""
    where, = lines_of(fault, 'in')
    if where.endswith('()'):
        there = definitions()[where[:-len('()')]]
    else:
        there = [path for path in sources() if f'/{path}'.endswith(f'/{where}')]
    return sorted(path for path in there if is_changed(fault, path))


def check(faults):
    wrong = False
    names = collections.defaultdict(list)
    for path in runner.suite_files():
        names[os.path.basename(path)] = runner.test_names(path)
    for fault in faults:
        changed = changed_by(fault)
        if len(changed) != 1:
            print(f'{fault}: changes {" and ".join(changed) or "nothing"} in {lines_of(fault, "in")[0]}')
            wrong = True
        for line in lines_of(fault, 'tests'):
            suite, _, regex = line.partition(' ')
            if not any(re.search(regex, name) for name in names[suite]):
                print(f'{fault}: no such test: {line}')
                wrong = True
    return wrong


def main():
    action, *faults = sys.argv[1:]
    faults = faults or sorted(glob.glob('tests/mutants/*.sed'))
    if action == 'check':
        sys.exit(check(faults))
    for fault in faults:
        print(fault, *changed_by(fault))


if __name__ == '__main__':
    main()
