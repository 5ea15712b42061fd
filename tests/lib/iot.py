# SPDX-License-Identifier: GPL-2.0
"""
What the tests of the module share: files, processes and commands of /proc/iotracer, and
assertions. A suite x.bats calls python3 x.py FUNCTION...; x.py ends with main(globals()).

A test makes its calls in one process, because programs start slowly on an emulated
processor.
"""
import contextlib
import errno
import json
import os
import re
import select
import signal
import subprocess
import sys
import time

from lib.categories import CATEGORIES
from lib.process import become, sleeps_in, spawn

IOT = '/proc/iotracer'
CONTROL = IOT + '/control'
LOAD_DIVISOR = int(os.environ.get('LOAD_DIVISOR', '1'))
PARAMETERS = '/sys/module/iotracer/parameters/'
KO = os.environ['IOTRACER_KO']
NOBODY = 65534
LOG_LINE = re.compile(r'\d+\.\d{9};(\w);\d+;\d+;(VFS|BLK);[^;\x00-\x1f\x7f]*;\d+')


def write(path, text):
    """Make one write(2). Returns the number of bytes, or the error's name."""
    data = text if isinstance(text, bytes) else text.encode()
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as e:
        return error_name(e)
    try:
        return os.write(fd, data)
    except OSError as e:
        return error_name(e)
    finally:
        os.close(fd)


def error_name(error):
    # Python uses the other name of this error number.
    return errno.errorcode[error.errno].replace('ENOTSUP', 'EOPNOTSUPP')


def control(text):
    return write(CONTROL, text)


def must(text, path=CONTROL):
    is_equal(write(path, text), len(text))


def drain(fd, size=65536):
    """Read until end of file, as bytes."""
    parts = []
    while part := os.read(fd, size):
        parts.append(part)
    return b''.join(parts)


def slurp_bytes(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return drain(fd)
    finally:
        os.close(fd)


def slurp(path):
    return slurp_bytes(path).decode('latin-1')


def touch(*paths):
    for path in paths:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))


def write_bytes(path, first, n):
    """Write n times one byte, from offset first on."""
    fd = os.open(path, os.O_WRONLY)
    for i in range(first, first + n):
        os.pwrite(fd, b'x', i)
    os.close(fd)


def write_until_stopped(path):
    """Write byte after byte until a file "stop" exists. The size of path is their number."""
    first = 0
    while not os.path.exists('stop'):
        write_bytes(path, first, 50)
        first += 50


def start_writer(path):
    """Start a process that calls write_until_stopped(), and wait for its first write."""
    pid = spawn(write_until_stopped, path)
    while not os.stat(path).st_size:
        time.sleep(0.01)
    return pid


def read_bytes(path, first, n):
    fd = os.open(path, os.O_RDONLY)
    for i in range(first, first + n):
        os.pread(fd, 1, i)
    os.close(fd)


def forget(path):
    """
    Write a file back and drop its pages from memory. On 6.1 drop_caches passes by the pages that a
    processor has yet to put on a list; fadvise(2) has them put there, and drops them, too.
    """
    with open(path, 'rb') as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def forget_all():
    """Drop all pages, names and inodes that are clean and not in use."""
    for _ in range(3): # what was used of late is passed by once
        must('3', '/proc/sys/vm/drop_caches')


def join(*pids):
    for pid in pids:
        is_equal(os.waitpid(pid, 0)[1], 0)


def ends(pid, seconds=120):
    """A process exits with 0 by itself. The limit is far above what a slow machine needs."""
    fd = os.pidfd_open(pid)
    over = select.select([fd], [], [], seconds)[0]
    os.close(fd)
    if not over:
        where = sleeps_in(pid)
        os.kill(pid, signal.SIGKILL)
        raise AssertionError(f'the process still sleeps in {where}')
    join(pid)


@contextlib.contextmanager
def memory_group():
    """Directory of a control group whose memory can be reclaimed by memory.reclaim."""
    top = '/mnt/group'
    os.makedirs(top, exist_ok=True)
    subprocess.run(['mount', '-t', 'cgroup2', 'none', top], check=True)
    try:
        must('+memory', top + '/cgroup.subtree_control')
        os.makedirs(top + '/some', exist_ok=True)
        yield top + '/some'
        os.rmdir(top + '/some')
    finally:
        subprocess.run(['umount', top], check=True)


