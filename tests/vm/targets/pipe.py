# SPDX-License-Identifier: GPL-2.0
"""
The file pipe of a category and of a target, which people read with cat: it shows events as they
come, each to one reader; a read ends when the pipe goes; nothing waits for a reader.
"""
import errno
import os
import re
import select
import signal
import socket
import subprocess
import time

from lib.category import (cleaning, command, do, events, FS, is_conserved, mine, ONLY, overlapping,
                          Stream)
from lib.iot import (add, addresses, IOT, is_equal, is_true, join, listing, LOAD_DIVISOR, must,
                     reload, slurp, slurp_bytes, to, touch, write_bytes)
from lib.machine import files_and_disk, umount_files_and_disk
from lib.process import POLL, spawn, waits_in
from lib.suite import Suite

SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk, around=cleaning,
              tags=('once',))

PIPE = FS + '/pipe'
GONE = re.compile(rb'# (\d+) events (?:of CPU (\d+) )?are gone: '
                  rb'overwritten, lost or reset before they were read\n')


def now(fd, size=1 << 16):
    """Read all that is available now from a descriptor with O_NONBLOCK."""
    parts = []
    try:
        while part := os.read(fd, size):
            parts.append(part)
    except BlockingIOError:
        pass
    return b''.join(parts)


def opened(path=PIPE):
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def counted(text):
    """How many events the text has, and how many it reports as gone."""
    gone = sum(int(m[1]) for m in GONE.finditer(text))
    return GONE.sub(b'', text).count(b'\n'), gone


class Cat:
    """cat of a pipe, as people use it, and the text that it has printed."""

    def __init__(self, path=PIPE):
        self.process = subprocess.Popen(['cat', path], stdout=subprocess.PIPE)
        self.text = b''
        self.waits()

    def waits(self):
        """Wait until it is in a read: if the pipe goes between two reads, the next gets EIO."""
        waits_in(self.process.pid, 'iot_poller_sleep')

    def shows(self, lines):
        """Wait until it has printed this number of lines. Return: its text."""
        fd = self.process.stdout.fileno()
        while self.text.count(b'\n') < lines:
            is_true(select.select([fd], [], [], 300)[0], f'cat prints no more lines: {self.text}')
            self.text += os.read(fd, 1 << 16)
        return self.text

    def ends(self):
        """Read the rest of its text. Return: its exit status."""
        self.text += self.process.stdout.read()
        return self.process.wait()


