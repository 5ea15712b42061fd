# SPDX-License-Identifier: GPL-2.0
"""What export shows of records whose fields are known. columns.table lists both.

columns.py complete: its tables have all fields of events.def, and all columns.
columns.py export: each record is recorded and exported as CSV, as JSON and in IO Tracer's
layout, and each column has the value of the table.

Both need what tests/columns.bats sets up: tool-stream, and a directory like /proc/iotracer.
"""
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys

from lib.categories import EVENTS

HERE = os.path.dirname(os.path.abspath(__file__))
PATHS = ('id=1 inode=11 device=0x00800003 text=/home/ann/a,b.txt\n'
         'id=2 inode=12 device=0x0fd00001 text=/home/ann/say\\040"hi"\n'
         'id=3 text=/not/used\n'
         'id=4 text=/var/db/four\n')
ALWAYS_0 = {'reserved'}
TIME_OF_DAY = {'timestamp'}  # has tests of its own


class Record:
    def __init__(self, category, complete):
        self.category, self.complete = category, complete
        self.fields, self.ours, self.io_tracers = {}, {}, {}

    def add(self, field, ours, io_tracers):
        if field != '-':
            name, value = field.split('=', 1)
            self.fields[name] = value
        for shown, columns in (ours, self.ours), (io_tracers, self.io_tracers):
            if shown != '-':
                name, value = shown.split(' ', 1)
                columns[name] = '' if value == '-' else value


def records():
    found = []
    with open(HERE + '/columns.table', encoding='ascii') as f:
        for line in f:
            words = line.split()
            if line.startswith('== '):
                found.append(Record(words[1], words[2:] == ['complete']))
            elif words and not line.startswith('#'):
                found[-1].add(*(cell.strip() for cell in line.split(' | ')))
    return found


def run(*argv, **options):
    return subprocess.run(argv, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def stream(path, text, *header):
    with open(path, 'w', encoding='ascii') as f:
        subprocess.run(['tool-stream', *header], check=True, text=True, input=text, stdout=f)


def is_equal(what, found, expected):
    if found != expected:
        sys.exit(f'{what}: {found!r}, not {expected!r}')


def fields_of(event):
    """The fields that the tool was compiled with, which are those of events.def."""
    of_event = run('iotracer', 'format').split(f'\nevent {event} ')[1].split('\nevent ')[0]
    return set(re.findall(r'^field (\w+)', of_event, re.MULTILINE))


def columns_of(category):
    rows = (line.split('\t') for line in run('iotracer', 'format', '--columns').splitlines())
    return {row[1] for row in rows if row[0] == category}


def complete():
    tables = {record.category: record for record in records() if record.complete}
    is_equal('categories', set(tables), set(EVENTS))
    for category, record in tables.items():
        is_equal(f'fields of {category}', set(record.fields),
                 fields_of(category) - ALWAYS_0)
        is_equal(f'columns of {category}', set(record.ours), columns_of(category) - TIME_OF_DAY)
        values = [value for name, value in record.fields.items() if name != 'op']
        is_equal(f'values that {category} has twice',
                 {value for value in values if values.count(value) > 1}, set())
        is_equal(f'values of {category} that are 0', '0' in values, False)


def record_alone(record):
    line = ' '.join(f'{name}={value}' for name, value in record.fields.items())
    stream(f'proc/{record.category}/stream', line + '\n', 'layout=1',
           f'event={EVENTS[record.category]}')
    run('iotracer', 'record', '-o', 'trace', '-c', record.category, '--', 'true',
        stderr=subprocess.DEVNULL)


def is_shown_in_csv(record):
    text = run('iotracer', 'export', 'trace', '--per-category', '--category=' + record.category)
    row, = csv.DictReader(io.StringIO(text, newline=''))
    for name, shown in record.ours.items():
        is_equal(f'{record.category}, CSV, {name}', row[name], shown)


def json_of(shown):
    """The value in JSON: a number if it fits in 64 bits with a sign, else text."""
    return int(shown) if re.fullmatch('-?[0-9]+', shown) and int(shown) < 2 ** 63 else shown


def is_shown_in_json(record):
    row = json.loads(run('iotracer', 'export', 'trace', '-f', 'json',
                         '--category=' + record.category))
    for name, shown in record.ours.items():
        is_equal(f'{record.category}, JSON, {name}', row[name], json_of(shown))


def is_shown_in_io_tracers_layout(record):
    run('iotracer', 'export', 'trace', '--columns=io-tracer', '-o', 'layout')
    path, = glob.glob('layout/*/*.csv')
    with open(path, encoding='utf-8', newline='') as f:
        row, = csv.DictReader(f)
    if record.complete:
        is_equal(f"IO Tracer's columns of {record.category}", set(record.io_tracers),
                 set(row) - TIME_OF_DAY)
    for name, shown in record.io_tracers.items():
        is_equal(f"{record.category}, IO Tracer's {name}", row[name], shown)


def export():
    stream('proc/paths', PATHS, 'layout=2')
    for record in records():
        record_alone(record)
        is_shown_in_csv(record)
        is_shown_in_json(record)
        is_shown_in_io_tracers_layout(record)
        run('rm', '-r', 'trace', 'layout')


if __name__ == '__main__':
    {'complete': complete, 'export': export}[sys.argv[1]]()
