# SPDX-License-Identifier: GPL-2.0
"""
record.py work DIRECTORY BOOK SEED: a workload that writes down in BOOK what it does
record.py join CSV BOOK: checks that an exported trace shows the same
"""
import csv
import os
import random
import sys

BLOCK = 4096


def work(directory, book, seed):
    """Several processes read and write four files each, and note each call and its result."""
    random.seed(int(seed))
    notes = []
    for child in range(3):
        notes.append(os.pipe())
        if not os.fork():
            child_work(directory, child, notes[-1][1], random.Random(f"{seed}-{child}"))
            os._exit(0)
        os.close(notes[-1][1])
    with open(book, "w") as out:
        for read_end, _ in notes:
            with os.fdopen(read_end) as lines:
                out.write(lines.read())
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def child_work(directory, child, to, rng):
    lines = []
    for number in range(4):
        # names may have blanks, commas, quotes, and characters that are not ASCII
        path = os.path.join(directory, f'f{child} {number}, "é"')
        fd = os.open(path, os.O_RDWR | os.O_CREAT)
        inode = os.fstat(fd).st_ino
        for _ in range(150):
            offset, size = rng.randrange(64) * 1000, rng.randrange(1, 3 * BLOCK)
            if rng.random() < 0.5:
                op, result = "WRITE", os.pwrite(fd, b"x" * size, offset)
            else:
                op, result = "READ", len(os.pread(fd, size, offset))
            lines.append((os.getpid(), op, inode, offset, size, result, path))
        os.close(fd)
    with os.fdopen(to, "w") as out:
        for line in lines:
            out.write("\t".join(map(str, line)) + "\n")


def join(table, book):
    """Each call in the book is one row, in the same order, and there are no other rows."""
    with open(book) as lines:
        done = [line.rstrip("\n").split("\t") for line in lines]
    directory = os.path.dirname(done[0][6])
    pids = {line[0] for line in done}
    rows = {pid: [] for pid in pids}
    with open(table, newline="") as f:
        for row in csv.DictReader(f):
            if row["op"] in ("READ", "WRITE") and row["path"].startswith(directory + "/f") \
                    and row["pid"] in pids:
                rows[row["pid"]].append(row)
    for pid in pids:
        wanted = [line for line in done if line[0] == pid]
        assert len(wanted) == len(rows[pid]) == 600, (pid, len(wanted), len(rows[pid]))
        for line, row in zip(wanted, rows[pid]):
            shown = [row[key] for key in ("pid", "op", "inode", "offset_bytes", "requested_bytes",
                                          "result", "path")]
            assert shown == line, (shown, line)
            assert row["tid"] == pid, row
            assert row["comm"].startswith("python3") and row["kind"] == "file", row
            assert int(row["latency_ns"]) > 0, row
    print(f"{len(done)} calls, {len(pids)} processes: each is a row")


if __name__ == "__main__":
    {"work": work, "join": join}[sys.argv[1]](*sys.argv[2:])
