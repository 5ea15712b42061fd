# SPDX-License-Identifier: GPL-2.0
"""The running kernel."""
import os

VERSION = tuple(int(n) for n in os.uname().release.split('.')[:2])