def as_user(uid, function, *args):
    """What the function returns when that user calls it, as a string, or the error's name."""
    reading, writing = os.pipe()

    def call():
        become(uid)
        try:
            result = function(*args)
        except OSError as e:
            result = error_name(e)
        os.write(writing, str(result).encode())

    pid = spawn(call)
    os.close(writing)
    result = drain(reading).decode()
    os.close(reading)
    join(pid)
    return result


def load(parameters=''):
    return os.system(f'insmod {KO} {parameters} 2>/tmp/insmod') == 0


def unload():
    """rmmod, which is refused (EBUSY) while a call under load takes longer than unloading waits: it is repeated."""
    for _ in range(20):
        if not os.path.isdir('/sys/module/iotracer') or os.system('rmmod iotracer') == 0:
            return
    is_equal(os.system('rmmod iotracer'), 0)


def reload(parameters=''):
    unload()
    is_true(load(parameters), f'insmod {parameters}: {slurp("/tmp/insmod")}')


def set_parameter(name, value):
    must(str(value), PARAMETERS + name)


def parameter(name):
    return slurp(PARAMETERS + name).strip()


def is_equal(is_, expected):
    if is_ != expected:
        raise AssertionError(f'is:       {is_!r}\nexpected: {expected!r}')


def is_true(condition, words):
    if not condition:
        raise AssertionError(words)


def matches(text, regex):
    is_true(re.search(regex, text), f'no match of {regex!r} in: {text}')


def listed(path):
    """A path as control shows it: blanks, backslashes and what is not readable are escaped."""
    return b''.join(c.encode() if re.match(r'[^\x00- \x7f-\x9f\\\udc80-\udcff]', c) else
                    octal(c.encode('utf-8', 'surrogateescape'))
                    for c in path.decode('utf-8', 'surrogateescape'))


def unlisted(text):
    return re.sub(rb'\\([0-7]{3})', lambda m: bytes([int(m[1], 8)]), text)


def octal(path):
    return b''.join(b'\\%03o' % byte for byte in path)


def targets():
    """
    (name, [path...]) for each line of control, as escaped there, sorted by name. Whether a path
    is deleted, a log has the network, or a process has ended, is left out.
    """
    lines = slurp_bytes(CONTROL).split(b'\n')
    is_equal(lines.pop(), b'')
    words = [line.split(b' ') for line in lines]
    remarks = b'(deleted)', b'(network)', b'(ended)'
    return sorted((w[0], [path for path in w[1:] if path not in remarks]) for w in words)


def deleted():
    """The paths in control that lead to no file, sorted."""
    return sorted(re.findall(r' (\S+) \(deleted\)', slurp(CONTROL)))


def listing():
    """All paths in control, as escaped there, sorted."""
    return sorted(p.decode('latin-1') for _, paths in targets() for p in paths)


class Target:
    """The target that control lists under the path."""

    def __init__(self, path):
        path = listed(os.path.realpath(os.fsencode(path)))
        names = [name for name, paths in targets() if path in paths]
        is_equal(len(names), 1)
        self.name = os.fsdecode(unlisted(names[0]))
        self.dir = f'{IOT}/{self.name}'
        self.control = self.dir + '/control'

    def log(self):
        return slurp(self.dir + '/log')

    def addresses(self):
        return addresses(self.log())

    def command(self, text):
        must(text, self.control)

    def status(self):
        """status, T0 in ns, max_events, nb_events"""
        m = re.fullmatch(r'([01]) (\d+)\.(\d{9}) (\d+) (\d+)\n', slurp(self.control))
        is_true(m, 'not a status line: ' + slurp(self.control))
        return int(m[1]), int(m[2] + m[3]), int(m[4]), int(m[5])

    def stats(self, level='total'):
        """seen, stored, overwritten, lost, missed"""
        m = re.search(rf'^{level}((?: \d+){{5}})$', slurp(self.dir + '/stats'), re.M)
        return tuple(int(n) for n in m[1].split())

    def value(self, name):
        return re.search(rf'^{name} (.*)$', slurp(self.dir + '/stats'), re.M)[1]

    def is_conserved(self):
        for level in 'vfs', 'blk', 'total':
            seen, stored, overwritten, lost, _ = self.stats(level)
            is_true(seen == stored + overwritten + lost, slurp(self.dir + '/stats'))


def add(path, max_events=None):
    must(f'add {path}' + (f' {max_events}' if max_events else ''))
    return Target(path)


