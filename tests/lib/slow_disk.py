# SPDX-License-Identifier: GPL-2.0
"""
A disk of the kernel in memory, slow for one known cause. Usage:

    python3 slow_disk.py DEVICE MIB [FLUSH_MS [READ_MS [MIB_PER_S]]]

serves DEVICE, /dev/nbd0 for example, until SIGTERM. Requests are answered one at a time, in the order in
which they came: a flush takes FLUSH_MS, a read READ_MS, and data moves at MIB_PER_S (0, the default: at once).
"""
import fcntl
import mmap
import os
import signal
import socket
import struct
import sys
import time

SET_SOCK, SET_BLKSIZE, DO_IT, CLEAR_SOCK, SET_SIZE_BLOCKS, DISCONNECT, SET_FLAGS = (
    0xab00, 0xab01, 0xab03, 0xab04, 0xab07, 0xab08, 0xab0a)
HAS_FLAGS, SEND_FLUSH = 1, 4
REQUEST, REPLY = struct.Struct('>IIQQI'), struct.Struct('>IIQ')
REPLY_MAGIC = 0x67446698
READ, WRITE, DISCONNECTED, FLUSH = range(4)
BLOCK = 4096
MIB = 1 << 20


def receive(sock, length):
    data = bytearray(length)
    view = memoryview(data)
    while view:
        view = view[sock.recv_into(view) or sys.exit('the kernel has gone'):]
    return data


def serve(sock, disk, seconds, bytes_per_s):
    """seconds: of a flush, of a read."""
    free = 0  # when the disk has done all before
    while True:
        _, kind, handle, offset, length = REQUEST.unpack(receive(sock, REQUEST.size))
        data = b''
        if kind == DISCONNECTED:
            return
        if kind == READ:
            data = disk[offset:offset + length]
        elif kind == WRITE:
            disk[offset:offset + length] = receive(sock, length)
        takes = seconds.get(kind, 0) + (length / bytes_per_s if bytes_per_s else 0)
        free = max(free, time.monotonic()) + takes
        time.sleep(max(free - time.monotonic(), 0))
        sock.sendall(REPLY.pack(REPLY_MAGIC, 0, handle) + data)


def main(device, mib, flush_ms='0', read_ms='0', mib_per_s='0'):
    disk = mmap.mmap(-1, int(mib) * MIB)
    kernel, sock = socket.socketpair()
    fd = os.open(device, os.O_RDWR)
    fcntl.ioctl(fd, CLEAR_SOCK)
    fcntl.ioctl(fd, SET_BLKSIZE, BLOCK)
    fcntl.ioctl(fd, SET_SIZE_BLOCKS, len(disk) // BLOCK)
    fcntl.ioctl(fd, SET_FLAGS, HAS_FLAGS | SEND_FLUSH)
    fcntl.ioctl(fd, SET_SOCK, kernel.fileno())
    if not os.fork():
        # Returns when the disk is disconnected.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sock.close()
        fcntl.ioctl(fd, DO_IT)
        os._exit(0)
    kernel.close()
    signal.signal(signal.SIGTERM, lambda *_: fcntl.ioctl(fd, DISCONNECT))
    serve(sock, disk, {FLUSH: float(flush_ms) / 1000, READ: float(read_ms) / 1000}, float(mib_per_s) * MIB)
    sock.close()
    os.wait()


if __name__ == '__main__':
    main(*sys.argv[1:])
