# SPDX-License-Identifier: GPL-2.0
"""
What a suite in Python says about itself. lib/runner.py runs it in a virtual machine.

	SUITE = Suite(setup=files_and_disk, teardown=umount_files_and_disk, tags=('once',))

	@SUITE.test('poll and O_NONBLOCK')
	def polling():
		...
"""
import os

from lib.iot import run


class Skip(Exception):
    """A test that cannot run here, and why."""


class Test:
    """
    A test.

    @functions: without arguments, called one after the other, each with what cleans up after it
    @once: it does not depend on the kernel, or repeats another test with other values, so it runs on
    one kernel only
    """

    def __init__(self, name, functions, once):
        self.name = name
        self.functions = functions
        self.once = once


def reloads(function):
    """Of a test that leaves the module with other parameters: the module is unloaded after it."""
    function.reloads = True
    return function


class Suite:
    """
    A suite, the variable SUITE of its file.

    @setup, @teardown: called once, before the first and after the last test, in the process that all
    its tests are forked from
    @before: called in the process of each test
    @after: called after each test, also one that failed, when all processes of the test have ended
    @around: each function of a test is replaced by what this returns for it
    @seconds: a test is given this time at least
    @tags: those at the head of scripts/check-vm
    """

    def __init__(self, setup=None, teardown=None, before=None, after=None, around=None, seconds=0, tags=()):
        self.setup = setup
        self.teardown = teardown
        self.before = before
        self.after = after
        self.around = around
        self.seconds = seconds
        self.tags = tags
        self.tests = []

    def add(self, name, *functions, once=False):
        """Make a test of functions."""
        if any(test.name == name for test in self.tests):
            raise ValueError(f'two tests have the name {name!r}')
        self.tests.append(Test(name, functions, once or 'once' in self.tags))

    def test(self, name, once=False):
        """The function below is a test."""
        def decorate(function):
            self.add(name, function, once=once)
            return function
        return decorate

    def run(self, test):
        """Run one test, in its process."""
        os.umask(0o022)
        if self.before:
            self.before()
        for function in test.functions:
            run(self.around(function) if self.around else function, getattr(function, 'reloads', False))
