# SPDX-License-Identifier: GPL-2.0
"""
System calls by name, without the C library's wrappers: as a 64-bit program makes them,
as a 32-bit program does, and by io_uring. Each returns the kernel's result, an error as
a negative number.
"""
import ctypes
import mmap
import re
import struct


libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
HEADERS = '/usr/include/x86_64-linux-gnu/asm/unistd_%d.h'
NEWER = {'fchmodat2': 452}  # not in older headers


def numbers(bits):
    with open(HEADERS % bits) as f:
        found = re.findall(r'#define __NR_(\w+) (\d+)', f.read())
    return NEWER | {name: int(number) for name, number in found}


def argument(value):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return ctypes.c_char_p(value)
    if isinstance(value, int):
        return ctypes.c_long(value)
    return value


class Calls64:
    """x64.openat(...)"""

    def __init__(self):
        self.numbers = numbers(64)

    def __getattr__(self, name):
        number = self.numbers[name]

        def call(*args):
            result = libc.syscall(ctypes.c_long(number), *map(argument, args))
            return -ctypes.get_errno() if result == -1 else result
        return call


# f(number, six arguments): int $0x80 with the registers of a 32-bit program
CODE = bytes.fromhex('53 55 89f8 89f3 4189ca 89d1 4489d2 4489c6 4489cf 8b6c2418 cd80 '
                     '5d 5b 4898 c3')
MAP_32BIT = 0x40


class Calls32:
    """ia32.openat(...): strings and buffers are copied to memory that 32 bits can address."""

    def __init__(self):
        self.numbers = numbers(32)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + \
            [ctypes.c_long]
        self.low = libc.mmap(None, 1 << 16, 7, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_32BIT,
                             -1, 0)
        ctypes.memmove(self.low, CODE, len(CODE))
        self.enter = ctypes.CFUNCTYPE(ctypes.c_long, *[ctypes.c_uint] * 7)(self.low)
        self.used = 256

    def place(self, data):
        """Copy the data. The address returned is valid for this call and the next few."""
        if self.used + len(data) + 8 > 1 << 16:
            self.used = 256
        address = self.low + self.used
        ctypes.memmove(address, data + b'\0', len(data) + 1)
        self.used += (len(data) + 8) // 8 * 8
        return address

    def argument(self, value):
        if isinstance(value, str):
            value = value.encode()
        if not isinstance(value, (bytes, int)):
            value = bytes(value)
        return self.place(value) if isinstance(value, bytes) else value & 0xffffffff

    def __getattr__(self, name):
        number = self.numbers[name]

        def call(*args):
            args = [self.argument(a) for a in args] + [0] * (6 - len(args))
            return self.enter(number, *args)
        return call


OPCODES = {
    'sync_file_range': 8, 'fsync': 3, 'fallocate': 17, 'openat': 18, 'close': 19, 'statx': 21,
    'fadvise': 24, 'madvise': 25, 'openat2': 28, 'splice': 30, 'tee': 33, 'renameat': 35,
    'unlinkat': 36, 'read': 22, 'write': 23, 'mkdirat': 37, 'symlinkat': 38, 'linkat': 39, 'ftruncate': 55,
}
SQE = struct.Struct('<BBHiQQIIQHHiQQ')
ENTER_GETEVENTS = 1


class Uring:
    """
    uring.fsync(fd=3): submit one request, with its fields by name, and wait for it. To be
    opened before tracing begins.
    """

    def __init__(self, setup=0):
        self.calls = Calls64()
        self.keep = []
        params = ctypes.create_string_buffer(120)
        struct.pack_into('<I', params, 8, setup)
        self.fd = self.calls.io_uring_setup(8, params)
        if self.fd < 0:
            raise OSError(-self.fd, 'io_uring_setup')
        p = struct.unpack_from('<30I', params)
        sq, cq = p[10:20], p[20:30]
        self.sq = mmap.mmap(self.fd, sq[6] + 8 * 4, offset=0)
        self.cq = mmap.mmap(self.fd, cq[5] + 16 * 16, offset=0x8000000)
        self.sqes = mmap.mmap(self.fd, 8 * 64, offset=0x10000000)
        self.sq_tail, self.array = sq[1], sq[6]
        self.cq_head, self.cq_mask, self.cqes = cq[0], cq[2], cq[5]

    def put(self, opcode, fd=-1, off=0, addr=0, len=0, op_flags=0, splice_fd=0, flags=0, ioprio=0,
            user_data=1, buf_index=0, personality=0):
        """Put a request into the ring. Does not wait for earlier ones."""
        addr, off = (self.address(value) for value in (addr, off))
        tail, = struct.unpack_from('<I', self.sq, self.sq_tail)
        SQE.pack_into(self.sqes, 64 * (tail % 8), opcode, flags, ioprio, fd, off, addr, len, op_flags,
                      user_data, buf_index, personality, splice_fd, 0, 0)
        struct.pack_into('<I', self.sq, self.array + 4 * (tail % 8), tail % 8)
        struct.pack_into('<I', self.sq, self.sq_tail, tail + 1)

    def address(self, value):
        """The address of a value, which is kept until the next take()."""
        if isinstance(value, int):
            return value
        self.keep.append(argument(value))
        return ctypes.cast(self.keep[-1], ctypes.c_void_p).value

    def enter(self, to_submit, min_complete):
        return self.calls.io_uring_enter(self.fd, to_submit, min_complete, ENTER_GETEVENTS, 0, 0)

    def take(self):
        """user_data and result of the next completion, which must have arrived."""
        self.keep.clear()
        head, = struct.unpack_from('<I', self.cq, self.cq_head)
        mask, = struct.unpack_from('<I', self.cq, self.cq_mask)
        user_data, result, _ = struct.unpack_from('<QiI', self.cq, self.cqes + 16 * (head & mask))
        struct.pack_into('<I', self.cq, self.cq_head, head + 1)
        return user_data, result

    def submit(self, opcode, **fields):
        self.put(opcode, **fields)
        self.enter(1, 1)
        return self.take()[1]

    def __getattr__(self, name):
        opcode = OPCODES[name]
        return lambda **fields: self.submit(opcode, **fields)


x64 = Calls64()
