# SPDX-License-Identifier: GPL-2.0
"""
Run suites in a virtual machine, as scripts/check-vm starts it, and print TAP.

	runner.py run QUEUE [OPTION]...     the suites that QUEUE/todo names, until none is left
	runner.py suites [OPTION]...        print the suites for a kernel, a line each
	runner.py tests                     print the suites and their tests, a line each

  --once          also the tests that do not depend on the kernel
  --filter REGEX  only the tests whose names match
  --first N       the number of the first test
  --seconds N     for one test, after which all its processes are killed
  --machine NAME  of this machine
  --until-failure end with the first test that fails
  --until TIME    begin no suite after this time, in seconds since 1970
  --kernel NAME   which suites are printed: 6.1, 6.12, 6.12-rt, 6.12-kasan...

One interpreter imports each suite that it takes. A suite is a fork of it, and a test a fork of its suite, in a
session of its own. So a test costs neither the start of an interpreter nor that of a shell, which in
an emulated machine take longer than most tests.

Several machines may take suites from the same QUEUE, a directory that they share:

  todo/ORDER SUITE   a suite that nobody has begun. It is taken by renaming it to taken/SUITE, which
                     only one machine can do. What the file says is how many of its tests have run
  taken/SUITE        a suite that was begun: the names of its tests, a line each, if it is in Python
  done/SUITE         a line for each of its tests that has ended
  now/MACHINE        the suite that a machine has begun and not ended
  seconds            how long each suite took

After each test the machine has to be as before (see State): else the test has failed, and the rest
of its suite is put back, for another machine.
"""
import argparse
import ast
import contextlib
import glob
import importlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The exit status that asks for another machine. scripts/vm has 99 and above for itself.
NEXT_MACHINE = 75
# How many of the lines that a failed test has printed are shown, from the end.
SHOWN = 60


def file_tags(path):
    """The tags of a suite, or None if the file is none. It is not imported: that is for the guest."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if path.endswith('.bats'):
        return set(','.join(re.findall(r'^# bats file_tags=(.*)$', text, re.M)).split(',')) - {''}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], 'id', '') == 'SUITE':
            return set(*(ast.literal_eval(word.value) for word in node.value.keywords if word.arg == 'tags'))
    return None


def test_names(path):
    """The names of the tests of a suite, without importing it."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    if path.endswith('.bats'):
        return [name for _, name in re.findall(r'^@test (["\'])(.*?)\1 \{', text, re.M)]
    return [node.args[0].value for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and
            getattr(node.func.value, 'id', '') == 'SUITE' and node.func.attr in ('test', 'add') and
            isinstance(node.args[0], ast.Constant)]


def files(ending):
    """The files of tests/ and its folders, but for lib, that have this ending."""
    return sorted(path for path in glob.glob(f'tests/**/*{ending}', recursive=True)
                  if not path.startswith('tests/lib/'))


def suite_files():
    """The suites: path -> tags. A suite has a file name of its own, by which it is found in any folder."""
    found = {}
    for path in files('.bats') + files('.py'):
        tags = file_tags(path)
        if tags is not None:
            found[path] = tags
    return found


def path_of(name):
    """Where the suite with this file name is."""
    for path in files(name):
        if os.path.basename(path) == name:
            return path
    raise FileNotFoundError(f'no suite {name} in tests')


def find_modules():
    """Have Python find what is beside any suite, here and in programs that tests start."""
    folders = [TESTS] + sorted({os.path.dirname(os.path.abspath(path)) for path in files('.py')} - {TESTS})
    folders.append(os.path.join(os.path.dirname(TESTS), 'tools', 'python')) # iotracer.py
    sys.path[:0] = folders
    os.environ['PYTHONPATH'] = ':'.join(folders)


def load_suite(path):
    return importlib.import_module(os.path.basename(path)[:-len('.py')]).SUITE


def runs_on(tags, kernel):
    """Whether a suite runs on a kernel when none is named. The tags are those of scripts/check-vm."""
    kind = kernel.partition('-')[2]
    is_debug = kind in ('kasan', 'kcsan', 'kcfi')
    needed = {tag[len('debug:'):] for tag in tags if tag.startswith('debug:')}
    return not (tags & {'host', 'storm', 'slow'} or
                'once' in tags and not (kernel == '6.12' or is_debug) or
                'recent' in tags and (kernel == '6.1' or is_debug) or
                'plain' in tags and is_debug or
                needed and kind not in needed)


