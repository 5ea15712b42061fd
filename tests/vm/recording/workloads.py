# SPDX-License-Identifier: GPL-2.0
"""
The tests of workloads.bats. Usage: python3 workloads.py machine|command WORKLOAD

A day's work is recorded, and its sums are compared with what others count: the calls that
strace shows, /proc/<pid>/io and getrusage of the process and of the children it waited for,
/proc/diskstats and blktrace of the disk. The differences that the manual lists under COUNTS
OF OTHERS are taken into account here, and no others: the rest must be equal.

"machine" records the whole machine. "command" records the process and what it starts, while
strace follows them. The process that does the work reads its /proc/<pid>/io before and after
it. Both reads are in the trace and in strace's log; what is between them is compared.
"""
import collections
import contextlib
import csv
import errno
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from lib.kernel import VERSION
from lib.places import TOP
from lib.process import is_in, POLL

HOME = '/mnt/disk'
DISK = 'vda'
FILES = f'{TOP}/module/compat' # dozens
RECORD = ['iotracer', 'record', '-c', 'fs,block,cache,fault', '-f', 'kind=all',
          '-f', 'cache:op=DIRTY,READAHEAD', '--buffer=64', '--compress=never', '--strict']
SECTOR = 512
PAGE = 4096
POSTGRES = 'postgres'
FIGURES = '/tmp/day/figures'
STRACE = '/tmp/day/strace'


@contextlib.contextmanager
def running(argv, is_ready, **options):
    """Run a program: the body begins when the program is ready, and ends it by SIGINT."""
    with subprocess.Popen(argv, **options) as process:
        try:
            while not is_ready(process):
                if process.poll() is not None:
                    sys.exit(f'{argv[0]} has ended with {process.returncode}')
                time.sleep(0.1)
            yield process
        finally:
            process.send_signal(signal.SIGINT)

# --- the work ------------------------------------------------------------------------------------


def do(*argv, **options):
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, **options)


def sqlite():
    script = ['create table t (n integer primary key, text);']
    for mode in 'delete', 'wal':
        script.append(f'pragma journal_mode={mode};')
        for transaction in range(5):
            script += ['begin;', *(f"insert into t(text) values ('{n * 99991}');"
                                   for n in range(transaction, transaction + 100)), 'commit;']
    script += ['pragma wal_checkpoint(truncate);', 'select sum(length(text)) from t;', 'vacuum;']
    do('sqlite3', 'db', input='\n'.join(script).encode())


def as_postgres(*argv):
    return ['setpriv', '--reuid=' + POSTGRES, '--regid=' + POSTGRES, '--clear-groups', *argv]


def postgresql_program(name):
    return sorted(glob.glob('/usr/lib/postgresql/*/bin/' + name))[-1]


def before_postgresql():
    os.chmod(HOME, 0o777)
    os.chmod('.', 0o777)
    do(*as_postgres(postgresql_program('initdb'), '-D', 'pg', '-A', 'trust', '--no-sync',
                    '--locale=C', '-E', 'UTF8'))


def postgresql():
    options = ('listen_addresses=', 'unix_socket_directories=' + os.getcwd(),
               'shared_buffers=8MB', 'wal_buffers=1MB', 'logging_collector=off')
    server = subprocess.Popen(as_postgres(
        postgresql_program('postgres'), '-D', 'pg', *(w for o in options for w in ('-c', o))),
        stderr=subprocess.DEVNULL)
    psql = [postgresql_program('psql'), '-qX', '-h', os.getcwd(), '-U', POSTGRES, '-v',
            'ON_ERROR_STOP=1']
    while subprocess.run(psql + ['-c', 'select 1'], check=False, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL).returncode:
        time.sleep(0.5)
    do(*psql, input=b"""
        create table t (n int primary key, text text);
        insert into t select n, md5(n::text) from generate_series(1, 3000) n;
        update t set text = text || n where n % 3 = 0;
        checkpoint;
        delete from t where n % 5 = 0;
        select count(*), sum(length(text)) from t;
        vacuum full t;
        """)
    server.send_signal(signal.SIGINT)
    server.wait()


