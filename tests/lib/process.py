# SPDX-License-Identifier: GPL-2.0
"""Processes that tests start and watch."""
import ctypes
import os
import signal
import struct
import time
import traceback

def spawn(function, *args):
    """Call the function in a child. What it raises is printed. Return: its pid."""
    pid = os.fork()
    if pid == 0:
        finish(function, *args)
    return pid


def finish(function, *args):
    """Call the function and exit."""
    status = 1
    try:
        function(*args)
        status = 0
    except Exception: # pylint: disable=broad-exception-caught
        traceback.print_exc()
    finally:
        os._exit(status)


def become(uid):
    """Become that user, in the group of that number alone."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def spawn_as(uid, function, *args):
    """As spawn(), by that user."""
    def call():
        become(uid)
        function(*args)

    return spawn(call)


CLONE3 = 435


def with_number(number, function, *args):
    """Call the function in a process with this number, by the set_tid of clone3(2), and wait."""
    tid = ctypes.c_int(number)
    call = struct.pack('<11Q', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(tid), 1, 0)
    pid = ctypes.CDLL(None, use_errno=True).syscall(CLONE3, call, len(call))
    if pid == 0:
        finish(function, *args)
    if pid != number or os.waitpid(pid, 0)[1]:
        raise AssertionError(f'process {number} has failed, or is {pid}')


# Where poll(2) sleeps: kernels differ in what they inline.
POLL = 'do_sys_poll', 'poll_schedule_timeout'

# Where pause(3) sleeps: arm64 has no such system call, and its C library calls ppoll(2).
PAUSE = 'do_sys_pause', '__do_sys_pause', '__x64_sys_pause', 'sys_pause', *POLL

# Where a request waits for the answer of a FUSE server, likewise.
FUSE = 'request_wait_answer', '__fuse_simple_request'


def sleeps_in(pid):
    """
    The kernel function in which a process or thread sleeps, '0' if it does not sleep. Do not
    read /proc/<pid>/stack: 6.1 warns if it is read for a task that runs in a call which a
    kretprobe follows (rethook_find_ret_addr).
    """
    with open(f'/proc/{pid}/wchan', encoding='ascii') as f:
        return f.read()


def is_in(pid, *functions):
    """Whether a process sleeps in a function whose name begins with one of these."""
    return sleeps_in(pid).startswith(functions)


def waits_in(pid, *functions):
    """Wait until a process sleeps in one of these functions, five minutes at most."""
    deadline = time.monotonic() + 300
    while not is_in(pid, *functions):
        if time.monotonic() > deadline:
            raise TimeoutError(f'{pid} sleeps in {sleeps_in(pid)}, not in {functions}')
        time.sleep(0.01)
