# SPDX-License-Identifier: GPL-2.0
"""What export shows of records whose fields are known. columns.table lists both.

columns.py complete: its tables have all fields of events.def, and all columns.
columns.py export: each record is recorded and exported as CSV and as JSON, with our columns and
in IO Tracer's layout, and shown by log, and each column has the value of the table.
columns.py wrong TOOL: TOOL shows a column wrong (lib/wrong_column.h): each column of each
category is noticed by what "export" checks, both if it has another value, and if it is 0 or
empty.

All need what columns.bats sets up: tool-stream, and a directory like /proc/iotracer, which
has the target sda1_1.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys

from lib.categories import EVENTS
from lib.trace_file import add_note, set_clocks

HERE = os.path.dirname(os.path.abspath(__file__))
PATHS = ('id=1 inode=11 device=0x00800003 text=/home/ann/a,b.txt\n'
         'id=2 inode=12 device=0x0fd00001 text=/home/ann/say\\040"hi"\n'
         'id=3 text=/not/used\n'
         'id=4 text=/var/db/four\n')
TARGET = 'log'  # what `iotracer format --columns` calls the rows of a target
ALWAYS_0 = {'reserved'}
FORMATS = 'csv', 'json'
# Columns that log cannot know: the time of day is that of now, and a log has no command lines.
NOT_IN_LOG = {'timestamp', 'cmdline'}


class Record:
    def __init__(self, category, complete):
        self.category, self.complete = category, complete
        self.fields, self.note = {}, None
        self.columns = {'own': {}, 'io-tracer': {}}
        self.directory = None

    def add(self, field, *shown):
        if field.startswith('note='):
            self.note = field[len('note='):]
        elif field != '-':
            name, value = field.split('=', 1)
            self.fields[name] = value
        for cell, columns in zip(shown, self.columns.values()):
            if cell != '-':
                name, value = cell.split(' ', 1)
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


class Wrong(Exception):
    pass


def is_equal(what, found, expected):
    if found != expected:
        raise Wrong(f'{what}: {found!r}, not {expected!r}')


def fields_of(category):
    """The fields that the tool was compiled with, which are those of events.def."""
    event = 'io' if category == TARGET else category
    of_event = run('iotracer', 'format').split(f'\nevent {event} ')[1].split('\nevent ')[0]
    return set(re.findall(r'^field (\w+)', of_event, re.MULTILINE))


def columns_of(category):
    rows = (line.split('\t') for line in run('iotracer', 'format', '--columns').splitlines())
    return {row[1] for row in rows if row[0] == category}


def complete():
    tables = {record.category: record for record in records() if record.complete}
    is_equal('categories', set(tables), {*EVENTS, TARGET})
    for category, record in tables.items():
        is_equal(f'fields of {category}', set(record.fields),
                 fields_of(category) - ALWAYS_0)
        is_equal(f'columns of {category}', set(record.columns['own']), columns_of(category))
        fields = [value for name, value in record.fields.items() if name != 'op']
        for values in fields, list(record.columns['own'].values()):
            is_equal(f'values that {category} has twice',
                     {value for value in values if values.count(value) > 1}, set())
            is_equal(f'values of {category} that are 0, or nothing', {'0', ''} & set(values), set())


def make(record, directory):
    """Make the record's stream, and its trace, in a directory of its own."""
    record.directory = directory
    shutil.copytree('proc', f'{directory}/proc')
    line = ' '.join(f'{name}={value}' for name, value in record.fields.items()) + '\n'
    if record.category == TARGET:
        stream(f'{directory}/proc/sda1_1/stream', line, 't0=100000000')
        return
    stream(f'{directory}/proc/paths', PATHS, 'layout=2')
    stream(f'{directory}/proc/{record.category}/stream', line, 'layout=1',
           f'event={EVENTS[record.category]}')
    trace = f'{directory}/trace'
    run('iotracer', 'record', '--compress=never', '-o', trace, '-c', record.category, '--',
        'true', stderr=subprocess.DEVNULL, env=environment(record))
    # from 1 s on, at this time of day and without a drift: see "timestamp" in the table
    set_clocks(trace, 1500000001000000000)
    if record.note:
        add_note(f'{trace}/{record.category}.iot', int(record.fields['cpu']),
                 int(record.fields['seq']), record.note.encode())


def environment(record, **more):
    return {**os.environ, 'IOTRACER_PROC': record.directory + '/proc', **more}


def row_of(record, tool, command, layout, form, **more):
    """The only row that the command shows: its columns and their values."""
    if command == 'export':
        argv = ['export', record.directory + '/trace', '--per-category', '--columns=' + layout]
    else:
        argv = ['log', 'sda1_1' if record.category == TARGET else record.category]
    text = run(tool, *argv, '-f', form, env=environment(record, **more))
    if form == 'json':
        return json.loads(text, parse_float=str)
    row, = csv.DictReader(io.StringIO(text, newline=''))
    return row


def json_of(shown):
    """The value in JSON: a number if it fits in 64 bits with a sign, else text."""
    return int(shown) if re.fullmatch('-?[0-9]+', shown) and int(shown) < 2 ** 63 else shown


def check(record, command, layout, form, tool='iotracer', **more):
    """Each column has the value of the table."""
    what = f'{command} of {record.category}, {layout} columns, {form}'
    row = row_of(record, tool, command, layout, form, **more)
    expected = record.columns[layout]
    if record.complete:
        is_equal(f'{what}: columns', set(row), set(expected))
    for name, shown in expected.items():
        if command == 'export' or name not in NOT_IN_LOG or record.category == TARGET:
            is_equal(f'{what}: {name}', row[name], json_of(shown) if form == 'json' else shown)


def ways(record):
    """All commands, layouts and formats that show the record."""
    commands = [('log', 'own')]
    if record.category != TARGET:
        commands += [('export', 'own'), ('export', 'io-tracer')]
    return [(*command, form) for command in commands for form in FORMATS]


def made():
    found = records()
    for number, record in enumerate(found):
        make(record, f'record{number}')
    return found


def export():
    for record in made():
        for way in ways(record):
            check(record, *way)


def is_noticed(tables, way, tool, wrong):
    """Whether one of the tables differs from what is shown, if a column is wrong."""
    try:
        for record in tables:
            check(record, *way, tool=tool, WRONG_COLUMN=wrong)
    except Wrong:
        return True
    return False


def wrong(tool):
    found, bad = made(), 0
    for first in (record for record in found if record.complete):
        tables = [record for record in found if record.category == first.category]
        for way in ways(first):
            command, layout, form = way
            if is_noticed(tables, way, tool, ''):
                raise Wrong(f'{first.category}, {way}: no column is wrong, but something is')
            names = [name for name in first.columns[layout]
                     if first.category == TARGET or command == 'export' or name not in NOT_IN_LOG]
            missed = [f'{name} ({how})' for name in names for how in ('other', 'none')
                      if not is_noticed(tables, way, tool, f'{how} {name}')]
            print(f'{first.category}: {command} -f {form}, {layout} columns:',
                  f'{len(names)} made wrong in 2 ways, not noticed: {", ".join(missed) or "none"}')
            bad += len(missed)
    is_equal('columns that can be wrong', bad, 0)


if __name__ == '__main__':
    try:
        {'complete': complete, 'export': export, 'wrong': wrong}[sys.argv[1]](*sys.argv[2:])
    except Wrong as e:
        sys.exit(str(e))
