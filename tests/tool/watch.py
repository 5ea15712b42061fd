# SPDX-License-Identifier: GPL-2.0
"""What watch.bats runs: iotracer watch of streams whose events are known. They end an hour from now."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

from join import S, is_equal, run, stream
from lib.categories import EVENTS

FS = {'READ': 0, 'WRITE': 1, 'OPEN': 4, 'FSYNC': 9}
SGR = re.compile('\033\\[[0-9;]*m')
COLUMNS = 'TIME WHO LVL OP OFFSET BYTES RESULT TAKES'
T = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + 3600 * S


def number(event, name):
    """Of an operation of a category."""
    with open(f'{os.path.dirname(__file__)}/../../module/uapi/ops.def', encoding='utf-8') as f:
        return int(re.search(rf'IOT_OP\({event}, {name}, (\d+),', f.read()).group(1))


def lines_of(records):
    return [' '.join(f'{k}={v}' for k, v in {'seq': i, 'time': T + i * S, **r}.items()) + '\n' for i, r in enumerate(records)]


def target(name, path, records, fs=False, paths=()):
    """A target that is traced already, as processes or as a file."""
    os.makedirs(f'proc/{name}', exist_ok=True)
    with open(f'proc/{name}/control', 'w', encoding='ascii') as f:
        f.write('1 0.5 100 3\n')
    missed(name, 0)
    header = ['layout=1', f'event={EVENTS["fs"]}'] if fs else []
    stream(f'proc/{name}/stream', lines_of(records), *header)
    if fs:
        stream('proc/paths', [f'id={i + 1} inode={i + 5} text={p}\n' for i, p in enumerate(paths)], 'layout=2')
    with open('proc/control', 'w', encoding='utf-8') as f:
        f.write(f'{name} {path}\n')


def missed(name, nr):
    with open(f'proc/{name}/stats', 'w', encoding='ascii') as f:
        f.write(f'target {name}\nmax_events 100\nlevel seen stored overwritten lost missed\ntotal 9 9 0 0 {nr}\n')


def append(name, records, fs=True, category=None):
    header = ['layout=1', f'event={EVENTS[category or "fs"]}'] if fs else []
    lines = [' '.join(f'{k}={v}' for k, v in r.items()) + '\n' for r in records]
    stream('more', lines, 'continue', *header)
    with open('more', 'rb') as f, open(f'proc/{name}/stream', 'ab') as to:
        to.write(f.read())


def watch(*options, status=0, **env):
    return run('iotracer', 'watch', *options, status=status, env={**os.environ, 'TZ': 'UTC', **env})


def lines(*options, **env):
    done = watch(*options, **env)
    is_equal('stderr', done.stderr, '')
    return done.stdout.splitlines()


def on_terminal(*options, columns=80, rows=24, **env):
    """What a terminal of this size is sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'COLUMNS')}
    with subprocess.Popen(['iotracer', 'watch', *options], stdout=theirs, stderr=subprocess.PIPE,
                          env={**clean, 'TZ': 'UTC', 'TERM': 'xterm', **env}) as process:
        os.close(theirs)
        sent = b''
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:     # the terminal was closed
                break
            if not part:
                break
            sent += part
        is_equal('stderr', process.stderr.read(), b'')
    is_equal('status', process.returncode, 0)
    os.close(ours)
    return sent.decode().replace('\r\n', '\n')