@SUITE.test("cat of a category's pipe waits, prints events as they come, and ends at a signal")
def category_cat():
    touch('f')
    mine()
    cat = Cat()
    command('start')
    shown = b''
    for n in range(1, 4):
        do(write_bytes, 'f', 0, n)
        shown = cat.shows(n * (n + 1) // 2)
        is_equal(shown, slurp_bytes(FS + '/log'))
        cat.waits()
    cat.process.send_signal(signal.SIGINT)
    is_equal(cat.ends(), -signal.SIGINT)
    is_equal(cat.text, shown)
    command('stop')
    # After a restart a new reader continues with the events since.
    command('start')
    do(write_bytes, 'f', 0, 2)
    command('stop')
    fd = opened()
    is_equal(now(fd), slurp_bytes(FS + '/log')[len(shown):])
    os.close(fd)


@SUITE.test("cat of a target's pipe waits, prints events as they come, as in the log, and ends at a signal")
def target_cat():
    touch('f')
    t = add('f', 1000)
    cat = Cat(t.dir + '/pipe')
    for n in range(1, 4):
        do(write_bytes, 'f', 0, n)
        is_equal(cat.shows(n * (n + 1) // 2).decode(), t.log())
    cat.process.terminate()
    is_equal(cat.ends(), -signal.SIGTERM)


@SUITE.test('reads of any size return the same lines, those from before the first open first')
def chunks():
    touch('f')
    t = add('f', 1000)
    mine()
    for path, log in (PIPE, FS + '/log'), (t.dir + '/pipe', t.dir + '/log'):
        for size in 1, 13, 200, 1 << 20:
            for line, control in (('reset', FS + '/control'), ('reset', t.control)):
                must(line, control)
            command('start')
            do(write_bytes, 'f', 0, 60)
            command('stop')
            fd = opened(path)
            is_equal((size, now(fd, size)), (size, slurp_bytes(log)))
            is_equal(os.read(fd, 0), b'')
            for call in (lambda: os.lseek(fd, 0, os.SEEK_SET)), (lambda: os.pread(fd, 10, 0)):
                try:
                    call()
                    raise AssertionError('a pipe accepted a position')
                except OSError as e:
                    is_equal(e.errno, errno.ESPIPE)
            os.close(fd)
            # A later reader finds none of it.
            fd = opened(path)
            is_equal(now(fd), b'')
            os.close(fd)


@SUITE.test('each event goes to one reader, and also to the log')
def two_readers():
    touch('f')
    t = add('f', 1000)
    mine()
    command('start')
    for path, log in (PIPE, FS + '/log'), (t.dir + '/pipe', t.dir + '/log'):
        fds = [opened(path), opened(path)]
        now(fds[0])
        before = slurp_bytes(log)
        texts = [b'', b'']
        for i in range(30):
            do(write_bytes, 'f', 0, 1)
            # A read of one byte takes a whole line out of the pipe.
            texts[i % 2] += os.read(fds[i % 2], 1)
            texts[i % 2] += now(fds[i % 2])
        rest = slurp_bytes(log)[len(before):].splitlines(keepends=True)
        is_equal(len(rest), 30)
        is_equal(texts, [b''.join(rest[0::2]), b''.join(rest[1::2])])
        for fd in fds:
            os.close(fd)
    command('stop')


@SUITE.test('many readers at once: no line is read twice, torn or missing')
def many_readers():
    """Many readers at once, under load: no line is read twice, torn or missing."""
    calls = 3000 // LOAD_DIVISOR
    touch('f', 'g')
    t = add('f', 20000)
    mine()
    command('start')

    def read(path, out):
        fd = opened(path)
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        with open(out, 'wb') as f:
            while not os.path.exists('stop') or poll.poll(0):
                poll.poll(100)
                f.write(now(fd, 777))

    paths = [PIPE] * 3 + [t.dir + '/pipe'] * 3
    outs = [f'/tmp/pipe.{i}' for i in range(len(paths))]
    readers = [spawn(read, path, out) for path, out in zip(paths, outs)]
    join(*[spawn(write_bytes, name, 0, calls) for name in 'ffgg'])
    command('stop')
    touch('stop')
    join(*readers)
    texts = [slurp_bytes(out) for out in outs]
    mine_ = sorted(b''.join(texts[:3]).splitlines())
    log = slurp_bytes(FS + '/log').splitlines()
    is_equal(counted(b''.join(texts)), (len(mine_) + 2 * calls, 0))
    # The readers' own writes are events of the category, too, in the pipe and in the log.
    is_equal(mine_, sorted(log))
    is_equal(sorted(b''.join(texts[3:]).splitlines()), sorted(t.log().encode().splitlines()))
    for out in outs:
        os.unlink(out)


@SUITE.test('events of several CPUs are in the order in which they ended')
def by_end():
    touch('f')
    command(f'filter kind=file,pipe {ONLY} tree={os.getpid()}', 'start')
    fd = opened()
    reader, writer = overlapping('f')
    command('stop')
    is_equal(re.findall(rb' (\w+) \S+-(%d|%d)/' % (reader, writer), now(fd)),
             [(b'WRITE', b'%d' % writer)] * 3 + [(b'READ', b'%d' % reader)])
    os.close(fd)


@SUITE.test('poll and O_NONBLOCK')
def polling():
    touch('f')
    t = add('f', 1000)
    mine()
    command('start')
    for path in PIPE, t.dir + '/pipe':
        fd = opened(path)
        now(fd)
        poll, epoll = select.poll(), select.epoll()
        poll.register(fd, select.POLLIN)
        epoll.register(fd, select.EPOLLIN)
        is_equal((poll.poll(100), epoll.poll(0.1)), ([], []))
        try:
            os.read(fd, 100)
            raise AssertionError('a read of an empty pipe succeeded')
        except BlockingIOError:
            pass
        pid = spawn(write_bytes, 'f', 0, 2)
        is_equal(poll.poll(300000), [(fd, select.POLLIN)])
        # epoll looks only at files that were woken. A timer wakes them, perhaps later.
        is_equal(epoll.poll(300), [(fd, select.EPOLLIN)])
        join(pid)
        # After the first byte of two lines is read, the rest is still there.
        text = os.read(fd, 1)
        is_equal((poll.poll(0), epoll.poll(0)), ([(fd, select.POLLIN)], [(fd, select.EPOLLIN)]))
        is_equal((text + now(fd)).count(b'\n'), 2)
        is_equal((poll.poll(100), epoll.poll(0.1)), ([], []))
        os.close(fd)
    command('stop')


@SUITE.test('the number of events that are gone before they were read is reported: a slow reader')
def lapped():
    """A reader that is too slow: its lines and those reported as gone are all events."""
    touch('f')
    os.sched_setaffinity(0, {0})
    t = add('f', 10)
    mine()
    command('size 10', 'start')
    do(write_bytes, 'f', 0, 50)
    fds = [opened(), opened(t.dir + '/pipe')]
    # Events that were overwritten before the first open are not reported as gone.
    is_equal([counted(now(fd)) for fd in fds], [(10, 0), (10, 0)])
    do(write_bytes, 'f', 0, 25)
    texts = [now(fd) for fd in fds]
    is_equal([counted(text) for text in texts], [(10, 15), (10, 15)])
    is_equal([bool(GONE.match(text)) for text in texts], [True, True])
    is_equal([GONE.sub(b'', text) for text in texts],
             [slurp_bytes(FS + '/log'), t.log().encode()])
    do(write_bytes, 'f', 0, 3)
    is_equal([counted(now(fd)) for fd in fds], [(3, 0), (3, 0)])
    for fd in fds:
        os.close(fd)
    command('stop')


@SUITE.test('the number of events that are gone before they were read is reported: reset and size')
def reset_and_size():
    touch('f')
    os.sched_setaffinity(0, {0})
    t = add('f', 1000)
    mine()
    command('start')
    fds = [opened(), opened(t.dir + '/pipe')]
    shown = [[0, 0], [0, 0]]

    def look():
        for sums, fd in zip(shown, fds):
            sums[:] = map(sum, zip(sums, counted(now(fd))))

    for lines in (('reset',), ('reset',)), (('size 200',), ('timereset',)), (('size 50',), ()):
        do(write_bytes, 'f', 0, 7)
        look()
        do(write_bytes, 'f', 0, 3)
        command(*lines[0])
        for line in lines[1]:
            must(line, t.control)
        look()
        do(write_bytes, 'f', 0, 5)
        look()
    is_equal(shown, [[3 * 12, 3 * 3], [3 * 12 + 3, 2 * 3]])
    must('add f 2')
    do(write_bytes, 'f', 0, 5)
    look()
    must('add f 5000')
    do(write_bytes, 'f', 0, 5)
    look()
    is_equal(shown[1], [3 * 12 + 3 + 2 + 5, 2 * 3 + 3])
    for fd in fds:
        os.close(fd)
    command('stop')


@SUITE.test('the number of events that are gone before they were read is reported: small rings')
def busy():
    """Small rings, written by all CPUs while they are read."""
    calls = 4000 // LOAD_DIVISOR
    touch('f', 'g')
    targets = [add(name, 50) for name in 'fg']
    mine()
    command('size 50', 'start')
    fds = [opened()] + [opened(t.dir + '/pipe') for t in targets]
    texts = [b''] * 3
    writers = [spawn(write_bytes, name, 0, calls) for name in 'fg']
    while any(os.waitpid(w, os.WNOHANG) == (0, 0) for w in writers[:1]):
        texts = [text + now(fd) for text, fd in zip(texts, fds)]
    join(writers[1])
    texts = [text + now(fd) for text, fd in zip(texts, fds)]
    command('stop')
    is_equal([sum(counted(text)) for text in texts], [2 * calls, calls, calls])
    for fd in fds:
        os.close(fd)
    is_conserved()


@SUITE.test('mode discard: events that were read make room for new ones')
def discard():
    touch('f')
    os.sched_setaffinity(0, {0})
    mine()
    command('size 10', 'mode discard', 'start')
    fd = opened()
    do(write_bytes, 'f', 0, 25)
    is_equal(counted(now(fd)), (10, 0))
    do(write_bytes, 'f', 0, 6)
    is_equal(counted(now(fd)), (6, 0))
    s = is_conserved()
    is_equal((s['seen'], s['lost']), (31, 15))
    os.close(fd)
    command('stop')


@SUITE.test('the reader of the pipe is left out of the trace, unless another process reads the stream')
def reader_is_left_out():
    touch('f')
    mine()
    command('start')

    def own():
        write_bytes('f', 0, 3)
        return len([e for e in events() if e['pid'] == os.getpid()])

    command('reset')
    is_equal(own(), 3)
    command('reset')
    fd = opened()
    is_equal(own(), 0)
    do(write_bytes, 'f', 0, 2)
    is_equal(now(fd).count(b'\n'), 2)
    os.close(fd)
    is_equal(own(), 3)
    # While the reader of the stream is left out, a reader of the pipe is not.
    st = Stream()

    def other():
        pipe = opened()
        write_bytes('f', 0, 4)
        os.close(pipe)
        write_bytes('f', 0, 1)

    command('reset')
    pid = do(other)
    is_equal(own(), 0)
    is_equal([e['pid'] for e in events()], [pid] * 5)
    st.close()
    command('stop')


@SUITE.test('a reader that stops does not hold up anything else')
def stopped_reader():
    """A reader has taken a line, or is stopped in the middle of a write: all else goes on."""
    touch('f', 'g')
    t = add('f', 5000)
    mine()
    command('start')
    do(write_bytes, 'f', 0, 4000)
    held = [os.open(path, os.O_RDONLY) for path in (PIPE, t.dir + '/pipe')]
    for fd in held:
        os.read(fd, 1)
    full = socket.socketpair()
    cats = []
    for path in PIPE, t.dir + '/pipe':
        cats.append(subprocess.Popen(['cat', path], stdout=full[1]))
        waits_in(cats[-1].pid, 'sock_alloc_send_pskb', 'sock_wait_for_wmem')
        cats[-1].send_signal(signal.SIGSTOP)
    fds = [opened(), opened(t.dir + '/pipe')]
    for fd in fds:
        now(fd)
    do(write_bytes, 'f', 0, 9)
    is_equal([counted(now(fd)) for fd in fds], [(9, 0), (9, 0)])
    for line in 'stop', 'size 300', 'reset', 'start', 'reset', 'stop':
        command(line)
    for line in 'reset', 'timereset', 'stop', 'start':
        must(line, t.control)
    must('add f 100')
    for path in FS + '/log', t.dir + '/log', FS + '/stats', t.dir + '/stats':
        slurp(path)
    must('remove f')
    is_equal(listing(), [])
    reload()
    for cat in cats:
        cat.kill()
        cat.wait()
    for fd in held + fds:
        os.close(fd)


def is_eio(fd):
    try:
        return os.read(fd, 100) and False
    except OSError as e:
        return e.errno == errno.EIO


@SUITE.test('removing a target ends reads that wait; later ones get EIO')
def removed():
    touch('f', 'g')
    t, other = add('f', 100), add('g', 100)
    cats = [Cat(t.dir + '/pipe') for _ in range(3)]
    stays = Cat(other.dir + '/pipe')
    fd = os.open(t.dir + '/pipe', os.O_RDONLY)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    do(write_bytes, 'f', 0, 5)
    while sum(cat.text.count(b'\n') for cat in cats) < 5:
        ready = select.select([cat.process.stdout for cat in cats], [], [], 300)[0]
        is_true(ready, 'no cat prints what was written')
        for cat in cats:
            if cat.process.stdout in ready:
                cat.text += os.read(cat.process.stdout.fileno(), 1 << 16)
    for cat in cats:
        cat.waits()
    must('remove f')
    is_equal([cat.ends() for cat in cats], [0] * 3)
    is_true(poll.poll(300000), 'poll was not woken')
    is_true(is_eio(fd), 'a pipe that is gone was read')
    os.close(fd)
    do(write_bytes, 'g', 0, 2)
    is_equal(addresses(stays.shows(2).decode()), to(0, 1))
    # The same file added again is another target.
    t = add('f', 100)
    cat = Cat(t.dir + '/pipe')
    do(write_bytes, 'f', 7, 1)
    is_equal(addresses(cat.shows(1).decode()), [7])
    cat.waits()
    stays.waits()
    must('remove f\nremove g')
    is_equal((cat.ends(), stays.ends()), (0, 0))


def ends_at_unload(*paths):
    """Unloading the module ends cats of these pipes and of a target's pipe, and polls."""
    touch('f')
    t = add('f', 100)
    cats = [Cat(path) for path in paths + (t.dir + '/pipe', t.dir + '/pipe')]
    fds = [opened(path) for path in (t.dir + '/pipe', PIPE)]

    def wait(how):
        poll = getattr(select, how)()
        for path in t.dir + '/pipe', IOT + '/cache/pipe':
            poll.register(opened(path), select.POLLIN)
        poll.poll()

    pids = [spawn(wait, 'poll'), spawn(wait, 'epoll')]
    waits_in(pids[0], *POLL)
    waits_in(pids[1], 'do_epoll_wait', 'ep_poll')
    # a waiting reader that is just looking holds the module for a moment
    while os.system('rmmod iotracer 2>/tmp/rmmod'):
        time.sleep(0.05)
    reload()
    is_equal([cat.ends() for cat in cats], [0] * len(cats))
    is_true(all(is_eio(fd) for fd in fds), 'a pipe that is gone was read')
    join(pids[0])
    os.kill(pids[1], signal.SIGKILL)  # epoll reports no event of a file that is gone
    os.waitpid(pids[1], 0)
    for fd in fds:
        os.close(fd)


@SUITE.test('rmmod ends reads that wait and wakes polls')
def unloaded():
    ends_at_unload(PIPE, PIPE, IOT + '/block/pipe')


@SUITE.test('rmmod ends reads that wait and are traced calls themselves')
def unloaded_traced():
    """The reads that wait in the pipes are themselves calls that the module traces."""
    command('filter kind=pseudo comm=cat', 'start')
    ends_at_unload(IOT + '/block/pipe')
