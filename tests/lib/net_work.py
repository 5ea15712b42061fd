# SPDX-License-Identifier: GPL-2.0
"""
A client and a server in the namespaces of net.py, as one program that a trace can record: streams, of which each
piece is answered, datagrams, and a stream that ends with a reset. Client and server print a line of JSON each:
its pid, and what the kernel counts for its sockets of streams: {cookie: [bytes sent, bytes received]}.
"""
import json
import os
import select
import socket
import struct

from lib import net

CATEGORIES = 'net', 'conn', 'epoll', 'sockopt', 'drop'
HOST, PORT = net.ADDRESSES[net.RIGHT][0], 5500
STREAMS, PIECES, PIECE = 4, 25, 1200    # a packet a piece
DATAGRAMS, DATAGRAM = 40, 200
RESET = struct.pack('ii', 1, 0)         # SO_LINGER: close(2) resets the connection
TCP_INFO_SIZE, BYTES_RECEIVED, BYTES_SENT = 216, 128, 200


def counted(stream):
    """What has been sent once, and received, as TCP_INFO has it."""
    info = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_SIZE)
    sent, again = struct.unpack_from('QQ', info, BYTES_SENT)
    return sent - again, struct.unpack_from('Q', info, BYTES_RECEIVED)[0]


def read_exactly(stream, size):
    """Return how many bytes there were before the end."""
    left = size
    while left and (data := stream.recv(left)):
        left -= len(data)
    return size - left


def answer(stream):
    """Answer a piece. Return: False if the stream has ended."""
    try:
        if not read_exactly(stream, PIECE):
            return False
    except ConnectionResetError:
        return False
    stream.send(bytes(PIECE // 2))
    return True


def listen():
    """The sockets of the server: they exist before the client begins."""
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind((HOST, PORT))
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((HOST, PORT))
    listener.listen(STREAMS + 1)
    return datagrams, listener


def serve(datagrams, listener):
    """Until all streams have ended, and all datagrams are there, which nothing loses."""
    streams, found, ended, taken = {}, {}, 0, 0
    with select.epoll() as polled:
        for s in datagrams, listener:
            polled.register(s, select.EPOLLIN)
        while ended <= STREAMS or taken < DATAGRAMS:
            for fd, _ in polled.poll():
                if fd == listener.fileno():
                    stream = listener.accept()[0]
                    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    streams[stream.fileno()] = stream
                    found[net.cookie(stream)] = 0, 0
                    polled.register(stream, select.EPOLLIN)
                elif fd == datagrams.fileno():
                    taken += len(datagrams.recv(DATAGRAM)) // DATAGRAM
                elif answer(streams[fd]):
                    # before the end, which is counted as a byte
                    found[net.cookie(streams[fd])] = counted(streams[fd])
                else:
                    polled.unregister(fd)
                    streams.pop(fd).close()
                    ended += 1
    return found


def ask():
    """The client."""
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(DATAGRAMS):
        datagrams.sendto(bytes(DATAGRAM), (HOST, PORT))
    streams = [socket.create_connection((HOST, PORT)) for _ in range(STREAMS)]
    for _ in range(PIECES):
        for s in streams:
            s.send(bytes(PIECE))
        for s in streams:
            read_exactly(s, PIECE // 2)
    found = {net.cookie(s): counted(s) for s in streams}
    for s in streams:
        s.shutdown(socket.SHUT_WR)
        s.recv(1)
    with socket.create_connection((HOST, PORT)) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    return found


def say(found):
    print(json.dumps({'pid': os.getpid(), 'sockets': found}), flush=True)


def main():
    reading, writing = os.pipe()
    client = os.fork()
    if not client:
        net.become_part(net.LEFT)
        os.close(writing)
        os.read(reading, 1)
        say(ask())
        os._exit(0)
    net.become_part(net.RIGHT)
    sockets = listen()
    os.write(writing, b'!')
    say(serve(*sockets))
    return os.waitstatus_to_exitcode(os.waitpid(client, 0)[1])


if __name__ == '__main__':
    raise SystemExit(main())
