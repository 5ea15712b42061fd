# SPDX-License-Identifier: GPL-2.0
"""
System calls by name, without the C library's wrappers: as a 64-bit program makes them,
as a 32-bit program does, and by io_uring. Each returns the kernel's result, an error as a
negative number.
"""
import ctypes
import mmap
import os
import re
import struct
import subprocess


libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
MACHINE = os.uname().machine
HEADERS = f'/usr/include/{MACHINE}-linux-gnu/asm/unistd_%d.h'
NEWER = {'fchmodat2': 452, 'setxattrat': 463, 'getxattrat': 464, 'listxattrat': 465,
         'removexattrat': 466, 'open_tree_attr': 467, 'file_getattr': 468,
         'file_setattr': 469}  # not in older headers
AT_FDCWD = -100
AT_SYMLINK_NOFOLLOW = 0x100
AT_REMOVEDIR = 0x200
# What a program calls where the kernel has no such call any more (arm64): a call that is the same.
OLD = {
    'open': lambda path, flags, mode=0: ('openat', AT_FDCWD, path, flags, mode),
    'creat': lambda path, mode: ('openat', AT_FDCWD, path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode),
    'access': lambda path, mode: ('faccessat', AT_FDCWD, path, mode),
    'chmod': lambda path, mode: ('fchmodat', AT_FDCWD, path, mode),
    'chown': lambda path, uid, gid: ('fchownat', AT_FDCWD, path, uid, gid, 0),
    'lchown': lambda path, uid, gid: ('fchownat', AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW),
    'dup2': lambda old, new: ('dup3', old, new, 0),
    'futimesat': lambda fd, path, times: ('utimensat', fd, path, times, 0),
    'getdents': lambda fd, buffer, size: ('getdents64', fd, buffer, size),
    'link': lambda old, new: ('linkat', AT_FDCWD, old, AT_FDCWD, new, 0),
    'lstat': lambda path, buffer: ('newfstatat', AT_FDCWD, path, buffer, AT_SYMLINK_NOFOLLOW),
    'mkdir': lambda path, mode: ('mkdirat', AT_FDCWD, path, mode),
    'mknod': lambda path, mode, dev: ('mknodat', AT_FDCWD, path, mode, dev),
    'readlink': lambda path, buffer, size: ('readlinkat', AT_FDCWD, path, buffer, size),
    'rename': lambda old, new: ('renameat', AT_FDCWD, old, AT_FDCWD, new),
    'rmdir': lambda path: ('unlinkat', AT_FDCWD, path, AT_REMOVEDIR),
    'stat': lambda path, buffer: ('newfstatat', AT_FDCWD, path, buffer, 0),
    'symlink': lambda text, path: ('symlinkat', text, AT_FDCWD, path),
    'unlink': lambda path: ('unlinkat', AT_FDCWD, path, 0),
    'utime': lambda path, times: ('utimensat', AT_FDCWD, path, times, 0),
    'utimes': lambda path, times: ('utimensat', AT_FDCWD, path, times, 0),
}


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
    """native.openat(...)"""

    def __init__(self):
        self.numbers = numbers(64)

    def __getattr__(self, name):
        if name not in self.numbers:
            old = OLD[name]

            def call_of_today(*args):
                of_today, *arguments = old(*args)
                return getattr(self, of_today)(*arguments)
            return call_of_today
        number = self.numbers[name]

        def call(*args):
            result = libc.syscall(ctypes.c_long(number), *map(argument, args))
            return -ctypes.get_errno() if result == -1 else result
        return call


# f(number, six arguments): int $0x80 with the registers of a 32-bit program
CODE = bytes.fromhex('53 55 89f8 89f3 4189ca 89d1 4489d2 4489c6 4489cf 8b6c2418 cd80 '
                     '5d 5b 4898 c3')
MAP_32BIT = 0x40


class CallsIa32:
    """calls.openat(...): strings and buffers are copied to memory that 32 bits can address."""
    program = None # these are calls of this process

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

    def end(self):
        pass

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


# A program of 32-bit ARM. It reads a page from its standard input to ARM_PAGE: the number of a
# system call, six arguments, and what they point to; it makes the call and writes the result.
ARM_CODE = struct.pack('<25I', *(int(word, 16) for word in '''
    e3a07003 e3a00000 e3a01802 e3a02a01 ef000000 e3500a01 1a00000f
    e3a06802 e5967000 e5960004 e5961008 e596200c e5963010 e5964014 e5965018 ef000000 e5860000
    e3a07004 e3a00001 e1a01006 e3a02004 ef000000 eaffffe8
    e3a07001 ef000000'''.split()))