def processes():
    """Yield the number, name and session of each process that has not ended."""
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            try:
                with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as f:
                    head, _, tail = f.read().rpartition(')')
            except OSError:
                continue
            words = tail.split()
            if words[0] not in 'ZX':
                yield int(pid), head.partition('(')[2], int(words[3])


class State:
    """What a test has to leave as it was."""

    def __init__(self):
        self.now = {
            # The kernel mounts the last one itself when it is first used.
            'mounts': self.lines('/proc/self/mounts', 0, 2) - {'tracefs /sys/kernel/debug/tracing'},
            'devices': self.devices(),
            'parameters of the module': self.parameters(),
            'targets': self.lines('/proc/iotracer/control', 0, None),
            'categories that are started': self.started(),
            'processes': self.processes()}

    @staticmethod
    def lines(path, first, last):
        try:
            with open(path, encoding='utf-8', errors='surrogateescape') as f:
                return {' '.join(line.split()[first:last]) for line in f}
        except OSError:
            return set()

    @staticmethod
    def devices():
        found = {name for name in os.listdir('/sys/block') if name.startswith('dm-')}
        for path in glob.glob('/sys/block/loop*/loop/backing_file'):
            found.add(path.split('/')[3])
        return found

    @staticmethod
    def parameters():
        found = set()
        for path in glob.glob('/sys/module/iotracer/parameters/*'):
            try:
                with open(path, encoding='ascii') as f:
                    found.add(f'{os.path.basename(path)}={f.read().strip()}')
            except OSError:
                pass
        return found

    @staticmethod
    def started():
        found = set()
        for path in glob.glob('/proc/iotracer/*/control'):
            with open(path, encoding='ascii', errors='replace') as f:
                if f.readline() == 'start\n':
                    found.add(path.split('/')[3])
        return found

    @staticmethod
    def processes():
        """All but threads of the kernel, which have no executable."""
        found = set()
        for pid, name, _ in processes():
            with contextlib.suppress(OSError):
                os.readlink(f'/proc/{pid}/exe')
                found.add(f'{pid} {name}')
        return found

    def left(self, before):
        """What differs from the state before, in words; nothing if nothing does."""
        words = []
        for what, is_ in self.now.items():
            more, less = is_ - before.now[what], before.now[what] - is_
            # The module may have been loaded, or be gone: the next test loads it.
            if what == 'parameters of the module' and not (is_ and before.now[what]):
                continue
            if what == 'processes':
                less = set()
            if more:
                words.append(f'{what}: {", ".join(sorted(more))}')
            if less:
                words.append(f'{what}, gone: {", ".join(sorted(less))}')
        return '; '.join(words)


class KernelLog:
    """The kernel's messages, for what it reports as a fault: IOTRACER_FAULTS is a regular expression."""

    def __init__(self):
        self.faults = re.compile(os.environ.get('IOTRACER_FAULTS') or '(?!)')
        self.fd = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def new_faults(self):
        found = []
        while True:
            try:
                text = os.read(self.fd, 8192).decode('latin-1').split(';', 1)[1].split('\n')[0]
            except BlockingIOError:
                return found
            except BrokenPipeError: # lines that were overwritten; scripts/vm has the whole console
                continue
            if self.faults.search(text):
                found.append(text)


def kill_session(session):
    """Kill the processes of a session, until there are none."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = [pid for pid, _, of in processes() if of == session]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def wait_until(pid, seconds):
    """Wait for a child. Return: its exit status, or None if it has not ended in time."""
    fd = os.pidfd_open(pid)
    try:
        if not select.select([fd], [], [], seconds)[0]:
            return None
    finally:
        os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def say(number, name, ok, seconds, output=(), note=''):
    """A result. Names have no #, which begins a directive in TAP."""
    print(f'{"ok" if ok else "not ok"} {number} {name} in {round(seconds * 1000)}ms{note}')
    for line in output:
        print('# ' + line)
    sys.stdout.flush()