def git():
    quiet = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'gc.auto=0', '-c', 'core.fsync=all']
    do('git', 'init', '-q', 'repository')
    do('cp', '-r', FILES, 'repository/files')
    for words in ('add', '.'), ('commit', '-qm', 'first'), ('mv', 'files', 'moved'), \
            ('commit', '-qam', 'second'), ('gc', '-q'), ('status', '-s'), ('log', '-p'):
        do('git', '-C', 'repository', *quiet, *words)
    do('git', 'clone', '-q', '--no-hardlinks', 'repository', 'clone')


def fio():
    common = ['fio', '--thread=0', '--size=2M', '--bs=4k-64k', '--rw=randrw', '--output=/dev/null',
              '--fallocate=none', '--disable_lat=1']
    do(*common, '--name=psync', '--ioengine=psync', '--fsync=8')
    do(*common, '--name=vectors', '--ioengine=pvsync2', '--numjobs=2', '--end_fsync=1')
    do(*common, '--name=mapped', '--ioengine=mmap')
    do(*common, '--name=aio', '--ioengine=libaio', '--direct=1', '--iodepth=8')
    do(*common, '--name=uring', '--ioengine=io_uring', '--direct=1', '--iodepth=8')
    do(*common, '--name=uring2', '--ioengine=io_uring', '--iodepth=4')


def rsync():
    do('rsync', '-a', FILES + '/', 'copy')
    with open('copy/compat.h', 'r+b') as f:
        f.write(b'changed')
    do('rsync', '-a', '--checksum', '--delete', FILES + '/', 'copy')
    do('rsync', '-a', '--inplace', '--fsync', 'copy/', 'again')


def stress_ng(*more):
    do('stress-ng', '-q', '--temp-path', '.', '--oomable', *more,
       '--copy-file', '1', '--copy-file-ops', '3', '--copy-file-bytes', '128M', '--sendfile', '1',
       '--sendfile-ops', '5', '--sendfile-size', '256K', '--splice', '1', '--splice-ops', '20',
       '--splice-bytes', '64K', '--pipe', '1', '--pipe-ops', '500', '--rename', '1',
       '--rename-ops', '50', '--dentry', '1', '--dentry-ops', '100', '--dentries', '50',
       '--seek', '1', '--seek-ops', '50', '--seek-size', '1M')


def stress_ng_rejected():
    """Also make rejected calls. Vectored ones count in syscr, and only strace shows them."""
    stress_ng('--hdd', '1', '--hdd-ops', '100', '--hdd-bytes', '4M')


WORK = {'sqlite': sqlite, 'postgresql': postgresql, 'git': git, 'fio': fio, 'rsync': rsync,
        'stress_ng': stress_ng, 'stress_ng_rejected': stress_ng_rejected}
BEFORE = {'postgresql': before_postgresql}

# --- the process that does the work --------------------------------------------------------------


def strace(prefix):
    """Follow this process and all that it starts. Ready once a call of it is in the log."""
    own = f'{prefix}.{os.getpid()}'
    return running(['strace', '-qqff', '-s', '0', '-o', prefix, '-p', str(os.getpid())],
                   lambda _: os.path.exists(own) and os.path.getsize(own))


def rusage():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                         resource.RUSAGE_CHILDREN))
    return {name: getattr(own, name) + getattr(children, name)
            for name in ('ru_inblock', 'ru_oublock', 'ru_minflt', 'ru_majflt')}


def parsed(text):
    return {name: int(value) for name, value in re.findall(rb'(\w+): (\d+)', text)}


