# SPDX-License-Identifier: GPL-2.0
"""The running kernel."""
import os

VERSION = tuple(int(n) for n in os.uname().release.split('.')[:2])

# Whether the kernel describes its types. Debug kernels do not.
HAS_BTF = os.path.exists('/sys/kernel/btf/vmlinux')
