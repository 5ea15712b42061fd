# SPDX-License-Identifier: GPL-2.0
"""
/proc/iotracer as people and scripts use it: parameters, commands, names, errors, logs, counts,
rights, bounds.

Most files are on a tmpfs, which has no block device: every event is then one call that the test
itself made. One process makes all calls, since programs take long to start on an emulated
processor.
"""
import errno
import os
import re
import select
import struct
import time

from lib import fuse
from lib.categories import CATEGORIES, WITH_WAITING, WITH_WRITEBACK
from lib.category import BLOCK, HEADER
from lib.iot import (add, addresses, as_user, control, CONTROL, drain, error_name, IOT, is_equal,
                     is_sorted, is_true, join, kmsg, KO, lines, listed, listing, load, matches,
                     must, NOBODY, octal, parameter, PARAMETERS, read_bytes, refused,
                     refused_with_message, reload, rings_in_use, set_parameter, slurp, slurp_bytes,
                     start_writer, state, Target, targets, times, to, touch, unload, write,
                     write_bytes)
from lib.machine import files_and_disk, umount_files_and_disk
from lib.process import FUSE, spawn, waits_in
from lib.stream import Blocks
from lib.suite import reloads, Suite

SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk)

def mode_owner(path):
    st = os.lstat(path)
    return f'{st.st_mode & 0o7777:o} {st.st_uid}:{st.st_gid}'


def modes():
    """Mode and owner of everything in /proc/iotracer. T stands for the name of a target."""
    found = {'': mode_owner(IOT)}
    for directory, directories, files in os.walk(IOT):
        for name in directories + files:
            path = f'{directory}/{name}'
            found[re.sub(r'tmpfs_\d+', 'T', path[len(IOT) + 1:])] = mode_owner(path)
    return found


def modes_expected(directory, writable, readable):
    """What modes() has to return if there is one target."""
    modes_ = {'': directory, 'control': writable, 'error': readable, 'hooks': readable,
              'format': readable, 'memory': readable, 'paths': readable}
    modes_.update({name + '/error': readable for name in CATEGORIES})
    modes_.update({name + '/dirty': readable for name in WITH_WRITEBACK})
    modes_.update({name + '/waiting': readable for name in WITH_WAITING})
    modes_.update({name + '/pipe': readable for name in CATEGORIES + ('T',)})
    for name in CATEGORIES + ('T',):
        modes_.update({name: directory, name + '/control': writable, name + '/log': readable,
                       name + '/stats': readable, name + '/stream': readable})
    return modes_

# Parameters


def modinfo():
    """(field, value) of each line of modinfo(8)."""
    is_equal(os.system(f'modinfo {KO} >/tmp/modinfo'), 0)
    return [re.split(r':\s*', line, maxsplit=1) for line in slurp('/tmp/modinfo').splitlines()]