def counted(name, fd):
    """Do the work between two reads of @fd, /proc/self/io. Return: what the kernel counted."""
    with open('/proc/self/stat', encoding='ascii') as f:
        os.pread(f.fileno(), 10, 0) # brings the code for this into memory
    rusage()
    before = rusage()
    io_before = os.pread(fd, 4096, 0)
    WORK[name]()
    io_after = os.pread(fd, 4096, 0)
    counts = {key: value - before[key] for key, value in rusage().items()}
    was = parsed(io_before)
    counts.update({key.decode(): value - was[key] for key, value in parsed(io_after).items()})
    return counts


def work(name, prefix=None):
    """Do the work, and write its counts and the pids of this process and strace to FIGURES."""
    with strace(prefix) if prefix else contextlib.nullcontext() as tracer, \
            open('/proc/self/io', encoding='ascii') as io:
        figures = {'pid': os.getpid(), 'fd': io.fileno(), 'strace': tracer.pid if tracer else 0,
                   'counts': counted(name, io.fileno())}
        with open(FIGURES, 'w', encoding='ascii') as f:
            json.dump(figures, f)

# --- what was recorded ---------------------------------------------------------------------------


def rows(category):
    for name in glob.glob(f'/tmp/day/export/{category}/*.csv'):
        with open(name, newline='', encoding='utf-8', errors='surrogateescape') as f:
            yield from csv.DictReader(f)


def flags(row):
    return set(row['flags'].split('|'))


def is_mark(row, figures):
    return row['op'] == 'READ' and int(row['pid']) == figures['pid'] and \
        row['path'].endswith(f'/{figures["pid"]}/io')


class Trace:
    """The rows of each category that belong to the work, and all rows of block."""

    def __init__(self, figures):
        everything = {c: sorted(rows(c), key=lambda r: int(r['time_ns']))
                      for c in ('fs', 'block', 'cache', 'fault')}
        marks = [int(r['time_ns']) for r in everything['fs'] if is_mark(r, figures)]
        if len(marks) != 2:
            raise AssertionError(f'not two reads of /proc/self/io, but at {marks}')
        self.pids = {figures['pid']}
        for r in everything['fs']:
            if int(r['ppid']) in self.pids and int(r['pid']) != figures['strace']:
                self.pids.add(int(r['pid']))
        self.all_block = everything['block']
        for category, all_rows in everything.items():
            setattr(self, category, [r for r in all_rows if int(r['pid']) in self.pids and
                                     marks[0] <= int(r['time_ns']) < marks[1]])


class Compared:
    """Compares pairs of counts, and collects those that differ."""

    def __init__(self):
        self.wrong = []

    def equal(self, what, ours, theirs):
        print(f'{what}: {ours} {theirs}' if not isinstance(ours, dict) else
              f'{what}: {sum(ours.values())} {sum(theirs.values())}')
        if ours != theirs:
            self.wrong.append((what, (ours - theirs, theirs - ours)
                               if isinstance(ours, dict) else (ours, theirs)))

    def within(self, what, least, theirs, most):
        print(f'{what}: {least} to {most} {theirs}')
        if not least <= theirs <= most:
            self.wrong.append((what, ((least, most), theirs)))

    def finish(self):
        for what, difference in self.wrong:
            print(f'{what} differ: ours and theirs, or the surplus of each: {difference}')
        if self.wrong:
            sys.exit(1)


def total(items):
    return sum(max(int(r['result']), 0) for r in items)


def read_from_network(trace):
    """Bytes read from a network filesystem, here 9p: no block device has requests for them."""
    local = {r['inode'] for r in trace.all_block if r['op'] == 'READ'}
    return PAGE * sum(int(r['pages']) for r in trace.cache if r['op'] == 'READAHEAD' and
                      r['device'].startswith('0:') and r['inode'] not in local)


