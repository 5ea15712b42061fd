# SPDX-License-Identifier: GPL-2.0
"""
Reads the stream of any category or target as blocks, each of one CPU, and the layout of its records.

The library gives records, not blocks: which CPU's ring one was in, and what is missing of each CPU, is
read here.
"""
import os
import struct

import iotracer
from lib.category import BLOCK, HEADER
from lib.iot import IOT, is_equal

def record_size(event):
    return iotracer.EVENTS[event].size


class Blocks:
    """
    The stream of a category, or of a target whose event is given: its records, each with its CPU, and the
    gaps of each CPU.
    """

    def __init__(self, name='fs', event=None):
        self.fd = os.open(f'{IOT}/{name}/stream', os.O_RDONLY)
        self.size = record_size(event or name)
        self.started = False
        self.rows, self.gaps, self.next = [], {}, {}

    def read(self):
        while data := os.read(self.fd, 1 << 20):
            self.take(data)
        return self.rows

    def take(self, data):
        if not self.started:
            data = data[HEADER.size:]
            self.started = True
        while data:
            _, cpu, _, count, first, gap = BLOCK.unpack_from(data)
            is_equal(first, self.next.get(cpu, first - gap) + gap)
            self.gaps[cpu] = self.gaps.get(cpu, 0) + gap
            end = BLOCK.size + count * self.size
            self.keep(cpu, data[BLOCK.size:end])
            self.next[cpu] = first + count
            data = data[end:]

    def keep(self, cpu, records):
        self.rows += [(cpu, records[at:at + self.size])
                      for at in range(0, len(records), self.size)]

    def seqs(self):
        return [struct.unpack_from('<Q', row)[0] for _, row in self.rows]

    def on(self, cpu):
        return sum(row[0] == cpu for row in self.rows)

    def close(self):
        os.close(self.fd)


def fields():
    """{event id: (name, {field: (offset, size, type)}, size)}"""
    return {event.id: (name, {f.name: (f.offset, f.size, f.type) for f in event.fields.values()}, event.size)
            for name, event in iotracer.EVENTS.items()}