def in_json(name):
    """The records of the target of a path or text, as the library, and export, shows them."""
    import iotracer # where there is no tool, as on arm64, there is no library either
    with iotracer.Trace(name, live=True) as trace:
        return [json.loads(record.json()) for record in trace.records()]


def lines(log, letters='RW'):
    """The fields of each line of a log, whose format is checked. @letters: the operations"""
    rows = log.split('\n')
    is_equal(rows.pop(), '')
    for row in rows:
        line = LOG_LINE.fullmatch(row)
        is_true(line and line[1] in letters, f'not a line of a log: {row!r}')
    return [row.split(';') for row in rows]


def addresses(log):
    return [int(fields[2]) for fields in lines(log)]


def times(log):
    return [int(fields[0].replace('.', '')) for fields in lines(log)]


def is_sorted(values):
    return all(a <= b for a, b in zip(values, values[1:]))


def to(first, last):
    """first, ... last"""
    return list(range(first, last + 1))


def state():
    """Everything that a failed command must not change."""
    text = slurp(CONTROL) + slurp(IOT + '/hooks')
    for name in sorted(os.listdir(IOT)):
        directory = f'{IOT}/{name}'
        if os.path.isdir(directory):
            text += directory + ''.join(sorted(os.listdir(directory)))
            text += ''.join(slurp(f'{directory}/{f}') for f in ('stats', 'control', 'log'))
    return text


def refused(error, text, path=CONTROL):
    """The write fails with this error and changes nothing."""
    before = state()
    is_ = write(path, text)
    is_true(is_ == error, f'{text!r}: expected {error}, is {is_}')
    is_equal(state(), before)


class Kmsg:
    """The kernel log: lines() returns what was written since the last call or skip(), and new() what
    the module did."""

    def __init__(self):
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
        self.skip()

    def skip(self):
        """Leave out all before: of a log that is full the next line may be gone before it is read."""
        os.lseek(self.fd, 0, os.SEEK_END)

    def lines(self):
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                record = os.read(self.fd, 8192).decode('latin-1')
                found.append(record.split(';', 1)[1].split('\n')[0])
        return found

    def new(self):
        return [line for line in self.lines() if line.startswith('iotracer: ')]


kmsg = Kmsg()


def refused_with_message(text, regex):
    """The command fails with ENOMEM and changes nothing; the module logs one message."""
    kmsg.skip()
    refused('ENOMEM', text)
    said = kmsg.new()
    is_equal(len(said), 1)
    matches(said[0], regex)


def rings_in_use():
    """Bytes of all rings, from the message about ring_memory_limit."""
    limit = parameter('ring_memory_limit')
    touch('/mnt/files/.probe')
    set_parameter('ring_memory_limit', 1)
    is_equal(control('add /mnt/files/.probe 1'), 'ENOMEM')
    set_parameter('ring_memory_limit', limit)
    os.unlink('/mnt/files/.probe')
    return int(re.search(r'ring_memory_limit=1 \((\d+) in use\)', kmsg.new()[-1])[1])


def clean(reloads):
    """Remove targets and files; unload the module if the test gave it other parameters."""
    os.chdir('/')
    if reloads:
        unload()
    else:
        for _, paths_ in targets():
            for path in paths_:
                is_equal(control(b'remove ' + path), len(path) + 7)
        expected = sorted(CATEGORIES + ('control', 'error', 'format', 'hooks', 'memory', 'paths'))
        deadline = time.monotonic() + 60 # a worker removes symbolic links
        while sorted(os.listdir(IOT)) != expected and time.monotonic() < deadline:
            time.sleep(0.01)
        is_equal(sorted(os.listdir(IOT)), expected)
    is_equal(os.system('find /mnt/files /mnt/disk -xdev -mindepth 1 -not -name lost+found -delete'), 0)


def run(test, reloads=False):
    """Call a function with the module loaded in /mnt/files, and clean up after it."""
    if not os.path.isdir('/sys/module/iotracer'):
        is_true(load(), 'insmod failed')
    os.chdir('/mnt/files')
    try:
        test()
    finally:
        clean(reloads)


def main(tests, reloading=()):
    """
    Run the functions that the command line names, one after the other.

    @reloading: names of those that leave the module with other parameters
    """
    os.umask(0o022)
    for name in sys.argv[1:]:
        run(tests[name], tests[name] in reloading)