def width(text):
    """Columns of a terminal, by Python's own table."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


# --- lines --------------------------------------------------------------------------

def by_hand():
    target('vda_1', '/srv/db', [
        {'op': 0, 'offset': 8192, 'requested': 4096, 'result': 4096, 'latency': 650, 'pid': 1234, 'comm': 'postgres'},
        {'op': 1, 'offset': 0, 'requested': 4096, 'result': -28, 'latency': 12345, 'pid': 7, 'comm': 'dd'},
        {'op': 1, 'offset': 4096, 'requested': 4096, 'result': 512, 'latency': 1500000, 'pid': 7, 'comm': 'dd'},
        {'op': 1, 'level': 1, 'sector': 2048, 'requested': 65536, 'result': 65536, 'pid': 9, 'comm': 'kworker/u8:1'},
        {'op': 2, 'latency': 250000000, 'pid': 7, 'comm': 'dd'},
        {'op': 1, 'flags': 2, 'offset': 5, 'requested': 10, 'result': 10, 'latency': 5, 'pid': 7, 'comm': 'dd'},
    ])
    found = [line.split() for line in lines('--count=6', 'vda_1')]
    is_equal('head', found[0], COLUMNS.split())
    is_equal('lines', [' '.join(line[1:]) for line in found[1:]], [
        'postgres/1234 VFS READ 8192 4.00KiB ok 650ns',
        'dd/7 VFS WRITE 0 4.00KiB ENOSPC 12.3us',
        'dd/7 VFS WRITE 4096 4.00KiB 512B 1.50ms',
        'kworker/u8:1/9 BLK WRITE s2048 64.0KiB ok -',
        'dd/7 VFS FSYNC - - ok 250ms',
        'dd/7 VFS WRITE 5 10B queued 5ns',
    ])
    seconds = [sum(float(part) * 60 ** (2 - i) for i, part in enumerate(line[0].split(':'))) % 86400 for line in found[1:]]
    is_equal('seconds', [round((b - seconds[0]) % 86400, 5) for b in seconds], [0, 1, 2, 3, 4, 5])
    shown = found[1][0]
    assert re.fullmatch(r'\d\d:\d\d:\d\d\.\d{6}', shown), shown
    # columns stand below their names
    text = lines('--count=6', 'vda_1')
    is_equal('aligned', {line.index(word) for line, word in zip(text, ['OP', 'READ', 'WRITE', 'WRITE'])}, {text[0].index('OP')})
    of_directory()
    of_category()


def of_directory():
    target('d', '/srv', [
        {'op': FS['OPEN'], 'result': 3, 'path': 1, 'pid': 7, 'comm': 'cat', 'latency': 1000},
        {'op': FS['OPEN'], 'result': -2, 'path': 2, 'pid': 7, 'comm': 'cat', 'latency': 1000},
        {'op': FS['READ'], 'result': 100, 'requested': 4096, 'path': 1, 'pid': 7, 'comm': 'cat', 'latency': 2000},
        {'op': number('FS', 'RENAME'), 'path': 1, 'path2': 2, 'pid': 8, 'comm': 'mv'},
        {'op': number('FS', 'BLOCK_WRITE'), 'address': 1048576, 'requested': 4096, 'result': 4096, 'path': 1, 'pid': 9, 'comm': 'k'},
        {'op': number('FS', 'CHOWN'), 'offset': 2 ** 64 - 1, 'requested': 2 ** 64 - 1, 'path': 1, 'pid': 7, 'comm': 'c'},
        {'op': FS['READ'], 'result': 5, 'requested': 5, 'path': 77, 'sample': 16, 'pid': 7, 'comm': 'cat'},
    ], True, ['/srv/a', '/srv/b\\040c'])
    found = [' '.join(line.split()[1:]) for line in lines('--count=7', 'd')]
    is_equal('directory', found, [
        'WHO LVL OP OFFSET BYTES RESULT TAKES PATH',
        'cat/7 VFS OPEN - - 3 1.00us /srv/a',
        'cat/7 VFS OPEN - - ENOENT 1.00us /srv/b c',
        'cat/7 VFS READ 0 4.00KiB 100B 2.00us /srv/a',
        'mv/8 VFS RENAME - - ok - /srv/a -> /srv/b c',
        'k/9 BLK BLOCK_WRITE s2048 4.00KiB ok - /srv/a',
        'c/7 VFS CHOWN - - ok - /srv/a',
        'cat/7 VFS READ 0 5B ok - x16 ?',
    ])


def of_category():
    stream('proc/paths', [], 'layout=2')
    with open('proc/net/control', 'w', encoding='ascii') as f:
        f.write('start\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
    stream('proc/net/stream', lines_of([
        {'op': 0, 'moved': 100, 'result': 100, 'latency': 5000, 'pid': 7, 'comm': 'curl', 'fd': 3, 'local': '192.0.2.1',
         'local_port': 4000, 'remote': '2001:db8::1', 'remote_port': 443},
    ]), 'layout=1', f'event={EVENTS["net"]}')
    found = lines('--count=1', 'net')
    assert 'local=192.0.2.1 local_port=4000 remote=2001:db8::1 remote_port=443' in found[1], found
    assert ' 5.00us ' in found[1] and ' curl/7 ' in found[1] and ' 100B ' in found[1], found


def selected():
    target('vda_1', '/srv/db', [
        {'op': 1, 'time': 5, 'latency': 5, 'pid': 7, 'comm': 'old'},
        # what began before, and ended after
        {'op': 1, 'time': 6, 'latency': T, 'pid': 7, 'comm': 'long'},
        {'op': 1, 'pid': 7, 'comm': 'dd', 'latency': 5000000},
        {'op': 0, 'pid': 8, 'comm': 'cat', 'latency': 7000},
        {'op': 2, 'pid': 8, 'comm': 'cat', 'latency': 6000000},
    ])

    def who(*options):
        return [line.split()[1] + ' ' + line.split()[3] for line in lines(*options, 'vda_1')[1:]]
    is_equal('all', who('--count=4'), ['long/7 WRITE', 'dd/7 WRITE', 'cat/8 READ', 'cat/8 FSYNC'])
    is_equal('op', who('--count=2', '--filter=op=read,fsync'), ['cat/8 READ', 'cat/8 FSYNC'])
    is_equal('both', who('--count=1', '--filter=min_latency=1ms', '--filter', 'pid=8'), ['cat/8 FSYNC'])
    is_equal('time', who('--time=0.3', '--filter=comm=none'), [])


# --- terminals ----------------------------------------------------------------------

NAMES = ['/srv/' + 'a' * 300, '/srv/' + '\u6f22' * 90 + 'b', '/srv/' + 'e\u0301' * 150, '/srv/' + '\\033' * 60,
         '/srv/x', '/srv/' + '\\377ab\u00e4' * 30, '/']


def widths():
    records = [{'op': FS['WRITE'], 'offset': 10 ** (3 * i), 'requested': 4096, 'result': 4096 if i % 2 else -5, 'pid': 10 ** i,
                'comm': 'c' * (2 * i), 'latency': 10 ** (2 * i), 'path': i + 1, 'path2': (i + 1) * (i == 3)} for i in range(len(NAMES))]
    records.append({'op': number('FS', 'COPY_FILE_RANGE'), 'pid': 4194304, 'comm': '\\346\\274\\242' * 5, 'path': 1, 'path2': 2,
                    'requested': 2 ** 63, 'offset': 2 ** 62, 'latency': 2 ** 40})
    target('d', '/srv', records, True, NAMES)
    count = f'--count={len(records)}'
    whole = lines(count, 'd')
    for name in NAMES:
        assert any(line.endswith(' ' + name) for line in whole), (name, whole)
    for columns in [*range(31, 150), 200, 400]:
        text = SGR.sub('', on_terminal(count, 'd', columns=columns))
        shown = text.splitlines()
        is_equal('lines', len(shown), 1 + len(records))
        for line in shown:
            assert width(line) <= columns, (columns, width(line), line)
            # an escape is whole, or not there
            assert '\\' not in re.sub(r'\\[0-3][0-7][0-7]', '', line), (columns, line)
            if line.endswith('033'):
                assert re.search(r'(^| |\.\.\.|/srv/)(\\033)+$', line), (columns, line)
            # a mark stays with its letter
            assert not re.search('[^e]\u0301', line), (columns, line)
        if columns >= 80:
            # of a long path there is the end, and of that as much as there is room for
            path = shown[1].split()[-1]
            assert re.fullmatch(r'\.\.\.a+', path), path
            is_equal('full', width(shown[1]), columns)
    # a request of the block layer is known by its name where there is no level
    target('e', '/srv', [{'op': number('FS', 'BLOCK_WRITE'), 'path': 1, 'pid': 7}], True, ['/srv/a'])
    is_equal('short', [' BLK_WRITE ' in SGR.sub('', on_terminal('--count=1', 'e', columns=columns)) for columns in (80, 140)],
             [True, False])
    target('d', '/srv', records, True, NAMES)
    # the environment counts more than the terminal
    is_equal('COLUMNS', {width(line) > 80 for line in SGR.sub('', on_terminal(count, 'd', COLUMNS='300')).splitlines()[1:4]}, {True})
    # a locale without these characters
    text = on_terminal(count, 'd', columns=100, LC_ALL='C')
    assert text.isascii() and '???' in text, text


def hostile():
    evil = '/srv/\\033[2J\\012\\015\\342\\200\\250\\302\\233x\\377\\134'
    records = [
        {'op': FS['WRITE'], 'path': 1, 'pid': 7, 'comm': '\\033[31m\\012', 'result': -4095, 'requested': 2 ** 64 - 1, 'offset': 2 ** 64 - 1},
        {'op': 65535, 'path': 2 ** 64 - 1, 'path2': 2 ** 63, 'pid': 2 ** 32 - 1, 'comm': 'x' * 16, 'result': -2 ** 63, 'kind': 65535,
         'latency': 2 ** 63, 'sample': 2 ** 32 - 1},
        {'op': number('FS', 'BLOCK_READ'), 'address': 2 ** 64 - 1, 'result': 2 ** 63 - 1},
    ]
    target('d', '/srv', records, True, [evil])
    for sent in '\n'.join(lines('--count=3', 'd')), SGR.sub('', on_terminal('--count=3', 'd', columns=120)):
        is_equal('controls', [c for c in sent if unicodedata.category(c) in ('Cc', 'Zl', 'Zp') and c != '\n'], [])
        is_equal('lines', len(sent.strip().splitlines()), 4)
    assert '/srv/\\033[2J\\012\\015\\342\\200\\250\\302\\233x\\377\\134' in '\n'.join(lines('--count=3', 'd'))
    stream('proc/paths', [], 'layout=2')
    for name in EVENTS:
        with open(f'proc/{name}/control', 'w', encoding='ascii') as f:
            f.write('start\nsize 16384\nsample 1\nmode overwrite\nfilter none\n')
        line = 'seq=0 time={} op={} any=1 name=\\033x value=\\033x comm=\\033y reason=\\012 level=99 option=99 opcode=200\n'
        stream(f'proc/{name}/stream', [line.format(T, op).replace('seq=0', f'seq={i}') for i, op in enumerate([0, 1, 2, 200])],
               'any=1', 'layout=1', f'event={EVENTS[name]}')
        found = lines('--count=4', name)
        is_equal(name, len(found), 5)
        assert '\033' not in ''.join(found), found


def colors():
    target('vda_1', '/srv/db', [{'op': 0, 'pid': 7, 'latency': 5}, {'op': 1, 'pid': 7, 'latency': 10 ** 7},
                                {'op': 2, 'pid': 7, 'result': -5, 'latency': 10 ** 8}])
    for sent in on_terminal('--count=3', 'vda_1'), '\n'.join(lines('--count=3', '--color=always', 'vda_1')):
        assert '\033[32mREAD\033[0m' in sent and '\033[33mWRITE\033[0m' in sent and '\033[1;31mEIO\033[0m' in sent, sent
        assert '\033[33m10.0ms\033[0m' in sent and '\033[1;31m100ms\033[0m' in sent and '\033[1mTIME\033[0m' in sent, sent
    for sent in (on_terminal('--count=3', 'vda_1', NO_COLOR='1'), on_terminal('--count=3', 'vda_1', TERM='dumb'),
                 on_terminal('--count=3', '--color=never', 'vda_1'), '\n'.join(lines('--count=3', 'vda_1'))):
        assert '\033' not in sent, sent


def heads():
    target('vda_1', '/srv/db', [{'op': 0, 'pid': 7}] * 30)
    is_equal('pipe', [i for i, line in enumerate(lines('--count=30', 'vda_1')) if line.startswith('TIME')], [0])
    sent = on_terminal('--count=30', 'vda_1', rows=10, NO_COLOR='1').splitlines()
    # a screen of ten lines: nine of events, and the one that names the columns
    is_equal('terminal', [i for i, line in enumerate(sent) if line.startswith('TIME')], [0, 10, 20, 30])


# --- losses -------------------------------------------------------------------------

def start(*options):
    return subprocess.Popen(['iotracer', 'watch', *options], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def lost():
    event = {'op': 1, 'pid': 7, 'comm': 'dd'}
    # what was lost before is not said
    target('d', '/srv', [{**event, 'seq': 5, 'gap': 5}], True)
    process = start('d')
    process.stdout.readline()
    assert ' dd/7 ' in process.stdout.readline()
    append('d', [{**event, 'seq': 9, 'gap': 3, 'time': T}])
    is_equal('lost', process.stdout.readline(), '-- 3 events were lost: overwritten before they could be read\n')
    assert ' dd/7 ' in process.stdout.readline()
    missed('d', 4)
    is_equal('missed', process.stdout.readline(), '-- 4 events were missed: the kernel could not follow the calls\n')
    process.send_signal(signal.SIGTERM)
    is_equal('end', (process.communicate(timeout=60), process.returncode), (('', ''), 0))
    # so it is of a file
    target('vda_1', '/srv/db', [{**event, 'seq': 5}])
    process = start('vda_1')
    process.stdout.readline()
    process.stdout.readline()
    append('vda_1', [{**event, 'seq': 8, 'gap': 2, 'time': T}], False)
    is_equal('lost', process.stdout.readline(), '-- 2 events were lost: overwritten before they could be read\n')
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    is_equal('end', process.returncode, 0)


def category():
    stream('proc/paths', [], 'layout=2')
    stream('proc/fs/stream', '', 'layout=1', f'event={EVENTS["fs"]}')
    process = start('--filter=comm=dd', '--filter=op=WRITE,NONE', '--filter=path=/srv', 'fs')
    out, err = process.communicate(timeout=60)
    is_equal('unknown', (out, process.returncode, err.count('\n')), ('', 2, 1))
    with open('proc/fs/control', encoding='ascii') as f:
        is_equal('untouched', len(f.read().splitlines()), 5)
    process = start('--filter=comm=dd', '--filter=op=WRITE', '--count=1', 'fs')
    while True:
        with open('proc/fs/control', encoding='ascii') as f:
            if 'start while-read' in f.read():
                break
        time.sleep(0.01)
    append('fs', [{'seq': 0, 'time': T, 'op': FS['READ'], 'pid': 7, 'comm': 'dd'},
                  {'seq': 1, 'time': T, 'op': FS['WRITE'], 'pid': 7, 'comm': 'dd'}])
    out, err = process.communicate(timeout=60)
    is_equal('lines', [line.split()[3] for line in out.splitlines()[1:]], ['WRITE'])
    with open('proc/fs/control', encoding='ascii') as f:
        commands = f.read().splitlines()[5:]
    is_equal('commands', commands, [
        'filter comm=dd op=WRITE', 'sample 1', 'mode overwrite', 'reset', 'start while-read',
        'stop', 'size 16384', 'sample 1', 'mode overwrite', 'filter none'])


def mistakes():
    with open('proc/control', 'w', encoding='ascii'):
        pass
    one = 'say one thing to watch: FILE, CATEGORY, --pid, --comm, --cgroup, --unit, --container or --vm'
    for options, status, text in [
            ([], 2, 'watch: ' + one), (['--pid=1', '--comm=x'], 2, one), (['--vm=x', 'f'], 2, one),
            (['a', 'b'], 2, 'one thing at a time'), ([''], 2, 'the name of the file is empty'),
            (['--pid=1', '--inode'], 2, 'go with FILE'), (['--count=0', 'f'], 2, '--count=0'),
            (['--time=0', 'f'], 2, '--time=0'), (['--filter=nothing=1', 'f'], 2, 'nothing'),
            (['--filter=op=NOTHING', 'f'], 2, 'no category has an operation "NOTHING"'),
            (['--vm=none-of-this-name'], 1, 'no VM with this name or PID runs here')]:
        done = watch(*options, status=status)
        is_equal('stdout', done.stdout, '')
        assert text in done.stderr.splitlines()[0], (options, done.stderr)
    for options in ['f'], ['fs'], ['--pid=1']:
        done = watch(*options, status=3, IOTRACER_PROC='/none')
        is_equal('one line', done.stderr.count('\n'), 1)


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