class Runner:
    """Runs suites and tests, and counts them."""

    def __init__(self, options):
        self.options = options
        self.number = options.first
        self.failed = False
        # Suites of bats need none, and not every machine lets them have it.
        self.log = None
        self.output = tempfile.TemporaryFile() # pylint: disable=consider-using-with

    def chosen(self, suite):
        return [test for test in suite.tests
                if (self.options.once or not test.once) and re.search(self.options.filter, test.name)]

    def in_child(self, function, seconds):
        """
        Call a function in a process with a session of its own.

        Return: whether it returned, why it was skipped, and the last lines that it printed.
        """
        from lib.suite import Skip # pylint: disable=import-outside-toplevel
        self.output.seek(0)
        self.output.truncate()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.setsid()
                os.dup2(self.output.fileno(), 1)
                os.dup2(self.output.fileno(), 2)
                function()
                status = 0
            except Skip as e:
                print(f'skip: {e}')
                status = 77
            except BaseException: # pylint: disable=broad-exception-caught
                traceback.print_exc()
            finally:
                try:
                    sys.stdout.flush()
                    sys.stderr.flush()
                finally:
                    os._exit(status)
        status = wait_until(pid, seconds)
        kill_session(pid)
        if status is None:
            wait_until(pid, 10)
        self.output.seek(0)
        lines = self.output.read().decode('utf-8', 'replace').splitlines()
        if status is None:
            lines.append(f'it has not ended after {seconds} seconds')
        elif status < 0:
            lines.append(f'it was killed by signal {-status}')
        reason = lines[-1].removeprefix('skip: ') if status == 77 and lines else None
        return status in (0, 77), reason, lines[-SHOWN:]

    @staticmethod
    def left_behind(before):
        """What differs from the state before. What ends on its own is given five seconds."""
        def expire(*_):
            raise TimeoutError('the state of the machine cannot be read')

        signal.signal(signal.SIGALRM, expire)
        signal.alarm(300)
        try:
            left = State().left(before)
            deadline = time.monotonic() + 5
            while left and time.monotonic() < deadline:
                time.sleep(0.1)
                left = State().left(before)
        except TimeoutError as e:
            left = str(e)
        signal.alarm(0)
        return left

    def run_test(self, suite, test, before):
        """Run a test and say its result. Return: whether the machine is as before."""
        began = time.monotonic()
        seconds = max(suite.seconds, self.options.seconds)
        ok, reason, lines = self.in_child(lambda: suite.run(test), seconds)
        if suite.after:
            tidied, _, more = self.in_child(suite.after, seconds)
            ok &= tidied
            lines += more
        left = self.left_behind(before)
        faults = self.log.new_faults()
        for fault in faults:
            lines.append(f'the kernel: {fault}')
        if left:
            lines.append(f'it left behind: {left}')
        ok = ok and not left and not faults
        self.failed |= not ok
        say(self.number, test.name, ok, time.monotonic() - began, () if ok else lines,
            f' # skip {reason}' if ok and reason is not None else '')
        self.number += 1
        return not left and not faults

    def run_python(self, path, skip, progress):
        """
        Run the tests of a suite behind the first @skip.

        @progress: called after each test
        Return: how many have run, and whether the machine can run another suite
        """
        suite = load_suite(path)
        tests = self.chosen(suite)[skip:]
        if not tests:
            return skip, True
        self.log = self.log or KernelLog()
        steps, suite_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(steps)
            os._exit(self.whole_suite(suite, tests, suite_end))
        os.close(suite_end)
        with os.fdopen(steps, 'rb', 0) as f:
            while step := f.read(1):
                self.failed |= step == b'F'
                self.number += 1
                skip += 1
                progress()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        kill_session(pid)
        return skip, status == 0

    def whole_suite(self, suite, tests, steps):
        """In the process of a suite: its set-up, its tests, and what ends it. Return: an exit status."""
        os.setsid()
        name = tests[0].functions[0].__module__
        try:
            if suite.setup:
                suite.setup()
        except Exception: # pylint: disable=broad-exception-caught
            lines = [f'the set-up of {name} failed'] + traceback.format_exc().splitlines()
            for test in tests:
                say(self.number, test.name, False, 0, lines)
                self.number += 1
                os.write(steps, b'F')
            return 1
        before, ended = State(), 0
        for test in tests:
            self.failed = False
            is_as_before = self.run_test(suite, test, before)
            os.write(steps, b'F' if self.failed else b'.')
            if not is_as_before:
                return 1
            if self.failed and self.options.until_failure:
                ended = 1
                break
        try:
            if suite.teardown:
                suite.teardown()
        except Exception: # pylint: disable=broad-exception-caught
            print(f'not ok - teardown of {name}')
            for line in traceback.format_exc().splitlines():
                print('# ' + line)
            sys.stdout.flush()
            return 1
        return ended

    def run_bats(self, path, progress):
        """Run a suite in bats, with its tests numbered as all others."""
        words = ['bats', '--timing', '--formatter', 'tap', '-f', self.options.filter]
        if not self.options.once:
            words += ['--filter-tags', '!once']
        planned = ran = 0
        more = {'BATS_TEST_TIMEOUT': str(self.options.seconds)}
        if self.options.until_failure:
            more['FAILED'] = '/tmp/failed' # the other tests are skipped: lib/helpers.bash
        with subprocess.Popen(words + [path], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              env=os.environ | more) as process:
            for line in process.stdout:
                line = line.decode('utf-8', 'replace').rstrip('\n')
                result = re.match(r'(not ok|ok) \d+ (.*)', line)
                plan = re.fullmatch(r'1\.\.(\d+)', line)
                if plan:
                    planned = int(plan[1])
                    continue
                if result:
                    line = f'{result[1]} {self.number} {result[2]}'
                    self.failed |= result[1] == 'not ok'
                    self.number += 1
                    ran += 1
                    progress()
                print(line, flush=True)
        if ran < planned:
            self.failed = True
            print(f'not ok - {path}: {planned} tests planned, {ran} run', flush=True)
        return True

    def run_queue(self, queue):
        """Run suites until none is left. Return: whether another machine has to go on."""
        for name in 'taken', 'done', 'now':
            os.makedirs(f'{queue}/{name}', exist_ok=True)
        while os.listdir(f'{queue}/todo'):
            if self.options.until and time.time() > self.options.until:
                print('# no time for other suites', flush=True)
                return False
            if not (taken := take(queue)):
                return False
            path, skip = taken
            began = time.monotonic()
            print(f'# suite {path}', flush=True)
            with open(f'{queue}/now/{self.options.machine}', 'w', encoding='utf-8') as f:
                f.write(path)

            def progress(path=path):
                with open(f'{queue}/done/{os.path.basename(path)}', 'a', encoding='utf-8') as f:
                    f.write('.\n')

            if path.endswith('.bats'):
                goes_on = self.run_bats(path, progress)
            else:
                names = [test.name for test in self.chosen(load_suite(path))]
                with open(f'{queue}/taken/{os.path.basename(path)}', 'w', encoding='utf-8') as f:
                    f.write(''.join(name + '\n' for name in names))
                skip, goes_on = self.run_python(path, skip, progress)
                if not goes_on and skip < len(names):
                    put_back(queue, path, skip)
            with open(f'{queue}/seconds', 'a', encoding='utf-8') as f:
                f.write(f'{os.path.basename(path)} {time.monotonic() - began:.1f}\n')
            os.unlink(f'{queue}/now/{self.options.machine}')
            if not goes_on:
                return True
        return False


