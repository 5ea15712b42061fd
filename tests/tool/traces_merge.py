# SPDX-License-Identifier: GPL-2.0
"""What traces_merge.bats compares: the rows of a merged trace and those of its sources."""
import csv
import datetime
import sys


def load(name):
    with open(name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def ns(timestamp):
    """2026-11-21T12:28:32.330205607Z as nanoseconds since 1970."""
    second = datetime.datetime.fromisoformat(timestamp[:19] + "+00:00")
    return int(second.timestamp()) * 1000000000 + int(timestamp[20:29])


def end(row):
    return ns(row["timestamp"]) + int(row["latency_ns"])


def without(row, *names):
    return {name: row[name] for name in row if name not in names}


def rows_of(merged, trace):
    return [row for row in merged if row["trace"] == trace]


def same_row(row, source, offset):
    """But for the clock, which is now that of the time of day."""
    assert ns(row["timestamp"]) == ns(source["timestamp"]) + offset, (row, source)
    assert int(row["time_ns"]) == ns(row["timestamp"]), row
    assert without(row, "timestamp", "time_ns", "host", "trace") == \
        without(source, "timestamp", "time_ns"), (row, source)


def ordered(name):
    ends = [end(row) for row in load(name)]
    assert ends == sorted(ends)
    print(len(ends))


def merged(name, *sources):
    """Each source is TRACE=CSV=OFFSET: the merged rows are exactly theirs, in order."""
    rows = load(name)
    left = len(rows)
    for trace, file, offset in (source.split("=") for source in sources):
        theirs, own = rows_of(rows, trace), load(file)
        assert len(theirs) == len(own), (trace, len(theirs), len(own))
        left -= len(own)
        for row, source in zip(theirs, own):
            same_row(row, source, int(offset))
    assert not left, f"{left} rows of no trace"
    ordered(name)


if __name__ == "__main__":
    {"merged": merged, "ordered": ordered}[sys.argv[1]](*sys.argv[2:])
