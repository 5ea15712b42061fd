# SPDX-License-Identifier: GPL-2.0
"""Where things are, as absolute paths."""
import os

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(TESTS)
TOOL = f'{TOP}/tools/iotracer'
# The module's lists: of operations, flags, categories, events.
UAPI = f'{TOP}/module/uapi'
# The programs of tests/Makefile.
PROGRAMS = f'{TOP}/build/tests'
# What scripts/build-all made for the running kernel.
BUILD = f'{TOP}/build/{os.uname().release}'
# The modules of tests/hostile/ghost.
GHOSTS = f'{BUILD}/ghost'