@SUITE.test('parameters: defaults, and modinfo explains each')
@reloads
def parameters():
    reload()
    is_equal(parameter('MAX_EVENTS'), '10')
    is_equal(parameter('max_events_limit'), '16777216')
    kilobytes = int(re.search(r'MemTotal: +(\d+) kB', slurp('/proc/meminfo'))[1])
    is_equal(parameter('ring_memory_limit'), str(kilobytes * 1024 // 4))
    is_equal([parameter(p) for p in ('proc_uid', 'proc_gid', 'proc_mode', 'attach')],
             ['0', '0', str(0o600), 'auto'])
    info = modinfo()
    # spoil is of the module of scripts/check-fields only
    explained = [value for field, value in info if field == 'parm' and not value.startswith('spoil:')]
    is_equal(sorted(line.split(':')[0] for line in explained), sorted(os.listdir(PARAMETERS)))
    for line in explained:
        matches(line, r'^\w+:.*\bdefault\b.* \(\w+\)$')
    info = dict(info)
    is_equal(info['license'], 'GPL')
    for field in 'author', 'description', 'version':
        matches(info[field], '.')
    matches(info['vermagic'], f'^{re.escape(os.uname().release)} ')


@SUITE.test('parameters: a bad value is refused by name, and nothing is loaded', once=True)
@reloads
def parameters_refused():
    unload()
    for bad in ('MAX_EVENTS=0', 'MAX_EVENTS=-1', 'MAX_EVENTS=ten', 'MAX_EVENTS=16777217',
                'max_events_limit=-1', 'max_events_limit=9', 'max_events_limit=4294967296',
                'ring_memory_limit=much', 'proc_mode=0777', 'proc_mode=01600',
                'proc_uid=4294967295', 'proc_gid=-1', 'attach=magic', 'follow=path', 'maxactive=0',
                'maxactive=65537'):
        kmsg.skip()
        is_true(not load(bad), bad + ' was accepted')
        is_true(not os.path.exists(IOT), bad)
        matches('\n'.join(kmsg.new()), bad.split('=')[0])


@SUITE.test('parameters: MAX_EVENTS changes for later targets', once=True)
@reloads
def parameters_changed():
    reload('MAX_EVENTS=20000000 max_events_limit=30000000')
    reload('max_events_limit=30000000 MAX_EVENTS=20000000')
    is_equal(parameter('MAX_EVENTS'), '20000000')
    for bad in '0', 'ten', '-1', '':
        is_equal(write(PARAMETERS + 'MAX_EVENTS', bad + '\n'), 'EINVAL')
    is_equal(parameter('MAX_EVENTS'), '20000000')
    touch('a', 'b')
    set_parameter('MAX_EVENTS', 7)
    a = add('a')
    set_parameter('MAX_EVENTS', 8)
    is_equal((a.status()[2], add('b').status()[2]), (7, 8))

# Commands


@SUITE.test('control: add, list and remove')
def add_remove():
    touch('a', 'b')
    is_equal(control('add a\n'), 6)
    is_equal(control('add b 25'), 8)
    is_equal(listing(), ['/mnt/files/a', '/mnt/files/b'])
    a, b = Target('a'), Target('b')
    is_equal((a.status()[2], b.status()[2]), (10, 25))
    is_equal(a.name, f'tmpfs_{os.stat("a").st_ino}')
    is_equal(control('remove a'), 8)
    is_true(not os.path.exists(a.dir), 'its directory is still there')
    is_equal(listing(), ['/mnt/files/b'])
    refused('ENOENT', 'remove a')


@SUITE.test('control: several lines in one write, up to the first that fails', once=True)
def several_lines():
    touch('a', 'b', 'c', 'd')
    is_equal(control('add a\nadd b 5\nadd x\nadd c\n'), 14)
    is_equal(listing(), ['/mnt/files/a', '/mnt/files/b'])
    refused('ENOENT', 'add x\nadd c\n')
    refused('EINVAL', '\nadd c\n')
    is_equal(control('add c\n\nadd d'), 6)
    # The last line needs no newline. One write may remove a target and add it again.
    text = 'remove c\nadd c 3\nremove a\nadd d'
    is_equal(control(text), len(text))
    is_equal(listing(), ['/mnt/files/b', '/mnt/files/c', '/mnt/files/d'])
    is_equal([Target(f).status()[2] for f in 'bcd'], [5, 3, 10])
    is_equal(control(''), 0)


def send(text, size):
    """Write @text to control as a program does whose buffer has @size bytes."""
    data = text.encode()
    fd = os.open(CONTROL, os.O_WRONLY)
    while data:
        data = data[os.write(fd, data[:size]):]
    os.close(fd)


@SUITE.test('control: lines cut anywhere by large writes', once=True)
def large_write():
    many = [f'n{i}' for i in range(60)]
    touch(*many)
    paths_ = sorted('/mnt/files/' + name for name in many)
    # The buffer of a program cuts lines, as does the module's limit for one write.
    for size in 10**6, 1024, 4096:
        for command, expected in ('add', paths_), ('remove', []):
            text = ''.join(f'{command} {"./" * 600}{name}\n' for name in many)
            is_true(len(text) > 65536, len(text))
            send(text, size)
            is_equal(listing(), expected)
    refused('ENAMETOOLONG', 'add ' + 'x' * 70000)
    # If a line that was cut is wrong, the write that ends it fails.
    text = ('add n0\nadd ' + './' * 600 + 'missing\nadd n1\n').encode()
    fd = os.open(CONTROL, os.O_WRONLY)
    is_equal(os.write(fd, text[:1024]), 1024)
    try:
        is_true(False, os.write(fd, text[1024:]))
    except OSError as e:
        is_equal(error_name(e), 'ENOENT')
    is_equal(listing(), ['/mnt/files/n0'])
    is_equal(os.write(fd, b'add n2\n'), 7)
    # Closing the file ends a line that has no newline,
    is_equal(os.write(fd, ('add ' + './' * 509 + 'n3').encode()), 1024)
    is_equal(listing(), ['/mnt/files/n0', '/mnt/files/n2'])
    os.close(fd)
    is_equal(listing(), ['/mnt/files/n0', '/mnt/files/n2', '/mnt/files/n3'])
    # but not if the program exits without closing it: the line may have been cut off.
    pid = os.fork()
    if not pid:
        os.write(os.open(CONTROL, os.O_WRONLY), ('add ' + './' * 509 + 'n4').encode())
        os._exit(0)
    is_equal(os.waitpid(pid, 0)[1], 0)
    is_equal(listing(), ['/mnt/files/n0', '/mnt/files/n2', '/mnt/files/n3'])


@SUITE.test('control: a NUL byte is refused, as it is and in octal', once=True)
def nul_bytes():
    touch('a', 'b')
    refused('EINVAL', b'add a\0\nadd b\n')
    refused('EINVAL', b'add a\0')
    refused('EINVAL', 'add a\\000')
    refused('EINVAL', 'add a\\000b 5')
    add('a')
    refused('EINVAL', 'remove a\\000')
    is_equal(control(b'add b\nadd a\0\n'), 6)


NAMES = [
    b'with space', b' leading', b'trailing ', b'two  spaces', b'ends in 123', b'ends in 0', b'5',
    b' 7', b'"quoted"', b"it's", b'back\\slash', b'\\134', b'\\040', b'end\\', b'\\', b'\\000',
    b'pipe|semi;amp&', b'$HOME', b'*', b'#', b'%s%n', b'new\nline', b'\n', b'\n\n',
    b'x\ntmpfs_1 forged', b'x\nadd f', b'tab\there', b'cr\r', b'esc\x1b[31m', b'\x01', b'\x7f',
    'größe'.encode(), '名前'.encode(), b'bad\xff\xfe\xc3', b'\xc3', b'newline at end\n', b'add',
    b'-', b'--', b'a 5 b', b'\\1234', b'\\08', b'...', b'a' * 255, b' ' * 255, b'\n' * 255,
    bytes(range(1, ord('/'))), bytes(range(ord('/') + 1, 256)),
]


@SUITE.test('names: any byte is taken in octal, and shown as seq_path shows it')
def names():
    for name in NAMES:
        touch(name)
        text = b'add /mnt/files/' + octal(name) + b' 3'
        is_equal(control(text), len(text))
        write_bytes(name, 0, 2)
        is_equal(Target(name).status()[2:], (3, 2))
    # Each has one line, with the path as seq_path() would print it.
    is_equal(targets(), sorted((b'tmpfs_%d' % os.stat(name).st_ino, [listed(b'/mnt/files/' + name)])
                               for name in NAMES))
    # A listed path can be written back to remove or add it, with and without max_events.
    before = targets()
    for command, number in (b'remove ', b''), (b'add ', b''), (b'remove ', b''), (b'add ', b' 12'):
        text = b''.join(command + path + number + b'\n' for _, [path] in before)
        is_equal(control(text), len(text))
        is_equal(targets(), before if command == b'add ' else [])


@SUITE.test('names: any byte is taken as it is, but newline, blanks at the end and octal escapes', once=True)
def names_raw():
    # Another target keeps the hooks attached, which saves time.
    touch('/mnt/files/keeper')
    keeper = add('keeper')
    for name in NAMES:
        # An octal escape in a name has to be escaped itself.
        if b'\n' in name or re.search(rb'\\[0-3][0-7]{2}', name):
            continue
        touch(name)
        number = b' 9' if re.search(rb' \d+$', name) else b''
        # So has a blank at the end.
        text = re.sub(rb'[ \t]+$', lambda blanks: octal(blanks[0]), name)
        is_equal(control(b'add ' + text + number), 4 + len(text + number))
        is_equal([paths_ for t, paths_ in targets() if os.fsdecode(t) != keeper.name],
                 [[listed(b'/mnt/files/' + name)]])
        is_equal(control(b'remove ' + text), 7 + len(text))
        is_equal(listing(), ['/mnt/files/keeper'])
    # A number at the end is max_events. A name that ends in one needs max_events too, or octal.
    touch('n 12')
    refused('ENOENT', 'add n 12')
    must('add n 12 4')
    is_equal(Target('n 12').status()[2], 4)
    must('remove n 12')
    must('add n\\04012')
    is_equal(Target('n 12').status()[2], 10)


@SUITE.test('names: blanks at the end of a line are no part of a name', once=True)
def blanks_at_the_end():
    """Scripts write `add $file $n` with an empty n; blanks there are no part of the path."""
    touch('f', 'f ', 'f\t')
    for blanks in ' ', '   ', '\t', ' \t ':
        for line in f'add f{blanks}', f'add f 7{blanks}':
            must(line)
            is_equal(Target('f').status()[2], 7 if '7' in line else 10)
            must(f'remove f{blanks}')
            is_equal(listing(), [])
    must('add f\\040 ')
    must('add f\\011 5 ')
    is_equal(sorted(listing()), ['/mnt/files/f\\011', '/mnt/files/f\\040'])
    refused('EINVAL', 'add  ')
    refused('EINVAL', 'remove   ')
    refused('EINVAL', ' ')
    # the same in the control of a target and of a category
    target = add('f')
    target.command('stop ')
    is_equal(target.status()[0], 0)


@SUITE.test('paths: relative, and through symbolic links')
def paths():
    os.makedirs('sub/deep')
    touch('top', 'sub/f', 'sub/deep/g')
    for link, to_ in (('link', 'sub/f'), ('sub/again', '../link'), ('dirlink', 'sub'),
                      ('loop', 'loop'), ('dangling', 'nowhere')):
        os.symlink(to_, link)
    os.chdir('sub/deep')
    must('add g')
    must('add ../../top')
    is_equal(listing(), ['/mnt/files/sub/deep/g', '/mnt/files/top'])
    os.chdir('..')
    must('remove ../sub/./deep//g')
    os.chdir('..')
    must('remove top')
    for path in 'link', 'sub/again', 'dirlink/f', './sub/../sub/f', 'sub//f', '/proc/self/cwd/link':
        must('add ' + path)
        is_equal(listing(), ['/mnt/files/sub/f'])
    refused('ELOOP', 'add loop')
    refused('ENOENT', 'add dangling')
    refused('ENOENT', 'remove dangling')
    must('remove sub/again')
    is_equal(listing(), [])


@SUITE.test('paths: hard links are names of one target')
def hard_links():
    touch('a')
    os.link('a', 'b')
    os.link('a', 'c')
    t = add('a')
    refused('ENOENT', 'remove b')
    refused('ENOMEM', 'add b 20000000')
    is_equal(add('b').name, t.name)
    is_equal(slurp(CONTROL), f'{t.name} /mnt/files/a /mnt/files/b\n')
    for i, name in enumerate('abc'):
        write_bytes(name, i, 1)
    is_equal(t.addresses(), [0, 1, 2])
    must('remove a')
    is_equal(slurp(CONTROL), f'{t.name} /mnt/files/b\n')
    write_bytes('a', 3, 1)
    is_equal(t.addresses(), to(0, 3))
    # A deleted link is listed until it is removed. Its removal leaves the other links.
    must('add c')
    os.unlink('b')
    must('remove b')
    is_equal(slurp(CONTROL), f'{t.name} /mnt/files/c\n')
    must('remove c')
    is_equal(slurp(CONTROL), '')
    is_true(not os.path.exists(t.dir), 'its directory is still there')


@SUITE.test('paths: a renamed file is removed by its old or its new name')
def rename():
    os.mkdir('dir')
    for name in 'old', '/mnt/files/old', 'new', '/mnt/files/new', './dir/../new':
        touch('old')
        t = add('old')
        os.rename('old', 'new')
        write_bytes('new', 0, 1)
        is_equal(t.addresses(), [0])
        must('remove ' + name)
        is_equal(listing(), [])
        os.unlink('new')
    # Without following, a new file under the old name is another file.
    touch('old')
    must('add -i old 11')
    first = Target('old')
    os.rename('old', 'new')
    touch('old')
    must('add -i old 12')
    is_equal(listing(), ['/mnt/files/old', '/mnt/files/old'])
    write_bytes('old', 0, 1)
    is_equal(first.status()[2:], (11, 0))
    must('remove old')
    is_equal(first.status()[2:], (11, 0))
    must('remove old')
    is_equal(listing(), [])
    # Of two files that were added under one path, the one that is there now is removed.
    must('add -i old')
    there = Target('old')
    os.rename('old', 'away')
    os.rename('new', 'old')
    must('add -i old')
    os.rename('old', 'new')
    os.rename('away', 'old')
    must('remove old')
    is_true(not os.path.exists(there.dir), 'another file was removed')
    is_equal(listing(), ['/mnt/files/old'])
    must('remove old')
    is_equal(listing(), [])
    # Added again under its new name, a file has two paths. "remove" drops one at a time.
    first = add('new')
    os.rename('new', 'newer')
    must('add newer')
    is_equal(slurp(CONTROL), f'{first.name} /mnt/files/new (deleted) /mnt/files/newer\n')
    must('remove newer')
    is_equal(slurp(CONTROL), f'{first.name} /mnt/files/new (deleted)\n')
    must('remove newer')
    is_equal(listing(), [])


@SUITE.test('paths: a deleted file is listed until it is removed')
def deleted():
    os.mkdir('sub')
    for name in 'f', '/mnt/files/f', './f', 'sub/../f':
        touch('f')
        add('f')
        os.unlink('f')
        is_equal(listing(), ['/mnt/files/f'])
        refused('ENOENT', 'add f')
        must('remove ' + name)
        is_equal(listing(), [])
    touch('sub/f')
    add('sub/f')
    os.unlink('sub/f')
    os.rmdir('sub')
    must('remove /mnt/files/sub/f')
    is_equal(listing(), [])
    # A deleted file that is open is still traced, but cannot be added.
    touch('f')
    fd = os.open('f', os.O_WRONLY)
    t = add('f')
    os.unlink('f')
    os.write(fd, b'x')
    is_equal(t.addresses(), [0])
    refused('ENOENT', f'add /proc/self/fd/{fd}')
    os.close(fd)
    must('remove f')


def gives(command, result):
    is_equal(control(command), result)


@SUITE.test('a file whose server does not answer delays only the command that names it')
def slow_lookup():
    """Other commands, and readers of control, do not wait for the server of a file."""
    touch('f')
    for command, result in ((f'add {fuse.TOP}/missing', 'ENOENT'),
                            (f'add {fuse.FILE}', len(f'add {fuse.FILE}')),
                            (f'remove {fuse.TOP}/missing', 'ENOENT')):
        with fuse.mounted(1) as hold:
            hold.set()
            waiting = spawn(gives, command, result)
            waits_in(waiting, *FUSE)
            is_equal(listing(), [])
            add('f')
            is_equal(listing(), ['/mnt/files/f'])
            must('remove f')
            is_equal(os.waitpid(waiting, os.WNOHANG), (0, 0))
            hold.clear()
            join(waiting)
            if result != 'ENOENT':
                is_equal(listing(), [fuse.FILE])
                must(f'remove {fuse.FILE}')


@SUITE.test('control: the same path again changes nothing', once=True)
def same_path():
    touch('f')
    t = add('f', 20)
    write_bytes('f', 0, 5)
    before = state()
    for text in 'add f', 'add f 20', 'add /mnt/files/f':
        must(text)
        is_equal(state(), before)
    t.command('stop')
    before = state()
    must('add f')
    is_equal(state(), before)


@SUITE.test('a change of max_events keeps the newest events and the counts', once=True)
def resize():
    touch('f')
    t = add('f', 50)
    size = t.value('memory_bytes')
    write_bytes('f', 0, 80)
    before = t.log()
    is_equal(addresses(before), to(30, 79))
    newest = ''.join(before.splitlines(True)[-20:])
    must('add f 20')
    is_equal(t.log(), newest)
    is_equal(t.stats(), (80, 20, 60, 0, 0))
    is_true(int(t.value('memory_bytes')) < int(size), 'no memory was given back')
    must('add f 200')
    is_equal(t.log(), newest)
    is_equal(t.status()[2:], (200, 20))
    write_bytes('f', 80, 150)
    is_equal(t.addresses(), to(60, 229))
    for max_events, first in (3, 227), (4, 227), (1, 229), (5, 229):
        must(f'add f {max_events}')
        is_equal(t.addresses(), to(first, 229))
        is_equal(t.stats('vfs'), (230, 230 - first, first, 0, 0))
        t.is_conserved()
    for i in range(230, 240):
        write_bytes('f', i, 1)
        is_equal(t.addresses(), to(max(229, i - 4), i))
    # A stopped target can be resized too, and stays stopped.
    t.command('stop')
    must('add f 50')
    is_equal(t.addresses(), to(235, 239))
    write_bytes('f', 240, 1)
    is_equal((t.status()[0], t.status()[2:]), (0, (50, 5)))
    is_equal(t.value('memory_bytes'), size)


@SUITE.test('a change of max_events while a process writes', once=True)
def resize_busy():
    touch('f')
    t = add('f', 10)
    writer = start_writer('f')
    for n in (300, 50, 2000, 1, 700) * 3:
        must(f'add f {n}')
    touch('stop')
    join(writer)
    written = os.stat('f').st_size
    stored = t.status()[3]
    seen, counted, overwritten, lost, missed = t.stats()
    is_equal((seen, counted, missed), (written, stored, 0))
    is_equal(stored + overwritten + lost, written)
    # A record is lost if an old one is being copied into its slot: at most once per resize.
    is_true(lost <= 15, lost)
    if not lost:
        is_equal(t.addresses(), to(written - stored, written - 1))
    write_bytes('f', written, 700)
    is_equal(t.addresses(), to(written, written + 699))

@SUITE.test('control: several processes add, remove and list at once', once=True)
def commands_busy():
    touch('keeper')
    add('keeper')

    def come_and_go(name):
        touch(name)
        for n in range(1, 31):
            must(f'add {name} {n}')
            t = Target(name)
            write_bytes(name, 0, 2)
            is_equal(t.status()[2:], (n, min(n, 2)))
            must(f'remove {name}')

    def look():
        while not os.path.exists('stop'):
            is_true(set(listing()) <= {f'/mnt/files/{n}' for n in ('keeper', 'a', 'b', 'c')}, listing())

    onlooker = spawn(look)
    join(*[spawn(come_and_go, name) for name in 'abc'])
    touch('stop')
    join(onlooker)
    is_equal(listing(), ['/mnt/files/keeper'])


# Errors

ERRORS = '''
ENOENT add missing
ENOENT add missing 5
ENOENT add dir/missing
ENOENT add missing/
ENOENT remove missing
ENOENT remove other
ENOENT remove dir
EINVAL addf
EINVAL add
EINVAL add_
EINVAL remove
EINVAL remove_
EINVAL Add f
EINVAL _add f
EINVAL delete f
EINVAL add f 0
EINVAL add f 00
EINVAL add other 0
EINVAL add f -1
EINVAL add other -5
EINVAL add other +5
EINVAL add other 5x
EINVAL add other x5
EINVAL add other 0x10
EINVAL add other 1.5
EINVAL add other 1e3
EINVAL add other 5 x
EINVAL add other five
EINVAL add other 18446744073709551616
EINVAL add other 99999999999999999999999
EINVAL remove f 5
EINVAL remove f x
EOPNOTSUPP add /proc
EOPNOTSUPP add /proc/self 5
EOPNOTSUPP add fifo
EOPNOTSUPP add /dev/null
EOPNOTSUPP add /proc/self/mem
'''


@SUITE.test('errors: each has its errno and changes nothing', once=True)
def errors():
    os.mkdir('dir')
    touch('f', 'f g', 'other')
    os.mkfifo('fifo')
    os.symlink('dir', 'dirlink')
    add('f', 5)
    write_bytes('f', 0, 9)
    used = rings_in_use()
    for line in ERRORS.strip().split('\n'):
        error, command = line.split(' ', 1)
        refused(error, command.replace('_', ' '))
    is_equal(rings_in_use(), used)


@SUITE.test('errors: paths and names that are too long, and the longest that are not', once=True)
def long_paths():
    touch('f')
    add('f')
    name = 'x' * 256
    refused('ENAMETOOLONG', 'add ' + name)
    refused('ENAMETOOLONG', 'add ' + './' * 2100 + 'f')
    refused('ENAMETOOLONG', 'remove ' + './' * 2100 + 'f')
    refused('ENAMETOOLONG', 'add ' + '\\170' * 5000)
    refused('ENAMETOOLONG', 'remove ' + '\\170' * 5000)
    # The longest that are accepted: 255 bytes of a name, 4095 of a path, 4 times that in octal.
    touch(name[1:])
    must('add ' + './' * 2047 + 'f')
    text = b'add ' + octal(b'./' * 1920 + name[1:].encode()) + b'\n'
    is_equal(control(text), len(text))
    is_equal(listing(), ['/mnt/files/f', '/mnt/files/' + name[1:]])
    must('remove ' + './' * 2047 + 'f')
    # A file that can be opened, but whose absolute path is too long to list.
    for _ in range(20):
        os.mkdir('y' * 250)
        os.chdir('y' * 250)
    touch('deep')
    refused('ENAMETOOLONG', 'add deep')
    os.chdir('/mnt/files')


@SUITE.test('rights: nobody traces a file without the right to read it')
@reloads
def unreadable():
    reload(f'proc_gid={NOBODY} proc_mode=0660')
    for name, mode in ('closed', 0o700), ('listed', 0o744), ('entered', 0o711):
        os.mkdir(name, mode)
    touch('open', 'secret', 'closed/f')
    os.chmod('secret', 0o600)
    os.chmod('open', 0o222)
    add('secret')
    before = state()
    for text in ('add secret', 'add secret 99', 'add /mnt/files/secret', 'add closed/f',
                 'add closed/missing', 'add open', 'add closed', 'add listed', 'add entered'):
        is_equal(as_user(NOBODY, control, text), 'EACCES')
        is_equal(state(), before)
    os.chmod('open', 0o444)
    is_equal(as_user(NOBODY, control, 'add open'), '8')
    is_equal(listing(), ['/mnt/files/open', '/mnt/files/secret'])


@SUITE.test('bounds: max_events_limit is reported once and by name', once=True)
@reloads
def max_events_limit():
    reload('max_events_limit=1000 MAX_EVENTS=100')
    touch('f', 'g')
    add('f', 1000)
    write_bytes('f', 0, 10)
    for n in 1001, 2**32 + 1, 2**63, 2**64 - 1:
        for name in 'f', 'g':
            refused_with_message(f'add {name} {n}', f'max_events {n} is above max_events_limit=1000')
    # The size of a ring does not overflow, however large the number is.
    is_equal(write(PARAMETERS + 'max_events_limit', str(2**64 - 1)), 'EINVAL')
    set_parameter('max_events_limit', 2**32 - 1)
    for n in (2**64 - 1, 2**64 - 6, 2**63 + 1, 2**63, 2**64 // 120 + 1, 2**60, 2**57, 2**32,
              2**32 - 1, 2**32 - 7, 2**31 + 1):
        for name in 'f', 'g':
            refused_with_message(f'add {name} {n}', 'max_events_limit=|ring_memory_limit=')
    # The limit holds for the default, too.
    set_parameter('max_events_limit', 5)
    refused_with_message('add g', 'max_events 100 is above max_events_limit=5')


@SUITE.test('bounds: ring_memory_limit is reported once and by name', once=True)
@reloads
def ring_memory_limit():
    touch('a', 'b', 'c')
    add('a', 1000)
    ring = rings_in_use()
    is_true(ring >= 1000 * 64, ring)
    must('remove a')
    is_equal(rings_in_use(), 0)
    reload(f'ring_memory_limit={2 * ring}')
    a = add('a', 1000)
    add('b', 1000)
    write_bytes('a', 0, 50)
    words = rf'ring_memory_limit={2 * ring} \({2 * ring} in use\)'
    refused_with_message('add c 1', words)
    refused_with_message('add a 1100', words)
    # A target at the limit can shrink and grow again in place: there is no room for two rings.
    must('add a 10')
    is_equal(a.addresses(), to(40, 49))
    is_equal(rings_in_use(), 2 * ring)
    must('add a 1000')
    is_equal(rings_in_use(), 2 * ring)
    is_equal(a.addresses(), to(40, 49))
    # Memory that is given back can be used again, to the last byte.
    must('remove b')
    c = add('c', 1000)
    for command in 'reset', 'timereset', 'stop', 'start':
        c.command(command)
    refused_with_message('add b 1', words)
    must('remove a')
    must('remove c')
    is_equal(rings_in_use(), 0)

# One target


@SUITE.test("a target's control: stop and start", once=True)
def stop_start():
    touch('f')
    t = add('f', 30)
    matches(slurp(t.control), r'^1 \d+\.\d{9} 30 0\n$')
    t0 = t.status()[1]
    write_bytes('f', 0, 3)
    t.command('stop\n')
    is_equal(t.status(), (0, t0, 30, 3))
    write_bytes('f', 3, 4)
    is_equal(t.addresses(), to(0, 2))
    is_equal(t.stats(), (3, 3, 0, 0, 0))
    t.command('stop')
    t.command('start')
    t.command('start')
    write_bytes('f', 7, 2)
    is_equal(t.addresses(), [0, 1, 2, 7, 8])
    is_equal(t.status(), (1, t0, 30, 5))
    t.command('stop')
    write_bytes('f', 9, 1)
    is_equal(t.status(), (0, t0, 30, 5))


@SUITE.test("a target's control: unknown words are refused", once=True)
def target_commands():
    touch('f')
    t = add('f')
    write_bytes('f', 0, 3)
    for text in 'begin', 'stop now', ' stop', 'STOP', 'reset 5', '\n', 'sto', 'stopp', b'stop\0':
        refused('EINVAL', text, t.control)
    is_equal(write(t.control, 'stop\nnonsense\nstart\n'), 5)
    is_equal(t.status()[0], 0)
    t.command('start\nstop\nreset\n')
    is_equal((t.status()[0], t.status()[3]), (0, 0))


def hook_table():
    """{(symbol, operation): (mechanism, users)}"""
    rows = [line.split() for line in slurp(IOT + '/hooks').splitlines()]
    is_equal(rows[0], 'symbol operation mechanism users missed prototype error'.split())
    # delete_module(2) is hooked from the first redirection until the module is unloaded
    # and what changes names while a target is listed by a path, traced or not
    return {(row[0], row[1]): (row[2], int(row[3])) for row in rows[1:]
            if row[1] not in ('unload', 'name')}


def attached_in_kernel():
    """Functions that the module hooks, as the kernel itself reports them."""
    functions = slurp('/sys/kernel/tracing/enabled_functions').splitlines()
    probes = slurp('/sys/kernel/debug/kprobes/list').splitlines()
    names = re.findall(r'^(\S+) name ', slurp(IOT + '/hooks'), re.M)
    return [f for f in [f for f in functions if 'iotracer' in f] + probes
            if not re.search(rf'\b({"|".join(names + ["[_a-z0-9]*delete_module"])})\b', f)]


@SUITE.test('nothing is hooked when all targets are stopped')
def hooks():
    is_equal(hook_table(), {})
    touch('/mnt/disk/a', '/mnt/disk/b')
    a, b = add('/mnt/disk/a'), add('/mnt/disk/b')
    read = ('ext4_file_read_iter', 'read_iter')
    bio = ('block_bio_queue', '-')
    mechanism = hook_table()[read][0]
    is_true(mechanism in ('redirect', 'kretprobe'), mechanism)
    is_true(attached_in_kernel(), 'nothing is hooked')
    is_equal((hook_table()[read], hook_table()[bio]), ((mechanism, 2), ('tracepoint', 2)))
    a.command('stop')
    is_equal((hook_table()[read], hook_table()[bio]), ((mechanism, 1), ('tracepoint', 1)))
    write_bytes('/mnt/disk/b', 0, 1)
    b.command('stop')
    is_equal(set(hook_table().values()), {('detached', 0)})
    is_equal(attached_in_kernel(), [])
    write_bytes('/mnt/disk/b', 1, 1)
    b.command('start')
    is_equal((hook_table()[read], hook_table()[bio]), ((mechanism, 1), ('tracepoint', 1)))
    write_bytes('/mnt/disk/b', 2, 1)
    is_equal([int(f[2]) for f in lines(b.log()) if f[4] == 'VFS'], [0, 2])
    must('remove /mnt/disk/a')
    must('remove /mnt/disk/b')
    is_equal(hook_table(), {})
    is_equal(attached_in_kernel(), [])


@SUITE.test('reset: what it empties and what it keeps', once=True)
def reset():
    touch('f')
    t = add('f', 20)
    write_bytes('f', 0, 30)
    last = times(t.log())[-1]
    before = t.status()
    t.command('reset')
    is_equal(t.log(), '')
    is_equal(t.status(), before[:3] + (0,))
    is_equal(t.stats(), (0, 0, 0, 0, 0))
    write_bytes('f', 30, 2)
    is_equal(t.addresses(), [30, 31])
    is_equal(t.stats(), (2, 2, 0, 0, 0))
    is_true(times(t.log())[0] > last, 'the clock of events was reset')
    # Nor is anything left of what the log had before it was resized.
    must('add f 10')
    write_bytes('f', 32, 20)
    must('add f 30')
    t.command('reset')
    is_equal((t.stats('vfs'), t.stats()), ((0, 0, 0, 0, 0), (0, 0, 0, 0, 0)))
    write_bytes('f', 52, 1)
    is_equal((t.stats('vfs'), t.stats()), ((1, 1, 0, 0, 0), (1, 1, 0, 0, 0)))


def monotonic():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


@SUITE.test('timereset: times in the log start anew', once=True)
def timereset():
    touch('f')
    earliest = monotonic()
    t = add('f')
    for i in range(3):
        latest = monotonic()
        t0 = t.status()[1]
        # The module uses the kernel's fast clock, which may be off by some microseconds.
        is_true(earliest - 10**6 <= t0 <= latest + 10**6, (earliest, t0, latest))
        before = monotonic()
        write_bytes('f', i, 1)
        after = monotonic()
        is_equal(t.addresses(), [i])
        began = t0 + times(t.log())[0]
        is_true(before - 10**6 <= began <= after + 10**6, (before, began, after))
        earliest = monotonic()
        t.command('timereset')
        is_equal(t.log(), '')
        is_equal(t.stats(), (0, 0, 0, 0, 0))
        is_true(t.status()[1] > began, 'T0 has not moved')

# Logs


@SUITE.test('log: seven fields, nine decimals', once=True)
def log_format():
    path = '/mnt/disk/f'
    with open(path, 'wb') as f:
        f.write(bytes(65536))
        f.flush()
        os.fsync(f.fileno())
    t = add(path, 1000)
    for direction in f'if=/dev/zero of={path} oflag=direct count=5', f'of=/dev/null if={path} iflag=direct count=3':
        is_equal(os.system(f'dd {direction} bs=4k conv=notrunc status=none'), 0)
    rows = lines(t.log())
    for level in 'VFS', 'BLK':
        is_equal([f[1] + f[3] for f in rows if f[4] == level], ['W4096'] * 5 + ['R4096'] * 3)
        is_equal(t.stats(level.lower()), (8, 8, 0, 0, 0))
    is_equal({f[5] for f in rows}, {'dd'})
    is_equal([int(f[2]) for f in rows if f[4] == 'VFS'],
             list(range(0, 20480, 4096)) + list(range(0, 12288, 4096)))
    sectors = [int(f[2]) for f in rows if f[4] == 'BLK']
    is_equal(sectors[5:], sectors[:3])
    is_true(is_sorted(times(t.log())), 'not sorted by time')
    t.is_conserved()


def set_comm(name):
    fd = os.open('/proc/self/comm', os.O_WRONLY)
    os.write(fd, name)
    os.close(fd)


@SUITE.test('log: what each field says', once=True)
def log_content():
    with open('f', 'wb') as f:
        f.write(b'0123456789')
    t = add('f')

    def act():
        set_comm(b'two words "q"')
        fd = os.open('f', os.O_RDWR)
        os.pwrite(fd, b'abc', 5)
        os.lseek(fd, 4, os.SEEK_SET)
        while os.read(fd, 4):
            pass
        os.preadv(fd, [bytearray(2), bytearray(3)], 1)

    pid = spawn(act)
    join(pid)
    caller = ['VFS', 'two words "q"', str(pid)]
    is_equal([f[1:] for f in lines(t.log())],
             [['W', '5', '3'] + caller, ['R', '4', '4'] + caller, ['R', '8', '2'] + caller,
              ['R', '10', '0'] + caller, ['R', '1', '5'] + caller])


@SUITE.test('log: no thread can forge a line by its name')
def log_comm():
    touch('f')
    t = add('f')
    for name, shown in ((b'a;b\nc', r'a\073b\012c'), (b'x\n9.9;W;0;1;B', r'x\0129.9\073W\0730\0731\073B'),
                        (b'tab\tcr\r', r'tab\011cr\015'), (b'back\\slash', r'back\134slash'),
                        (b'esc\x1b[31m\x7f', r'esc\033[31m\177'), (b'\x01\x1f\x08', r'\001\037\010'),
                        (b'fifteen bytes long', 'fifteen bytes l'), (b';' * 20, r'\073' * 15),
                        ('größe'.encode(), 'größe'.encode().decode('latin-1'))):
        def act():
            set_comm(name)
            write_bytes('f', 0, 1)

        t.command('reset')
        join(spawn(act))
        is_equal([f[5] for f in lines(t.log())], [shown])


@SUITE.test('log: exactly the last max_events, however often the ring has wrapped', once=True)
@reloads
def last_events():
    reload('max_events_limit=700')
    touch('f')
    for n in 1, 2, 7, 64, 700:
        t = add('f', n)
        t.command('reset')
        write_bytes('f', 0, n - 1)
        is_equal(t.addresses(), to(0, n - 2))
        for i in to(n - 1, n + 2):
            write_bytes('f', i, 1)
            is_equal(t.addresses(), to(i - n + 1, i))
        write_bytes('f', n + 3, 3000)
        is_equal(t.addresses(), to(3003, n + 3002))
        is_equal(t.stats(), (n + 3003, n, 3003, 0, 0))
        is_equal(t.status()[2:], (n, n))


@SUITE.test('log: an open file is the same in any chunk size and from any offset', once=True)
def chunks():
    touch('f')
    t = add('f', 100)
    write_bytes('f', 0, 120)
    whole = slurp_bytes(t.dir + '/log')
    is_equal(addresses(whole.decode()), to(20, 119))
    for size in 1, 2, 7, 31, 4095, 4096, 4097, 10**6:
        fd = os.open(t.dir + '/log', os.O_RDONLY)
        is_equal(drain(fd, size), whole)
        os.close(fd)
    fd = os.open(t.dir + '/log', os.O_RDONLY)
    read = b''
    for size in (1, 2, 3, 5, 8, 13, 21, 34) * 100:
        read += os.read(fd, size)
        if len(read) == len(whole):
            break
    is_equal(read, whole)
    # From rising and falling offsets, with and without lseek(2), in one and in many pieces.
    starts = list(range(0, len(whole), 97))
    for at in starts + starts[::-1]:
        is_equal(os.pread(fd, 60, at), whole[at:at + 60])
        os.lseek(fd, at + 1, os.SEEK_SET)
        is_equal(os.read(fd, 60), whole[at + 1:at + 61])
        fresh = os.open(t.dir + '/log', os.O_RDONLY)
        is_equal(os.pread(fresh, 60, at), whole[at:at + 60])
        os.lseek(fresh, at, os.SEEK_SET)
        is_equal(drain(fresh, 5000), whole[at:])
        os.close(fresh)
    is_equal(os.pread(fd, 60, len(whole)), b'')
    is_equal(os.pread(fd, 60, len(whole) + 1000), b'')
    os.close(fd)


@SUITE.test('log: what a reader has started to read does not change', once=True)
def snapshot():
    touch('f')
    t = add('f', 50)
    write_bytes('f', 0, 50)
    whole = slurp_bytes(t.dir + '/log')
    fd = os.open(t.dir + '/log', os.O_RDONLY)
    head = os.read(fd, 1000)
    write_bytes('f', 50, 30)
    is_equal(os.pread(fd, 100, 300), whole[300:400])
    is_equal(head + drain(fd), whole)
    os.lseek(fd, 0, os.SEEK_SET)
    is_equal(drain(fd), slurp_bytes(t.dir + '/log'))
    is_equal(t.addresses(), to(30, 79))
    os.close(fd)


@SUITE.test('log: two readers at once get the same', once=True)
def two_readers():
    touch('f')
    t = add('f', 300)
    write_bytes('f', 0, 300)
    whole = slurp_bytes(t.dir + '/log')
    a, b = (os.open(t.dir + '/log', os.O_RDONLY) for _ in range(2))
    x = y = b''
    while True:
        more_x, more_y = os.read(a, 61), os.read(b, 173)
        if not more_x and not more_y:
            break
        x += more_x
        y += more_y
        if more_x and not more_y:
            x += drain(a, 61)
            break
    is_equal(x, whole)
    is_equal(y, whole)
    os.close(a)
    os.close(b)


@SUITE.test('log: read while events come: whole lines, sorted, none twice', once=True)
def read_busy():
    """While a writer writes byte after byte, each read has each at most once, in order."""
    touch('f')
    t = add('f', 300)
    writer = start_writer('f')
    for size in (100, 4096, 65536) * 10:
        fd = os.open(t.dir + '/log', os.O_RDONLY)
        log = drain(fd, size).decode()
        os.close(fd)
        seen = addresses(log)
        is_true(all(a < b for a, b in zip(seen, seen[1:])), log)
        is_true(is_sorted(times(log)), log)
        is_true(len(seen) <= 300, len(seen))
    touch('stop')
    join(writer)
    written = os.stat('f').st_size
    is_equal(t.stats()[0], written)
    t.is_conserved()
    is_equal(t.addresses()[-1], written - 1)


@SUITE.test('log: end of file comes before events of the meantime', once=True)
def end_of_file():
    """A reader gets end of file before it gets events that came in the meantime."""
    for size in (1, 7, 50, 100, 1000):
        touch('f')
        t = add('f', 20)
        write_bytes('f', 0, 5)
        expected = t.log().encode('latin-1')
        fd = os.open(t.dir + '/log', os.O_RDONLY)
        log = b''
        while len(log) < len(expected):
            log += os.read(fd, size)
        is_equal(log, expected)
        write_bytes('f', 5, 1)
        is_equal(os.read(fd, size), b'')
        is_equal(addresses(drain(fd, size).decode()), [5])
        os.close(fd)
        must('remove f')


@SUITE.test('log: events of several writers are sorted, none twice')
def several_writers():
    touch('f')
    t = add('f', 500)
    writers = [spawn(write_bytes, 'f', 0, 4000) for _ in range(3)]
    logs = []
    while len(logs) < 20:
        logs.append(t.log())
    join(*writers)
    for log in logs + [t.log()]:
        is_true(is_sorted(times(log)), log)
        seen = [(f[2], f[6]) for f in lines(log)]
        is_equal(len(seen), len(set(seen)))
    t.is_conserved()
    is_equal(t.stats()[0], 12000)
    is_equal(len(lines(t.log())), t.stats()[1])


@SUITE.test('log: can be followed by reading on', once=True)
def follow():
    touch('f')
    t = add('f', 20000)
    write_bytes('f', 0, 10)
    fd = os.open(t.dir + '/log', os.O_RDONLY)
    log = drain(fd)
    is_equal(addresses(log.decode()), to(0, 9))
    is_equal(drain(fd), b'')
    writer = spawn(write_bytes, 'f', 10, 9990)
    while os.waitpid(writer, os.WNOHANG) == (0, 0):
        log += drain(fd, 1000)
    log += drain(fd)
    is_equal(addresses(log.decode()), to(0, 9999))
    is_equal(drain(fd), b'')
    # A reader that has read on can go back to the beginning.
    write_bytes('f', 10000, 5)
    is_true(os.read(fd, 30), 'nothing is new')
    is_equal(os.pread(fd, 60, 0), slurp_bytes(t.dir + '/log')[:60])
    os.close(fd)


@SUITE.test('log: can be followed through reset, resize, stop and start', once=True)
def follow_changes():
    touch('f')
    t = add('f', 20)
    fd = os.open(t.dir + '/log', os.O_RDONLY)

    def new(*expected):
        is_equal(addresses(drain(fd, 50).decode()), list(expected))

    new()
    write_bytes('f', 0, 3)
    new(0, 1, 2)
    new()
    write_bytes('f', 3, 25)
    new(*to(8, 27))
    t.command('reset')
    new()
    write_bytes('f', 28, 2)
    new(28, 29)
    write_bytes('f', 30, 4)
    must('add f 3')
    new(31, 32, 33)
    must('add f 40')
    new()
    write_bytes('f', 34, 12)
    new(*to(34, 45))
    t.command('timereset')
    write_bytes('f', 46, 1)
    new(46)
    t.command('stop')
    write_bytes('f', 47, 1)
    new()
    must('remove f')
    try:
        os.read(fd, 50)
        raise AssertionError('a removed target was read')
    except OSError as e:
        is_equal(e.errno, errno.EIO)
    os.close(fd)


@SUITE.test('log: copying it into its own traced file ends', once=True)
def own_file():
    touch('f')
    t = add('f', 1000)
    write_bytes('f', 0, 700)
    is_equal(os.system(f'timeout 60 cat {t.dir}/log >f'), 0)
    is_equal(len(lines(slurp('f'))), 700)
    before = t.stats()[0]
    # Each line that is written to the file adds an event while its log is being read.
    is_equal(os.system(f'timeout 60 dd if={t.dir}/log of=f bs=64 status=none'), 0)
    is_true(t.stats()[0] > before + 300, t.stats())
    lines(slurp('f'))
    t.is_conserved()

# Counts


@SUITE.test('counts: seen = stored + overwritten + lost = the known operations')
def counts():
    touch('f', 'g')
    f, g = add('f', 100), add('g', 100)
    write_bytes('f', 0, 250)
    read_bytes('f', 0, 30)
    is_equal(f.stats('vfs'), (280, 100, 180, 0, 0))
    is_equal(f.stats('blk'), (0, 0, 0, 0, 0))
    is_equal(f.stats(), (280, 100, 180, 0, 0))
    is_equal(g.stats(), (0, 0, 0, 0, 0))
    is_equal([row[1] for row in lines(f.log())], ['W'] * 70 + ['R'] * 30)
    is_equal((f.status()[3], f.value('max_events')), (100, '100'))
    size = int(f.value('memory_bytes'))
    is_equal(int(g.value('memory_bytes')), size)
    is_true(size >= 100 * 64, size)
    must('add g 1000')
    is_true(int(g.value('memory_bytes')) - size >= 872 * 64, g.value('memory_bytes'))


@SUITE.test('counts: the same under load', once=True)
def counts_busy():
    touch('f')
    os.truncate('f', 4096)
    for n in 1, 3, 100:
        t = add('f', n)
        t.command('reset')
        join(*[spawn(do, 'f', 0, 3000) for do in (write_bytes, read_bytes) * 2])
        is_equal(t.stats()[0], 12000)
        t.is_conserved()
        is_equal(len(lines(t.log())), t.stats()[1])
        is_equal(t.status()[3], t.stats()[1])


@SUITE.test('stats: the identity is that of stat(2)')
def identity():
    for path in '/mnt/files/f', '/mnt/disk/f':
        touch(path)
        t = add(path)
        st = os.stat(path)
        is_equal(t.value('device'), f'{os.major(st.st_dev)}:{os.minor(st.st_dev)}')
        is_equal(t.value('inode'), str(st.st_ino))
        matches(t.value('generation'), r'^\d+$')
        is_equal(t.value('target'), t.name)
        rows = slurp(t.dir + '/stats').splitlines()
        is_equal([row.split()[0] for row in rows],
                 'target device inode generation max_events all_operations memory_bytes level '
                 'vfs blk total'.split())
        is_equal(rows[7], 'level seen stored overwritten lost missed')
    is_equal(t.name, f'vda_{st.st_ino}')


@SUITE.test('names in /proc differ for one inode number on filesystems of one kind')
def same_inode():
    directories = 'one', 'two', 'three'
    for directory in directories:
        os.mkdir(directory)
        is_equal(os.system(f'mount -t tmpfs {directory} {directory}'), 0)
        touch(directory + '/f')
    try:
        found = [add(f'{directory}/f') for directory in directories]
        is_equal(len({os.stat(directory + '/f').st_ino for directory in directories}), 1)
        is_equal(len({t.name for t in found}), 3)
        for i, directory in enumerate(directories):
            write_bytes(directory + '/f', 100 * i, i + 1)
        for i, t in enumerate(found):
            is_equal(t.addresses(), to(100 * i, 101 * i))
            device = os.stat(directories[i]).st_dev
            is_equal(t.value('device'), f'{os.major(device)}:{os.minor(device)}')
        # A name that becomes free is used again; the other names stay.
        must('remove one/f')
        is_equal(add('one/f').name, found[0].name)
        write_bytes('one/f', 7, 1)
        is_equal([t.addresses() for t in found], [[7], [100, 101], [200, 201, 202]])
    finally:
        for directory in directories:
            os.system(f'umount {directory}')
    for directory in directories:
        must(f'remove /mnt/files/{directory}/f')


@SUITE.test('stream: the schema is that of format', once=True)
def stream():
    touch('f')
    t = add('f')
    write_bytes('f', 0, 3)
    data = slurp_bytes(t.dir + '/stream')
    _, version, header, schema, event, record, t0, layout, cpus = HEADER.unpack_from(data)
    is_equal(slurp(IOT + '/format').split('\n')[0], f'iotracer stream {version} schema {schema:016x}')
    is_equal((event, layout, cpus), (1, 1, 1))
    is_equal(BLOCK.unpack_from(data, header), (0x4b4c4249, 0, event, 3, 0, 0))
    is_equal(len(data), header + BLOCK.size + 3 * record)
    is_equal(t0, t.status()[1])
    # a record begins with seq and time
    rows = [struct.unpack_from('<QQ', data, header + BLOCK.size + i * record) for i in range(3)]
    is_equal([seq for seq, _ in rows], [0, 1, 2])
    is_equal([ns - t0 for _, ns in rows], times(t.log()))


def error_of(call, *args):
    try:
        return call(*args)
    except OSError as e:
        return error_name(e)


@SUITE.test('stream: gives whole blocks, goes on, counts what is overwritten, can be polled, and has no offsets', once=True)
def stream_of_blocks():
    touch('f')
    t = add('f', 10)
    write_bytes('f', 0, 13)
    blocks = Blocks(t.name, 'io')
    poll = select.poll()
    poll.register(blocks.fd, select.POLLIN)
    least = HEADER.size + BLOCK.size + blocks.size
    is_equal(poll.poll(0), [(blocks.fd, select.POLLIN)])
    is_equal(error_of(os.read, blocks.fd, least - 1), 'EINVAL')
    is_equal(error_of(os.lseek, blocks.fd, 0, os.SEEK_SET), 'ESPIPE')
    is_equal(error_of(os.pread, blocks.fd, least, 0), 'ESPIPE')
    # What was overwritten before the stream was opened is no gap.
    blocks.take(os.read(blocks.fd, least))
    is_equal((blocks.seqs(), blocks.gaps), ([3], {0: 0}))
    is_equal(poll.poll(0), [(blocks.fd, select.POLLIN)])
    blocks.read()
    is_equal((blocks.seqs(), blocks.gaps), (list(range(3, 13)), {0: 0}))
    is_equal(poll.poll(0), [])
    # of 25 more, 15 are overwritten before they are read
    write_bytes('f', 0, 25)
    is_equal(poll.poll(0), [(blocks.fd, select.POLLIN)])
    blocks.read()
    is_equal((blocks.seqs(), blocks.gaps), ([*range(3, 13), *range(28, 38)], {0: 15}))
    blocks.close()

# Rights


@SUITE.test("rights: root's alone")
@reloads
def rights():
    reload()
    touch('f')
    os.chmod('f', 0o666)
    t = add('f')
    is_equal(modes(), modes_expected('500 0:0', '600 0:0', '400 0:0'))
    is_equal(as_user(NOBODY, control, 'add f'), 'EACCES')
    is_equal(as_user(NOBODY, write, t.control, 'stop'), 'EACCES')
    for path in [CONTROL, IOT + '/hooks', IOT + '/format'] + \
            [f'{t.dir}/{name}' for name in ('control', 'log', 'pipe', 'stream', 'stats')]:
        is_equal(as_user(NOBODY, slurp, path), 'EACCES')
    is_equal(as_user(NOBODY, os.listdir, IOT), 'EACCES')


@SUITE.test('rights: widened by proc_uid, proc_gid and proc_mode')
@reloads
def rights_widened():
    touch('f')
    reload(f'proc_gid={NOBODY} proc_mode=0640')
    t = add('f')
    is_equal(modes(), modes_expected(f'550 0:{NOBODY}', f'640 0:{NOBODY}', f'440 0:{NOBODY}'))
    write_bytes('f', 0, 1)
    is_equal(as_user(NOBODY, t.log), t.log())
    is_equal(as_user(NOBODY, control, 'remove f'), 'EACCES')
    is_equal(as_user(NOBODY, write, t.control, 'stop'), 'EACCES')
    is_equal(as_user(NOBODY - 1, slurp, t.dir + '/log'), 'EACCES')
    reload(f'proc_uid={NOBODY} proc_mode=0600')
    is_equal(as_user(NOBODY, control, 'add f'), '5')
    t = Target('f')
    is_equal(modes(), modes_expected(f'500 {NOBODY}:0', f'600 {NOBODY}:0', f'400 {NOBODY}:0'))
    is_equal(as_user(NOBODY, write, t.control, 'stop'), '4')
    is_equal(t.status()[0], 0)
    is_equal(as_user(NOBODY, control, 'remove f'), '8')
    is_equal(as_user(NOBODY - 1, slurp, CONTROL), 'EACCES')


@SUITE.test('open files keep neither a target nor the module from being removed')
@reloads
def open_files():
    touch('f')
    t = add('f')
    write_bytes('f', 0, 3)
    open_ = [os.open(f'{t.dir}/{name}', os.O_RDONLY) for name in ('log', 'stream', 'stats', 'control', 'pipe')]
    os.read(open_[0], 5)
    os.read(open_[1], 4096)
    must('remove f')
    open_.append(os.open(CONTROL, os.O_RDONLY))
    reload()
    for fd in open_:
        try:
            os.read(fd, 100)
            raise AssertionError('a file that is gone was read')
        except OSError as e:
            is_equal(e.errno, errno.EIO)
        os.close(fd)
