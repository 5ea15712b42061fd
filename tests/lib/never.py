# SPDX-License-Identifier: GPL-2.0
"""Memory whose pages never arrive, or arrive when told (userfaultfd), and delete_module(2)."""
import ctypes
import errno
import fcntl
import mmap
import os
import struct

from lib.iot import is_true

LIBC = ctypes.CDLL(None, use_errno=True)
USERFAULTFD, DELETE_MODULE = 323, 176
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_COPY, MISSING = 0xc018aa3f, 0xc020aa00, 0xc028aa03, 1
PAGE = mmap.PAGESIZE


def never(fd, user_only=False):
    """
    Map one page of an empty file; an access to it waits for ever. With @user_only, which
    needs no privileges, only accesses in user mode do. Return: mapping, its address, and a
    descriptor to keep open.
    """
    os.ftruncate(fd, PAGE)
    uffd = LIBC.syscall(USERFAULTFD, os.O_CLOEXEC | user_only)
    is_true(uffd >= 0, os.strerror(ctypes.get_errno()))
    fcntl.ioctl(uffd, UFFDIO_API, bytearray(struct.pack('QQQ', 0xaa, 0, 0)))
    memory = mmap.mmap(fd, PAGE, mmap.MAP_SHARED)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    fcntl.ioctl(uffd, UFFDIO_REGISTER,
                bytearray(struct.pack('QQQQ', address, PAGE, MISSING, 0)))
    return memory, address, uffd


class Later:
    """A page of memory of this process that arrives when told. Until then its users wait."""

    def __init__(self):
        self.memory, self.address, self.uffd = never(os.memfd_create('later'))

    def arrive(self, data=b''):
        page = ctypes.create_string_buffer(data, PAGE)
        fcntl.ioctl(self.uffd, UFFDIO_COPY, bytearray(struct.pack(
            'QQQQq', self.address, ctypes.addressof(page), PAGE, 0, 0)))


def delete_module(name):
    """Unload a module. Return: 0 or the name of the error."""
    ret = LIBC.syscall(DELETE_MODULE, name, os.O_NONBLOCK)
    return 0 if ret == 0 else errno.errorcode[ctypes.get_errno()]
