# SPDX-License-Identifier: GPL-2.0
"""
What an attack with names costs, in instructions, which only a virtual machine with -icount counts:

	scripts/check-vm --icount 6.12 hostile_renames.py

RENAMES=1000000 makes a million instead of 20,000.

The virtual machine runs with -icount: a nanosecond is an instruction, so what a call costs is
counted, and is the same again.
"""
import os
import subprocess
import time

from lib.category import command, is_conserved
from lib.iot import is_true, parameter, reload, unload
from lib.machine import new_filesystem, new_tmpfs, umount_files_and_disk
from lib.places import PROGRAMS
from lib.suite import Suite


def setup():
    new_tmpfs('/mnt/files', 'nr_inodes=0')
    new_filesystem('ext4', '/dev/vda', '/mnt/disk', '256M')


SUITE = Suite(setup=setup, teardown=umount_files_and_disk, seconds=3600, tags=('slow',))

PROGRAM = f'{PROGRAMS}/hostile_renames'
FILE = '/mnt/disk/some/directories/deep/file'
PLACE = '/mnt/files/attacked'
ROUNDS = int(os.environ.get('RENAMES', '20000'))
FEW = 1000          # rounds of an attack that stores fewer paths than it may
MORE = 2000         # instructions that the tracer and an attack may add to a call
SETTLE = 3          # seconds for which a kernel is slower after its text was patched


def make():
    os.makedirs(os.path.dirname(FILE), exist_ok=True)
    with open(FILE, 'wb') as f:
        f.write(bytes(4096))
    os.makedirs(PLACE, exist_ok=True)
    os.chmod(PLACE, 0o777)


def attacked(attack, rounds):
    """What hostile_renames.c prints, as {word: [instructions]}."""
    out = subprocess.run([PROGRAM, FILE, PLACE, attack, str(rounds)], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    subprocess.run(['find', PLACE, '-mindepth', '1', '-delete'], check=True)
    found = {words[0]: [int(w) for w in words[1:]] for words in map(str.split, out.splitlines())}
    print(f'{attack}: {found}')
    return found


def started(condition):
    reload()
    command('filter ' + condition, 'start')
    time.sleep(SETTLE)


def are_recorded(attack):
    """Every call of the attack is recorded, and its path stored."""
    make()
    started('kind=all')
    attacked(attack, FEW)
    found = attacked(attack, ROUNDS)
    s = is_conserved()
    is_true(s['paths_resolved'] >= ROUNDS, f'{s}: the names were not recorded')
    is_true(s['paths_bytes'] <= int(parameter('paths_memory_limit')), s)
    command('stop')
    (alone,), (_, read), (first, last) = found['ALONE'], found['READ'], found['ATTACK']
    is_true(read < 1.1 * alone, f'a read takes {alone} instructions, after the attack {read}')
    is_true(last - first < MORE, f'{attack} take {first} instructions, in the end {last}')


def are_not_recorded(attack):
    """The filter rejects the calls of the attack."""
    make()
    unload()
    attacked(attack, FEW)
    untraced = attacked(attack, FEW)
    started('kind=all op=READ')
    attacked(attack, FEW)
    traced = attacked(attack, ROUNDS)
    command('stop')
    is_true(traced['ATTACK'][1] - untraced['ATTACK'][0] < MORE, f'{traced}, untraced {untraced}')


@SUITE.test('names of one file: many renames do not make a read or the next rename cost more')
def renames():
    are_recorded('renames')


@SUITE.test('names of nothing: many lookups do not make a read or the next lookup cost more')
def names():
    are_recorded('names')


@SUITE.test('names: what the filter rejects costs a rename or lookup less than 2,000 instructions')
def rejected():
    are_not_recorded('renames')
    are_not_recorded('names')
