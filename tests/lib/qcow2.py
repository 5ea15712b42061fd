# SPDX-License-Identifier: GPL-2.0
"""
The fields of a qcow2 image, and damage to them: one field at a time gets a value that is at an end
of its range, beside its own, or leads elsewhere.
"""
import os
import struct

HEADER = (
    ('magic', 4), ('version', 4), ('backing_at', 8), ('backing_size', 4), ('cluster_bits', 4), ('size', 8),
    ('crypt', 4), ('l1_size', 4), ('l1', 8), ('refcounts', 8), ('refcount_clusters', 4), ('snapshots', 4),
    ('snapshots_at', 8))
HEADER3 = (
    ('incompatible', 8), ('compatible', 8), ('autoclear', 8), ('order', 4), ('length', 4), ('compression', 1),
    ('padding', 7))
SNAPSHOT = (
    ('l1', 8), ('l1_size', 4), ('id_size', 2), ('name_size', 2), ('date_s', 4), ('date_ns', 4), ('clock', 8),
    ('state_size', 4), ('extra_size', 4), ('large_state', 8), ('disk_size', 8))
BITMAPS = (('number', 4), ('reserved', 4), ('directory_size', 8), ('directory', 8))
BITMAP = (
    ('table', 8), ('table_size', 4), ('flags', 4), ('type', 1), ('granularity', 1), ('name_size', 2),
    ('extra_size', 4))
BITMAPS_MAGIC, DATA_FILE_MAGIC = 0x23852875, 0x44415441
OFFSET = 0x00fffffffffffe00