def take(queue):
    """Take the first suite of the queue. Return: its path and how many of its tests have run, or None."""
    while names := sorted(os.listdir(f'{queue}/todo')):
        name = names[0].split(' ', 1)[1]
        mine = f'{queue}/taken/{name}'
        try:
            os.rename(f'{queue}/todo/{names[0]}', mine)
        except FileNotFoundError: # another machine was first
            continue
        with open(mine, encoding='utf-8') as f:
            return path_of(name), int(f.read() or 0)
    return None


def put_back(queue, path, skip):
    """Leave the rest of a suite to another machine, before all others."""
    name = f'{queue}/todo/000 {os.path.basename(path)}'
    with open(f'{queue}/back', 'w', encoding='utf-8') as f:
        f.write(str(skip))
    os.rename(f'{queue}/back', name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('action', choices=('run', 'suites', 'tests'))
    parser.add_argument('queue', nargs='?')
    parser.add_argument('--once', action='store_true')
    parser.add_argument('--filter', default='')
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--seconds', type=int, default=600)
    parser.add_argument('--kernel', default='')
    parser.add_argument('--machine', default='one')
    parser.add_argument('--until-failure', action='store_true')
    parser.add_argument('--until', type=int, default=None)
    options = parser.parse_args()
    # The top directory, in which suites find the tool and the module.
    os.chdir(os.path.dirname(TESTS))
    find_modules()
    if options.action == 'suites':
        print('\n'.join(path for path, tags in suite_files().items() if runs_on(tags, options.kernel)))
        return
    if options.action == 'tests':
        for path in suite_files():
            for name in test_names(path):
                print(path, name)
        return
    runner = Runner(options)
    another = runner.run_queue(options.queue)
    # Beside the status there is what waits in the queue.
    sys.exit(NEXT_MACHINE if another else int(runner.failed))


if __name__ == '__main__':
    main()
