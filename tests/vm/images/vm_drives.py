# SPDX-License-Identifier: GPL-2.0
"""
What vm_drives.bats does with a QEMU, and what its log must have.

Each write is a number of whole clusters that no other write has, so it is one call on one file. The
tables that QEMU writes besides have fewer, and what its jobs copy goes to the other file.
"""
import json
import os
import subprocess
import sys
import time

from vm_images import fail, qmp

CLUSTER = 65536
LEAST = 5       # clusters of the first write
NAME = 'moving'
WRITES = ('WRITE', 'DIO_WRITE')
ROOT = '/mnt/images'


def tool(*arguments):
    return subprocess.run(['iotracer', *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def ask(command, **arguments):
    return qmp('qmp', f'{command} {json.dumps(arguments)}')[0]


def wait_until(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    fail(f'never: {what}')


def jobs():
    return {job['device']: job for job in ask('query-block-jobs')}


def show():
    machine, = json.loads(tool('vm', 'show', '--json', NAME))
    return {drive['name']: drive for drive in machine['drives']}


def tops():
    """The first layer of each drive that is there."""
    return {name: os.path.basename(drive['layers'][0]['file'])
            for name, drive in show().items() if drive['layers'] and not drive['unplugged']}


class Writer:
    """Writes by QEMU, each of one cluster more than the last."""
    def __init__(self):
        self.done = []
        self.at = 0

    def write(self, drive, file):
        """@file: the path that the row must have."""
        length = (len(self.done) + LEAST) * CLUSTER
        # the first one by its own name: its device has its backend elsewhere
        where = 'd0' if drive == 'disk0' else f'-d {drive}'
        said = ask('human-monitor-command',
                   **{'command-line': f'qemu-io {where} "write -P 7 {self.at} {length}"'})
        if said:
            fail(f'{drive}: {said}')
        self.done.append((drive, f'{ROOT}/{file}', self.at, length))
        # apart from each other, so that the jobs copy each for itself, in no larger pieces
        self.at += length + 2 * CLUSTER

    def check(self, places, drives=None):
        """
        Each write is in the log once. @places: it is where the guest has it, but in the overlay,
        which is qcow2. @drives: those that a file has in the log, if not its own.
        """
        rows = [json.loads(line) for line in tool('log', '--vm', NAME, '-f', 'json').splitlines()]
        writes = [row for row in rows if row['op'] in WRITES]
        for drive, file, at, length in self.done:
            found = [row for row in writes if row['file'] == file and row['result'] == length]
            if len(found) != 1:
                fail(f'{drive}: {length} bytes of {file} are in {len(found)} rows: {found}')
            wanted = (drives or {}).get(file, drive)
            if found[0]['drive'] != wanted or found[0]['path'] != file:
                fail(f'{file} is of {wanted}: {found[0]}')
            if places and file != f'{ROOT}/overlay' and found[0]['offset_bytes'] != at:
                fail(f'{file}: {length} bytes at {at}: {found[0]}')
        return rows


def snapshot(file):
    ask('blockdev-snapshot-sync', device='d0', **{'snapshot-file': f'{ROOT}/{file}'})


def pivot():
    """The job's copy becomes the drive, when it has all."""
    wait_until('the job is ready', lambda: jobs()['d0']['ready'])
    ask('block-job-complete', device='d0')
    wait_until('the job is gone', lambda: not jobs())


def expect_tops(**wanted):
    found = tops()
    if found != wanted:
        fail(f'the drives have {found}, not {wanted}')


def snapshots(writer):
    """An external snapshot, and the commit of it."""
    writer.write('disk0', 'top')
    snapshot('overlay')
    writer.write('disk0', 'overlay')
    expect_tops(disk0='overlay')
    ask('block-commit', device='d0')
    wait_until('the commit is ready', lambda: jobs()['d0']['ready'])
    writer.write('disk0', 'overlay')
    pivot()
    os.unlink('overlay')
    writer.write('disk0', 'top')
    expect_tops(disk0='top')


def mirror(writer, form):
    ask('drive-mirror', device='d0', target=f'{ROOT}/copy', sync='full', format=form)
    wait_until('the mirror is ready', lambda: jobs()['d0']['ready'])
    writer.write('disk0', 'top')
    pivot()
    writer.write('disk0', 'copy')
    expect_tops(disk0='copy')


def moves(writer):
    os.rename('copy', 'moved')
    writer.write('disk0', 'moved')
    show()
    os.unlink('moved')
    writer.write('disk0', 'moved')
    show()


def plugs(writer, form):
    """A drive that is added and removed, and then that of the command line is."""
    ask('blockdev-add', driver=form, file={'driver': 'file', 'filename': f'{ROOT}/other'},
        **{'node-name': 'other'})
    ask('device_add', driver='scsi-hd', id='disk1', drive='other')
    writer.write('disk1', 'other')
    if not show()['disk1']['added']:
        fail('disk1 is not one that was added')
    ask('device_del', id='disk1')
    wait_until('disk1 is gone', lambda: len(ask('query-block')) == 1)
    ask('blockdev-del', **{'node-name': 'other'})
    os.unlink('other')
    ask('human-monitor-command', **{'command-line': 'drive_del d0'})
    drives = show()
    if {name: drive['unplugged'] for name, drive in drives.items()} != {'disk0': True, 'disk1': True}:
        fail(f'what was unplugged is not: {drives}')


def all(form):
    writer = Writer()
    tool('add', '--vm', NAME, '-n', '100000')
    if not show()['disk0']['layers'][0]['traced']:
        fail('the drive is not traced')
    snapshots(writer)
    mirror(writer, form)
    moves(writer)
    plugs(writer, form)
    rows = writer.check(form == 'raw')
    print(len(rows), 'rows', len(writer.done), 'writes')
    if {row['drive'] for row in rows if row['inode']} != {'disk0', 'disk1'}:
        fail(f"drives: { {(row['drive'], row['file']) for row in rows} }\n"
             f"of none: {[row for row in rows if row['inode'] and not row['drive']]}")
    # the data reaches the disk by bios of the same files
    if form == 'raw':
        for drive, file, _, length in writer.done:
            bios = [row for row in rows if row['op'] == 'BLOCK_WRITE' and row['file'] == file]
            if sum(row['result'] for row in bios) < length or {row['drive'] for row in bios} != {drive}:
                fail(f'{file}: {length} bytes, and the bios {bios}')
    tool('remove', '--vm', NAME)


def unseen():
    """An overlay that comes and goes between two looks."""
    writer = Writer()
    tool('add', '--vm', NAME)
    ask('human-monitor-command', **{'command-line': f'logfile {ROOT}/log'})
    ask('human-monitor-command', **{'command-line': 'log int'})
    writer.write('disk0', 'top')
    snapshot('overlay')
    writer.write('disk0', 'overlay')
    ask('block-commit', device='d0')
    pivot()
    os.unlink('overlay')
    rows = writer.check(False, {f'{ROOT}/overlay': ''})
    files = {row['file'] for row in rows if row['inode']}
    if files != {f'{ROOT}/top', f'{ROOT}/overlay'}:
        fail(f'files: {files}')
    # as QEMU is asked each time, it looks at its files again
    text = [line.split(';') for line in tool('log', '--vm', NAME).splitlines()]
    text = [[*line[7:10], line[3]] for line in text if line[1] == 'W' and line[4] == 'VFS']
    wanted = [[row['drive'], row['op'], row['file'], str(row['result'])] for row in rows if row['op'] in WRITES]
    if text != wanted:
        fail(f'text: {text}, not {wanted}')


def ended():
    writer = Writer()
    tool('add', '--vm', NAME)
    writer.write('disk0', 'top')
    pid = int(open('pid').read())
    ask('quit')
    wait_until('the machine has ended', lambda: not os.path.exists(f'/proc/{pid}'))
    writer.check(True)
    guest = [json.loads(line) for line in tool('log', '--guest', '--vm', NAME, '-f', 'json').splitlines()]
    if [row['guest_offset_bytes'] for row in guest if row['op'] in WRITES] != [0]:
        fail(f'{guest}')
    tool('remove', '--vm', NAME)
    if os.listdir('/run/iotracer'):
        fail(f"kept: {os.listdir('/run/iotracer')}")
    if subprocess.run(['iotracer', 'log', '--vm', NAME], stderr=subprocess.DEVNULL, check=False).returncode != 1:
        fail('the machine is there still')


def writes_in(text):
    rows = [json.loads(line) for line in text.splitlines()]
    return [[row[key] for key in ('seq', 'drive', 'op', 'file', 'offset_bytes', 'result')]
            for row in rows if row['op'] in WRITES]


def followed():
    """A log that is followed while a drive is written has, at the machine's end, what the log has then."""
    writer = Writer()
    tool('add', '--vm', NAME)
    with open('followed', 'w+', encoding='utf-8') as out, open('said', 'w+', encoding='utf-8') as said, \
            subprocess.Popen(['iotracer', 'log', '--vm', NAME, '--follow', '-f', 'json'], stdout=out,
                             stderr=said) as follower:
        try:
            # one by one, so that each comes as it happens
            for file in 'top', 'top', 'overlay':
                if file == 'overlay':
                    snapshot(file)
                writer.write('disk0', file)
                length = writer.done[-1][3]
                wait_until(f'the row of {length} bytes', lambda n=length: f'"result":{n},' in read('followed'))
            pid = int(read('pid'))
            ask('quit')
            wait_until('the machine has ended', lambda: not os.path.exists(f'/proc/{pid}'))
            follower.wait(60)
        finally:
            follower.kill()
        if follower.returncode or NAME not in read('said'):
            fail(f"the follower ended with {follower.returncode}: {read('said')}")
    writer.check(True)
    rows, wanted = writes_in(read('followed')), writes_in(tool('log', '--vm', NAME, '-f', 'json'))
    if rows != wanted:
        fail(f'followed: {rows}, not {wanted}')


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