ARM_START, ARM_PAGE, ARM_PAGE_SIZE = 0x10000, 0x20000, 4096
# Names of calls and what each makes of its arguments: 64-bit ones begin at an even register.
ARM = {
    'open': (5,), 'close': (6,), 'unlink': (10,), 'mkdir': (39,), 'rmdir': (40,), 'munmap': (91,),
    'flock': (143,), 'chown': (182,), 'mmap2': (192,), 'stat64': (195,), 'lstat64': (196,),
    'fstat64': (197,), 'fchown32': (207,), 'fcntl64': (221,), 'statfs64': (266,), 'openat': (322,),
    'fstatat64': (327,), 'utimensat': (348,), 'fallocate': (352,),
    'truncate64': (193, lambda path, low, high: (path, 0, low, high)),
    'ftruncate64': (194, lambda fd, low, high: (fd, 0, low, high)),
    'readahead': (225, lambda fd, low, high, count: (fd, 0, low, high, count)),
    'fadvise64_64': (270, lambda fd, low, high, low2, high2, advice: (fd, advice, low, high, low2, high2)),
    'sync_file_range': (341, lambda fd, low, high, low2, high2, flags: (fd, flags, low, high, low2, high2)),
}


class CallsArm:
    """calls.openat(...): a program of 32-bit ARM, started in the current directory, makes the call."""

    def __init__(self):
        name = os.path.abspath('arm32')
        start = 52 + 2 * 32 # of the code, behind the headers
        with open(name, 'wb') as f:
            f.write(b'\x7fELF\1\1\1' + bytes(9))
            f.write(struct.pack('<HHIIIIIHHHHHH', 2, 40, 1, ARM_START + start, 52, 0, 0x05000000,
                                52, 32, 2, 0, 0, 0))
            f.write(struct.pack('<8I', 1, 0, ARM_START, ARM_START, start + len(ARM_CODE),
                                ARM_PAGE + ARM_PAGE_SIZE - ARM_START, 7, 4096))
            # PT_GNU_STACK: without it all mappings would be executable
            f.write(struct.pack('<8I', 0x6474e551, 0, 0, 0, 0, 0, 6, 16))
            f.write(ARM_CODE)
        os.chmod(name, 0o755)
        self.program = subprocess.Popen([name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        os.unlink(name)

    def __getattr__(self, name):
        number, *order = ARM[name]

        def call(*args):
            data = b''
            words = [number]
            for value in order[0](*args) if order else args:
                if isinstance(value, str):
                    value = value.encode()
                if isinstance(value, bytes):
                    words.append(ARM_PAGE + 7 * 4 + len(data))
                    data += value + bytes(8 - len(value) % 8)
                else:
                    words.append(value & 0xffffffff)
            page = struct.pack('<7I', *words + [0] * (7 - len(words))) + data
            self.program.stdin.write(page.ljust(ARM_PAGE_SIZE, b'\0'))
            return struct.unpack('<i', self.program.stdout.read(4))[0]
        return call

    def end(self):
        self.program.stdin.close()
        self.program.wait()


Calls32 = CallsIa32 if MACHINE == 'x86_64' else CallsArm

OPCODES = {
    'sync_file_range': 8, 'fsync': 3, 'fallocate': 17, 'openat': 18, 'close': 19, 'statx': 21,
    'fadvise': 24, 'madvise': 25, 'openat2': 28, 'splice': 30, 'tee': 33, 'renameat': 35,
    'unlinkat': 36, 'read': 22, 'write': 23, 'mkdirat': 37, 'symlinkat': 38, 'linkat': 39, 'ftruncate': 55,
    'fsetxattr': 41, 'setxattr': 42, 'fgetxattr': 43, 'getxattr': 44,
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
            user_data=1, buf_index=0, personality=0, addr3=0):
        """Put a request into the ring. Does not wait for earlier ones."""
        addr, off, addr3 = (self.address(value) for value in (addr, off, addr3))
        tail, = struct.unpack_from('<I', self.sq, self.sq_tail)
        SQE.pack_into(self.sqes, 64 * (tail % 8), opcode, flags, ioprio, fd, off, addr, len, op_flags,
                      user_data, buf_index, personality, splice_fd, addr3, 0)
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


native = Calls64()