def beside_proc_io(trace, counts, rejected, compared):
    """
    /proc/<pid>/io counts system calls, and the kernel's own reads for exec. It counts
    sendfile and copy_file_range as a read and a write, and does not count io_submit and
    io_uring. rejected: how many vectored calls were rejected, which it counts too, by the
    last letter of syscr and syscw.
    """
    both = [r for r in trace.fs if r['op'] == 'SENDFILE' and int(r['result']) >= 0 or
            r['op'] == 'COPY_FILE_RANGE' and int(r['result']) > 0]
    inner = {'SENDFILE', 'COPY', 'SPLICE', 'NFSD', 'URING', 'AIO'}
    for name, ops in ('r', ('READ', 'DIO_READ')), ('w', ('WRITE', 'DIO_WRITE')):
        calls = both + [r for r in trace.fs if r['op'] in ops and not flags(r) & inner]
        compared.equal('sysc' + name, len(calls) + rejected[name], counts['sysc' + name])
        compared.equal(name + 'char', total(calls), counts[name + 'char'])
    reads = sum(int(r['requested_bytes']) for r in trace.block if r['op'] == 'READ' and
                'ORIGINATOR' not in flags(r))
    network = read_from_network(trace)
    if VERSION < (6, 13):
        compared.equal('read_bytes', reads + network, counts['read_bytes'])
        compared.equal('ru_inblock', (reads + network) // SECTOR, counts['ru_inblock'])
    else:
        # The task that collects a reply of the network, perhaps a worker, is charged for it,
        # and for its bytes, not for its pages (netfs_read_collection()).
        for name, unit in ('read_bytes', 1), ('ru_inblock', SECTOR):
            compared.within(name, reads // unit, counts[name], (reads + network) // unit)
    dirty = PAGE * sum(int(r['pages']) for r in trace.cache if r['op'] == 'DIRTY')
    direct = total(r for r in trace.fs if r['op'] == 'DIO_WRITE' and r['kind'] != 'pipe')
    compared.equal('write_bytes', dirty + direct, counts['write_bytes'])
    compared.equal('ru_oublock', (dirty + direct) // SECTOR, counts['ru_oublock'])
    major = sum(r['severity'] == 'MAJOR' for r in trace.fault)
    compared.equal('ru_majflt', major, counts['ru_majflt'])
    minor = sum(r['severity'] == 'MINOR' for r in trace.fault)
    compared.equal('ru_minflt, at most', min(minor, counts['ru_minflt']), minor)


# --- strace --------------------------------------------------------------------------------------

CALLS = {
    'READ': 'read pread64 readv preadv preadv2', 'WRITE': 'write pwrite64 writev pwritev pwritev2',
    'OPEN': 'open openat openat2 creat', 'CLOSE': 'close', 'FSYNC': 'fsync',
    'FDATASYNC': 'fdatasync', 'TRUNCATE': 'truncate ftruncate',
    'RENAME': 'rename renameat renameat2',
    'LINK': 'link linkat', 'SYMLINK': 'symlink symlinkat', 'MKDIR': 'mkdir mkdirat',
    'READLINK': 'readlink readlinkat', 'READDIR': 'getdents getdents64',
    'GETATTR': 'stat lstat fstat newfstatat statx', 'ACCESS': 'access faccessat faccessat2',
    'FALLOCATE': 'fallocate', 'FADVISE': 'fadvise64', 'SENDFILE': 'sendfile', 'SPLICE': 'splice',
    'COPY_FILE_RANGE': 'copy_file_range', 'SYNC_FILE_RANGE': 'sync_file_range',
    'CHMOD': 'chmod fchmod fchmodat', 'CHOWN': 'chown lchown fchown fchownat',
    'UTIMENS': 'utimensat', 'PROCESS_EXEC': 'execve execveat', 'STATFS': 'statfs fstatfs',
    'UNLINK': 'unlink', 'RMDIR': 'rmdir', 'SYNC': 'sync', 'SYNCFS': 'syncfs',
}
OPS = {call: op for op, calls in CALLS.items() for call in calls.split()}
SAME = {'DIO_READ': 'READ', 'DIO_WRITE': 'WRITE', 'CREATE': 'OPEN'}
RESTART = {'ERESTARTSYS': 512, 'ERESTARTNOINTR': 513, 'ERESTARTNOHAND': 514}
LINE = re.compile(r'(\w+)\((.*)\) += (\?|-?\d+)(?: (E\w+))?')


def op_of(name, arguments):
    if name == 'unlinkat':
        return 'RMDIR' if arguments.endswith('AT_REMOVEDIR') else 'UNLINK'
    return OPS.get(name)


def call_of(line):
    """Return: operation and result. The result is None if the process was killed in the call."""
    m = LINE.match(line)
    if not m:
        name = re.match(r'\w+', line)
        return op_of(name[0] if name else '', ''), None
    number = RESTART.get(m[4]) or getattr(errno, m[4] or '', None)
    if m[3] == '?' and not number:
        return op_of(m[1], m[2]), None
    return op_of(m[1], m[2]), -number if number else int(m[3])


def strace_lines(prefix, figures):
    for name in glob.glob(prefix + '.*'):
        with open(name, encoding='utf-8', errors='surrogateescape') as f:
            lines = f.read().splitlines()
        if name == f'{prefix}.{figures["pid"]}':
            marks = [n for n, line in enumerate(lines)
                     if line.startswith(f'pread64({figures["fd"]}, ')]
            lines = lines[marks[0]:marks[-1]]
        yield from lines


REJECTED = [-getattr(errno, name) for name in ('EBADF', 'EINVAL', 'EOPNOTSUPP', 'ESPIPE', 'EFAULT')]
VECTORED = re.compile(r'p?(read|write)v2?\(.*\) += -1 (EBADF|EOPNOTSUPP)')


def rejected_vectored(prefix, figures):
    found = (VECTORED.match(line) for line in strace_lines(prefix, figures))
    return collections.Counter(m[1][0] for m in found if m)


def beside_strace(trace, prefix, figures, compared):
    ours, theirs = collections.defaultdict(collections.Counter), \
        collections.defaultdict(collections.Counter)
    for r in trace.fs:
        if not flags(r) & {'KERNEL', 'URING', 'AIO'}:
            ours[SAME.get(r['op'], r['op'])][int(r['result'])] += 1
    closes_others = False
    killed = collections.Counter()
    for line in strace_lines(prefix, figures):
        op, result = call_of(line)
        if result is None:
            killed[op] += 1
        elif op:
            theirs[op][result] += 1
        closes_others = closes_others or re.match('close_range|dup2|dup3', line)
    for op in 'READ', 'WRITE': # the VFS may reject a call before it calls the file
        for result in REJECTED:
            theirs[op][result] = min(theirs[op][result], ours[op][result])
    if closes_others:
        theirs['CLOSE'][0] = max(theirs['CLOSE'][0], ours['CLOSE'][0])
    for op in CALLS:
        for result, more in (ours[op] - theirs[op]).items():
            more = min(more, killed[op]) # the call may have been done before the kill
            theirs[op][result] += more
            killed[op] -= more
        compared.equal(op, ours[op], theirs[op])


# --- the disk ------------------------------------------------------------------------------------


def diskstats():
    with open('/proc/diskstats', encoding='ascii') as f:
        line = next(words for words in map(str.split, f) if words[2] == DISK)
    n = list(map(int, line[3:]))
    return {'READ': (n[0], n[2] * SECTOR), 'WRITE': (n[4], n[6] * SECTOR),
            'DISCARD': (n[11], n[13] * SECTOR), 'FLUSH': (n[15], 0)}


def of_disk(trace):
    return [r for r in trace.all_block if r['disk'] == DISK]


def op_of_disk(row):
    """The operation as diskstats and blktrace name it: WRITE_ZEROES is a write."""
    return row['op'].split('_')[0]


def beside_diskstats(trace, before, after, compared):
    for op, (requests, size) in after.items():
        results = [int(r['result']) for r in of_disk(trace) if op_of_disk(r) == op]
        compared.equal(f'{op} requests', len(results), requests - before[op][0])
        compared.equal(f'{op} bytes', sum(results), size - before[op][1])


RWBS = {'R': 'READ', 'W': 'WRITE', 'D': 'DISCARD', 'F': 'FLUSH'}


def blkparse(path):
    """Count the completed requests by operation, sector and bytes."""
    text = subprocess.run(['blkparse', '-q', '-a', 'complete', '-f', '%a %d %S %N\n', '-i', path],
                          check=True, stdout=subprocess.PIPE, encoding='ascii').stdout
    done = collections.Counter()
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ['C']:
            op = 'FLUSH' if words[1] == 'FN' else RWBS[words[1].lstrip('F')[0]]
            done[op, int(words[2]), int(words[3])] += 1
    return done


def beside_blktrace(trace, path, compared):
    """A write that the kernel follows with a flush completes twice, then with no bytes."""
    ours = collections.Counter()
    for r in of_disk(trace):
        op = op_of_disk(r)
        ours[op, int(r['sector']), int(r['result'])] += 1
        if {'FUA', 'FLUSH_SEQ'} <= flags(r):
            ours[op, int(r['sector']), 0] += 1
    compared.equal('completed requests', ours, blkparse(path))

# --- machine and command -------------------------------------------------------------------------


def all_are_on(_):
    return all(map(category_is_on, ('fs', 'block', 'cache', 'fault')))


def blktrace_is_on(process):
    """
    The threads of blktrace poll once they are released. Then the main thread starts the
    trace, and waits for them. See run_tracers() and thread_main() of blktrace.
    """
    threads = os.listdir(f'/proc/{process.pid}/task')
    return any(is_in(tid, *POLL) for tid in threads) and \
        is_in(process.pid, 'futex_')


def category_is_on(name):
    with open(f'/proc/iotracer/{name}/control', encoding='ascii') as f:
        return any(line.startswith('start') for line in f)


def prepare(name):
    shutil.rmtree('/tmp/day', ignore_errors=True)
    shutil.rmtree(HOME + '/day', ignore_errors=True)
    os.mkdir('/tmp/day')
    os.mkdir(HOME + '/day')
    os.chdir(HOME + '/day')
    BEFORE.get(name, lambda: None)()
    os.sync()
    with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as f:
        f.write('3')


def export():
    """Return: the work's part of the trace, and the FIGURES that its process wrote."""
    subprocess.run(['iotracer', 'export', '/tmp/day/trace', '-o', '/tmp/day/export'], check=True)
    with open(FIGURES, encoding='ascii') as f:
        figures = json.load(f)
    return Trace(figures), figures


def me(*words):
    return [sys.executable, '-S', '-s', os.path.abspath(__file__), *words]


def machine(name):
    prepare(name)
    compared = Compared()
    recorder = running(RECORD + ['-o', '/tmp/day/trace'], all_are_on)
    blktrace = running(['blktrace', '-d', '/dev/' + DISK, '-D', '/tmp/day', '-o', 'blk'],
                       blktrace_is_on, stdout=subprocess.DEVNULL)
    with recorder, blktrace:
        before = diskstats()
        do(*me('work', name))
        os.sync()
        after = diskstats()
    trace, figures = export()
    beside_proc_io(trace, figures['counts'], {'r': 0, 'w': 0}, compared)
    beside_diskstats(trace, before, after, compared)
    beside_blktrace(trace, '/tmp/day/blk', compared)
    compared.finish()


def command(name):
    prepare(name)
    compared = Compared()
    # The disk is not compared here, and nothing writes back what stays dirty: do not wait.
    do(*RECORD, '--drain=0', '-o', '/tmp/day/trace', '--', *me('work', name, STRACE))
    trace, figures = export()
    beside_proc_io(trace, figures['counts'], rejected_vectored(STRACE, figures), compared)
    beside_strace(trace, STRACE, figures, compared)
    compared.finish()


if __name__ == '__main__':
    {'machine': machine, 'command': command, 'work': work}[sys.argv[1]](*sys.argv[2:])
