# SPDX-License-Identifier: GPL-2.0
"""Processes that tests start and watch."""
import os
import time


def spawn(function, *args):
    """Call it in a process of its own."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            function(*args)
            status = 0
        finally:
            os._exit(status)
    return pid


def stack(pid):
    """Functions of the kernel that a process or thread is in, if it sleeps."""
    with open(f'/proc/{pid}/stack', encoding='ascii') as f:
        return f.read()


def is_in(pid, function):
    return f' {function}+' in stack(pid)


def waits_in(pid, function):
    """Until a process sleeps in a function of the kernel, a minute at most."""
    deadline = time.monotonic() + 60
    while not is_in(pid, function):
        if time.monotonic() > deadline:
            raise TimeoutError(f'{pid} is not in {function} but in:\n{stack(pid)}')
        time.sleep(0.01)