class Image:
    """An image, of which each field is a tuple of name, offset and width."""

    def __init__(self, path):
        with open(path, 'rb') as f:
            self.bytes = f.read()
        self.size = os.path.getsize(path)
        self.fields = []
        self.at = {}
        self.add('header', 0, HEADER)
        if self.get('header.version') >= 3:
            self.add('header', 72, HEADER3)
        self.cluster = 1 << self.get('header.cluster_bits')
        self.extended = self.get('header.version') >= 3 and bool(self.get('header.incompatible') & 1 << 4)
        self.extensions()
        self.tables('', self.get('header.l1'), self.get('header.l1_size'))
        self.refcounts()
        self.snapshots()

    def number(self, at, width):
        return int.from_bytes(self.bytes[at:at + width], 'big')

    def get(self, name):
        return self.number(*self.at[name])

    def add(self, prefix, at, fields):
        for name, width in fields:
            name = f'{prefix}.{name}'
            self.fields.append((name, at, width))
            self.at[name] = at, width
            at += width
        return at

    def extensions(self):
        at = self.get('header.length') if self.get('header.version') >= 3 else 72
        for i in range(10):
            self.add(f'extension{i}', at, (('type', 4), ('size', 4)))
            kind, size = struct.unpack_from('>II', self.bytes, at)
            if not kind:
                break
            if kind == BITMAPS_MAGIC:
                self.add('bitmaps', at + 8, BITMAPS)
                self.bitmaps()
            elif size:
                self.add(f'extension{i}', at + 8, (('first', 1),))
            at += 8 + (size + 7 & ~7)

    def bitmaps(self):
        at = self.get('bitmaps.directory')
        for i in range(self.get('bitmaps.number')):
            self.add(f'bitmap{i}', at, BITMAP)
            table, entries = self.get(f'bitmap{i}.table'), self.get(f'bitmap{i}.table_size')
            for entry in range(min(entries, 2)):
                self.add(f'bitmap{i}', table + 8 * entry, ((f'entry{entry}', 8),))
            at += 24 + (self.get(f'bitmap{i}.name_size') + self.get(f'bitmap{i}.extra_size') + 7 & ~7)

    def entries(self, at, number, most):
        """The first entries of a table, those that differ from the one before, and the last."""
        found, last = [], None
        for i in range(number):
            value = self.number(at + 8 * i, 8)
            kind = value >> 62, value & 1, not value
            if i < 2 or kind != last or i == number - 1:
                found.append(i)
            last = kind
        return found[:most] + found[-1:]

    def tables(self, prefix, l1, entries):
        for i in dict.fromkeys(self.entries(l1, entries, 3)):
            self.add(prefix + 'l1', l1 + 8 * i, ((f'entry{i}', 8),))
        first = next((e for e in (self.number(l1 + 8 * i, 8) & OFFSET for i in range(entries)) if e), 0)
        if not first:
            return
        words = 2 if self.extended else 1
        for i in dict.fromkeys(self.entries(first, self.cluster // 8, 8)):
            i -= i % words
            self.add(prefix + 'l2', first + 8 * i, ((f'entry{i // words}', 8),))
            if self.extended:
                self.add(prefix + 'l2', first + 8 * i + 8, ((f'bits{i // words}_zero', 4), (f'bits{i // words}_data', 4)))

    def refcounts(self):
        table = self.get('header.refcounts')
        self.add('refcounts', table, (('entry0', 8), ('entry1', 8)))
        block = self.number(table, 8) & OFFSET
        self.add('refcount_block', block, (('entry0', 2), ('entry1', 2), ('entry2', 2), ('entry3', 2)))

    def snapshots(self):
        at = self.get('header.snapshots_at')
        for i in range(self.get('header.snapshots')):
            self.add(f'snapshot{i}', at, SNAPSHOT)
            length = 40 + sum(self.get(f'snapshot{i}.{name}_size') for name in ('extra', 'id', 'name'))
            self.tables(f'snapshot{i}.', self.get(f'snapshot{i}.l1'), self.get(f'snapshot{i}.l1_size'))
            at += length + 7 & ~7

    def values(self, at, width):
        """What a field of this width may become."""
        old, most = self.number(at, width), (1 << 8 * width) - 1
        end = self.size + self.cluster - 1 & -self.cluster
        found = [0, 1, most, most >> 1, old ^ 1, old + 1, old - 1, 2 * old, old // 2, old | 1 << 8 * width - 1]
        if width == 8:
            found += [old ^ 1 << 62, old ^ 1 << 63, old ^ 1 << 56, old + 512, old + self.cluster, old & ~OFFSET,
                      old & ~OFFSET | end, old & ~OFFSET | end + self.cluster, old & ~OFFSET | self.cluster,
                      old & ~OFFSET | self.get('header.l1'), 1 << 40, 1 << 55]
        if width <= 4:
            found += [7, 8, 16, 20, 22, 64, 1000, 1 << 16, 0x400000, 1 << 30]
        return [v for v in dict.fromkeys(found) if 0 <= v <= most and v != old]

    def damages(self):
        """All of them: a name, an offset, and the bytes that go there."""
        for name, at, width in self.fields:
            if name == 'header.magic':
                continue
            for value in self.values(at, width):
                yield f'{name}={value:#x}', at, value.to_bytes(width, 'big')

    def damaged(self, at, new):
        return self.bytes[:at] + new + self.bytes[at + len(new):]


class Builder:
    """
    An image that no QEMU makes, table by table. What is not written is a hole of the file. Cluster 0
    is the header, 1 the refcount table, 2 a refcount block; others follow as they are added.
    """

    def __init__(self, path, cluster_bits=16, size=1 << 20, clusters=1):
        self.path, self.bits, self.cluster = path, cluster_bits, 1 << cluster_bits
        self.header = dict(size=size, l1_size=0, l1=0, snapshots=0, snapshots_at=0, autoclear=0)
        self.refcounts, self.refcount_clusters = self.cluster, clusters
        self.next = (1 + clusters) * self.cluster
        self.extension = b''
        with open(path, 'wb'):
            pass

    def place(self, length):
        at = self.next
        self.next = at + length + self.cluster - 1 & -self.cluster
        return at

    def write(self, at, content):
        with open(self.path, 'r+b') as f:
            f.seek(at)
            f.write(content)

    def table(self, entries):
        """A table of its own, with these entries; returns its offset."""
        at = self.place(8 * len(entries))
        self.write(at, struct.pack(f'>{len(entries)}Q', *entries))
        return at

    def same(self, number, entry):
        """A table of that many entries, which are all alike."""
        at = self.place(8 * number)
        self.write(at, struct.pack('>Q', entry) * number)
        return at

    def l2(self, entry):
        return self.same(self.cluster // 8, entry)

    def disk(self, l1, entries):
        self.header.update(l1=l1, l1_size=entries, size=entries * (self.cluster // 8) << self.bits)

    def snapshots(self, tables, entries):
        """Snapshots with these L1 tables."""
        content = b''.join(struct.pack('>QIHHIIQIIQQ', l1, entries, 0, 0, 0, 0, 0, 0, 16, 0, 1 << 20) for l1 in tables)
        at = self.place(len(content))
        self.write(at, content)
        self.header.update(snapshots=len(tables), snapshots_at=at)

    def bitmaps(self, table, entries, number):
        """Bitmaps that have one table."""
        content = struct.pack('>QIIBBHI', table, entries, 0, 1, 9, 0, 0) * number
        at = self.place(len(content))
        self.write(at, content)
        self.extension = struct.pack('>IIIIQQ', BITMAPS_MAGIC, 24, number, 0, len(content), at)
        self.header.update(autoclear=1)

    def finish(self, size=0):
        h = self.header
        self.write(0, struct.pack('>IIQIIQIIQQIIQQQQII', 0x514649fb, 3, 0, 0, self.bits, h['size'], 0, h['l1_size'],
                                  h['l1'], self.refcounts, self.refcount_clusters, h['snapshots'], h['snapshots_at'],
                                  0, 0, h['autoclear'], 4, 104) + self.extension + bytes(8))
        os.truncate(self.path, max(size, self.next))
