# SPDX-License-Identifier: GPL-2.0
"""
Compare snapshots of iotracer with what other programs say. Usage: python3 snapshot.py FUNCTION
[ARGUMENT]...
"""
import csv
import gzip
import json
import os
import re
import stat
import subprocess
import sys

KINDS = {stat.S_IFREG: 'FILE', stat.S_IFDIR: 'DIR', stat.S_IFLNK: 'SYMLINK', stat.S_IFIFO: 'PIPE',
         stat.S_IFSOCK: 'SOCKET', stat.S_IFCHR: 'DEVICE', stat.S_IFBLK: 'DEVICE'}


def unescape(text):
    """The bytes of a name as it is shown."""
    return re.sub(rb'\\([0-3][0-7][0-7])', lambda m: bytes([int(m.group(1), 8)]), text.encode())


def table(snapshot):
    """The rows of all parts, of which snapshot.json has names and numbers."""
    with open(f'{snapshot}/snapshot.json', encoding='utf-8') as f:
        document = json.load(f)
    rows = []
    for part in document['parts']:
        path = f'{snapshot}/{part["file"]}'
        assert os.stat(path).st_size == part['bytes'], part
        with gzip.open(path, 'rt', encoding='utf-8', newline='') as f:
            found = list(csv.DictReader(f))
        assert len(found) == part['rows'], part
        rows += found
    assert len(rows) == document['rows']
    assert all(','.join(row) == document['columns'] for row in rows)
    return rows, document


def seconds(text):
    """A time in ns, by date(1)."""
    out = subprocess.run(['date', '-d', text, '+%s %N'], check=True, capture_output=True, text=True)
    whole, ns = out.stdout.split()
    return int(whole) * 10**9 + int(ns)


def btime(path):
    """The birth time in ns, by stat(1); an empty string if the filesystem has none."""
    out = subprocess.run(['stat', '-c', '%w', path], check=True, capture_output=True).stdout
    text = out.decode().strip()
    return '' if text == '-' else seconds(text)


def extents(path):
    out = subprocess.run(['filefrag', path], capture_output=True, check=True).stdout
    return int(re.search(rb': (\d+) extents? found', out).group(1))


def superblock(path):
    """The device of a filesystem, by findmnt(8)."""
    out = subprocess.run(['findmnt', '-no', 'MAJ:MIN', '-T', path], check=True, capture_output=True)
    return out.stdout.decode().split()[-1]


def check_row(row, path, device, with_extents):
    st = os.lstat(path)
    wanted = {
        'size_bytes': st.st_size, 'kind': KINDS[stat.S_IFMT(st.st_mode)],
        'mode': f'{stat.S_IMODE(st.st_mode):04o}', 'nlink': st.st_nlink, 'uid': st.st_uid,
        'gid': st.st_gid, 'inode': st.st_ino, 'device': device,
        'allocated_bytes': 512 * st.st_blocks,
    }
    for name, value in wanted.items():
        assert row[name] == str(value), (path, name, row[name], value)
    for name, value in (('ctime', st.st_ctime_ns), ('mtime', st.st_mtime_ns),
                        ('atime', st.st_atime_ns), ('btime', btime(path))):
        assert (row[name] and seconds(row[name])) == value, (path, name, row[name], value)
    if with_extents and stat.S_ISREG(st.st_mode):
        assert row['extents'] == str(extents(path)), (path, row['extents'])
    else:
        assert row['extents'] == '', row


def files(snapshot, root, depth=None, with_extents=''):
    """Each file of a tree has a row, and each column of it is what stat(1) says."""
    rows, document = table(snapshot)
    limit = [] if depth is None else ['-maxdepth', depth]
    found = subprocess.run(['find', root, '-xdev', *limit, '-print0'], check=True,
                           stdout=subprocess.PIPE).stdout.split(b'\0')[:-1]
    by_path = {unescape(row['path']): row for row in rows}
    assert len(by_path) == len(rows)
    assert set(by_path) == set(found), (set(by_path) ^ set(found))
    assert {row['snapshot_timestamp'] for row in rows} == {document['begin']}
    device = superblock(root)
    for path, row in by_path.items():
        check_row(row, path, device, with_extents)


def inodes(snapshot, root):
    """Each inode of a tree has one row, at one of its names."""
    rows, document = table(snapshot)
    names = {}
    for name in subprocess.run(['find', root, '-xdev', '-print0'], check=True,
                               stdout=subprocess.PIPE).stdout.split(b'\0')[:-1]:
        names.setdefault(os.lstat(name).st_ino, set()).add(name)
    assert sorted(int(row['inode']) for row in rows) == sorted(names)
    for row in rows:
        assert unescape(row['path']) in names[int(row['inode'])], row
    further = sum(len(name) - 1 for name in names.values())
    assert document['left_out']['further_links'] == further, (document['left_out'], further)


def paths(snapshot):
    """Print the paths as they are shown, in order."""
    print('\n'.join(sorted(row['path'] for row in table(snapshot)[0])))


def queries():
    """Print the commands of iotracer-trace(5) that join snapshots with a trace."""
    import manual
    for example in manual.roff_examples(manual.TRACE):
        if example.place == 'elsewhere':
            print('\n'.join(command for command, _ in example.commands))


def populate(root, directories, each):
    """Make directories with files, half of which have two names."""
    for d in range(int(directories)):
        os.makedirs(f'{root}/{d:05}')
        for f in range(0, int(each), 2):
            os.close(os.open(f'{root}/{d:05}/{f}', os.O_CREAT | os.O_WRONLY, 0o600))
            os.link(f'{root}/{d:05}/{f}', f'{root}/{d:05}/{f + 1}')


def ps(pid, what):
    return subprocess.run(['ps', '-ww', '-o', f'{what}=', '-p', pid], check=True,
                          capture_output=True).stdout.decode(errors='surrogateescape').strip('\n')


STATES = {'S': 'sleeping', 'R': 'running', 'D': 'disk-sleep', 'T': 'stopped', 'Z': 'zombie', 'I': 'idle'}


def process(snapshot, *pids):
    """The columns of processes that do nothing are what ps(1) and /proc say."""
    rows, document = table(snapshot)
    by_pid = {row['pid']: row for row in rows}
    assert len(by_pid) == len(rows)
    for pid in pids:
        row = by_pid[pid]
        for name, what in (('ppid', 'ppid'), ('uid', 'ruid'), ('virtual_mem_kb', 'vsz'),
                           ('rss_kb', 'rss'), ('threads', 'nlwp')):
            equal(name, row[name], ps(pid, what).strip())
        equal('status', row['status'], STATES[ps(pid, 'stat')[0]])
        with open(f'/proc/{pid}/comm', 'rb') as f:
            equal('comm', unescape(row['comm']), f.read()[:-1])
        with open(f'/proc/{pid}/cmdline', 'rb') as f:
            equal('cmdline', unescape(row['cmdline']),
                  f.read(4096).rstrip(b'\0').replace(b'\0', b' '))
        started = seconds(ps(pid, 'lstart')) / 1e9
        assert abs(seconds(row['create_time']) / 1e9 - started) < 2, (row['create_time'], started)
        with open(f'/proc/{pid}/io', encoding='utf-8') as f:
            for name, value in re.findall(r'(\w+): (\d+)', f.read()):
                column = name + '_bytes' if name in ('rchar', 'wchar') else name
                equal(column, row[column], value)
        equal('files', int(row['open_files']), len(os.listdir(f'/proc/{pid}/fd')))
        with open(f'/proc/{pid}/cgroup', encoding='utf-8') as f:
            path = re.search(r'^0::(.*)$', f.read(), re.M)
        equal('cgroup path', row['cgroup_path'], path.group(1) if path else '')
        root = output('findmnt', '-n', '-o', 'TARGET', '-t', 'cgroup2').split()
        if path and root:
            equal('cgroup', int(row['cgroup']), os.stat(root[0] + path.group(1)).st_ino)
        equal('time', row['snapshot_timestamp'], document['begin'])


def used(pid):
    """Seconds of the CPU that a process has used."""
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        words = f.read().rsplit(')')[-1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')


def cpu():
    """The shares of the CPU are what /proc says was used meanwhile."""
    busy = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
    idle = subprocess.Popen(['sleep', '1000'])
    try:
        subprocess.run(['iotracer', 'snapshot', 'process', '-o', 'young', '--watch=0'], check=True)
        before = used(busy.pid)
        subprocess.run(['iotracer', 'snapshot', 'process', '-o', 'cpu', '--watch=6'], check=True)
        after = used(busy.pid)
    finally:
        busy.kill()
        idle.kill()
    rows = {row['pid']: row for row in table('cpu/' + os.listdir('cpu')[0])[0]}
    row = rows[str(busy.pid)]
    tick = 3 / os.sysconf('SC_CLK_TCK')
    # of 6 s at least 4.75 are looked at, and no more was used than in all of them
    assert 0 < float(row['cpu_5s']) <= 100 * (after - before + tick) / 4.75, (row, before, after)
    # a process that is younger than the window used nothing before
    assert before - tick <= float(row['cpu_1h']) * 36 <= after + tick + 0.2, (row, before, after)
    assert abs(float(row['cpu_2m']) * 1.2 - float(row['cpu_1h']) * 36) < 0.3, row
    row = rows[str(idle.pid)]
    equal('idle', (row['cpu_5s'], row['cpu_2m'], row['cpu_1h']), ('0.00', '0.00', '0.00'))
    # one that is older than the samples has none
    rows = {row['pid']: row for row in table('young/' + os.listdir('young')[0])[0]}
    if float(output('cut', '-d', ' ', '-f', '1', '/proc/uptime')) > 3700:
        equal('old', [rows['2'][name] for name in ('cpu_5s', 'cpu_2m', 'cpu_1h')], ['', '', ''])


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def equal(what, found, wanted):
    assert found == wanted, f'{what}: {found!r} instead of {wanted!r}'


def numbers(text):
    """The members of a list of numbers and ranges."""
    ends = [part.split('-') for part in text.split(',')]
    return {n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)}


def system_os(path):
    os_, cpu = load(path)['os'], load(path)['cpu']
    for key, option in (('kernel', '-r'), ('kernel_version', '-v'), ('architecture', '-m'),
                        ('hostname', '-n'), ('system', '-s')):
        equal(key, os_[key], output('uname', option).strip())
    release = dict(re.findall(r'^(\w+)="?(.*?)"?$', open('/etc/os-release', encoding='utf-8').read(),
                              re.M))
    for key, name in (('id', 'ID'), ('name', 'NAME'), ('version', 'VERSION_ID'),
                      ('pretty_name', 'PRETTY_NAME')):
        equal(key, os_['distribution'][key], release.get(name))
    lscpu = {row['field'].rstrip(':'): row['data'] for row in
             json.loads(output('lscpu', '-J'))['lscpu']}
    equal('model', cpu['model'], lscpu.get('Model name'))
    equal('vendor', cpu['vendor'], lscpu.get('Vendor ID'))
    equal('online', numbers(cpu['online']), numbers(lscpu['On-line CPU(s) list']))
    equal('sockets', cpu['sockets'], int(lscpu['Socket(s)']))
    equal('threads', cpu['threads'], int(lscpu['CPU(s)']))
    equal('cores', cpu['cores'], int(lscpu['Core(s) per socket']) * int(lscpu['Socket(s)']))
    equal('nodes', cpu['numa_nodes'], int(lscpu['NUMA node(s)']))
    equal('flags', cpu['flags'], lscpu.get('Flags'))
    caches = {(f'L{c["level"]}' + {'Data': 'd', 'Instruction': 'i'}.get(c['type'], '')): c['size_bytes']
              for c in cpu['caches']}
    for row in json.loads(output('lscpu', '-B', '-J', '-C')).get('caches', []):
        equal(row['name'], caches[row['name']], int(row['one-size']))


def system_memory(path):
    memory = load(path)['memory']
    free = dict(re.findall(r'^(\w+): +(\d+)', output('free', '-b'), re.M))
    equal('total', memory['total_bytes'], int(free['Mem']))
    equal('swap', memory['swap_total_bytes'], int(free['Swap']))
    for name, value in memory['vm'].items():
        equal(name, value, int(output('sysctl', '-n', f'vm.{name}')))
    swaps = output('swapon', '--show=NAME,TYPE,SIZE', '--raw', '--noheadings', '--bytes')
    equal('swaps', [(s['file'], s['type'], s['size_bytes'] // 4096) for s in memory['swaps']],
          [(name, kind, int(size) // 4096) for name, kind, size in
           (line.split() for line in swaps.splitlines())])


def system_disks(path):
    disks = load(path)['disks']
    columns = ('NAME,MAJ:MIN,SIZE,RM,RO,ROTA,SCHED,RQ-SIZE,LOG-SEC,PHY-SEC,MIN-IO,OPT-IO,RA,MODEL,'
               'SERIAL,TYPE,DISC-GRAN,DISC-MAX,START')
    rows = json.loads(output('lsblk', '-J', '-b', '--nodeps', '-o', columns))['blockdevices']
    rows = [row for row in rows if row['size']]
    equal('disks', [d['name'] for d in disks], [row['name'] for row in rows])
    for disk, row in zip(disks, rows):
        queue = disk['queue']
        for found, name in (
                (disk['device'], 'maj:min'), (disk['size_bytes'], 'size'), (disk['removable'], 'rm'),
                (disk['read_only'], 'ro'), (disk['rotational'], 'rota'), (disk['scheduler'], 'sched'),
                (queue['nr_requests'], 'rq-size'), (queue['logical_block_size'], 'log-sec'),
                (queue['physical_block_size'], 'phy-sec'), (queue['minimum_io_size'], 'min-io'),
                (queue['optimal_io_size'], 'opt-io'), (queue['read_ahead_kb'], 'ra'),
                (queue['discard_granularity'], 'disc-gran'), (queue['discard_max_bytes'], 'disc-max'),
                (disk['model'], 'model')):
            wanted = row[name].strip() if isinstance(row[name], str) else row[name]
            equal(f'{disk["name"]} {name}', found, wanted)
        below = json.loads(output('lsblk', '-J', '-b', '-l', '-o', 'NAME,MAJ:MIN,SIZE,TYPE,START',
                                  f'/dev/{disk["name"]}'))['blockdevices']
        equal('partitions', [(p['name'], p['device'], p['size_bytes'], p['start_sector'])
                             for p in disk['partitions']],
              [(r['name'], r['maj:min'], r['size'], r['start']) for r in below if r['type'] == 'part'])
        points = subprocess.run(['findmnt', '-rno', 'TARGET', '-S', f'/dev/{disk["name"]}'],
                                stdout=subprocess.PIPE, text=True, check=False).stdout.split()
        equal('mounts', sorted(m['mount_point'] for m in disk['mounts']), sorted(points))


def system_filesystems(path):
    found = {fs['mount_point']: fs for fs in load(path)['filesystems']}
    rows = json.loads(output('findmnt', '-J', '-l', '-o', 'TARGET,SOURCE,FSTYPE,MAJ:MIN,FSROOT,VFS-OPTIONS,'
                             'FS-OPTIONS', '--real'))['filesystems']
    for row in rows:
        fs = found[row['target']]
        equal('type', fs['type'], row['fstype'])
        equal('device', fs['device'], row['maj:min'].strip())
        equal('root', fs['root'], row['fsroot'])
        equal('options', ','.join(fs['options']), row['vfs-options'])
        equal('fs options', ','.join(fs['filesystem_options']), row['fs-options'])
    st = os.statvfs('/')
    equal('size', found['/']['size_bytes'], st.f_blocks * st.f_frsize)
    equal('inodes', found['/']['inodes'], st.f_files)
    assert not {'proc', 'sysfs', 'devtmpfs'} & {fs['type'] for fs in found.values()}


def system_network(path):
    found = {i['name']: i for i in load(path)['network']}
    names = sorted(os.listdir('/sys/class/net'))
    equal('names', sorted(found), [n for n in names if os.path.isdir(f'/sys/class/net/{n}')])
    import fcntl
    import socket
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for name, interface in found.items():
            request = name.encode()[:15].ljust(40, b'\0')
            mtu = fcntl.ioctl(s, 0x8921, request)  # SIOCGIFMTU
            equal('mtu', interface['mtu'], int.from_bytes(mtu[16:20], 'little'))
            mac = fcntl.ioctl(s, 0x8927, request)  # SIOCGIFHWADDR
            equal('type', interface['type'], int.from_bytes(mac[16:18], 'little'))
            if interface['mac']:
                equal('mac', interface['mac'], ':'.join(f'{b:02x}' for b in mac[18:24]))
    assert found['lo']['addresses'] == [] or '127.0.0.1/8' in found['lo']['addresses']


def keys_of(value, above=''):
    if isinstance(value, list):
        return set().union(*(keys_of(v, above) for v in value))
    if isinstance(value, dict):
        return set(value).union(*(keys_of(v) for v in value.values()))
    return set()


def system_keys(path, page):
    """The page has each key of a snapshot, and no other."""
    with open(page, encoding='utf-8') as f:
        text = f.read()
    section = re.search(r'^\.SS "Snapshot system"\n(.*?)^\.S[HS] ', text, re.M | re.S).group(1)
    paged = set(re.findall(r'[a-z][a-z_0-9]+', ' '.join(re.findall(r'^\.B[RI]? (.*)', section, re.M))))
    always = {'snapshot', 'format', 'tool_version', 'begin', 'begin_monotonic_ns', 'end',
              'end_monotonic_ns'}
    found = keys_of(load(path)) - always
    assert found == paged, (found - paged, paged - found)


def fake(root):
    """Files of a machine with all that a snapshot can have."""
    def put(path, text=''):
        os.makedirs(os.path.dirname(f'{root}/{path}'), exist_ok=True)
        with open(f'{root}/{path}', 'w', encoding='utf-8') as f:
            f.write(text)

    def link(path, target):
        os.makedirs(os.path.dirname(f'{root}/{path}'), exist_ok=True)
        os.symlink(target, f'{root}/{path}')
    put('proc/sys/kernel/osrelease', '6.12.1\n')
    put('proc/sys/kernel/hostname', 'secret-host\n')
    put('proc/cmdline', 'root=UUID=secret-uuid ip=192.0.2.7\n')
    put('proc/cpuinfo', 'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: A processor\n'
                        'cpu MHz\t\t: 1000.5\nflags\t\t: fpu vme\n')
    put('proc/swaps', 'Filename Type Size Used Priority\n/secret-swap file 1024 0 -2\n')
    for n in range(4):
        put(f'sys/devices/system/cpu/cpu{n}/topology/physical_package_id', '0\n')
        put(f'sys/devices/system/cpu/cpu{n}/topology/core_id', f'{n // 2}\n')
    put('sys/devices/system/cpu/cpufreq/boost', '1\n')
    put('sys/devices/system/cpu/cpu0/cache/index0/level', '1\n')
    put('sys/devices/system/cpu/cpu0/cache/index0/size', '32K\n')
    for name, text in (('sys_vendor', 'QEMU'), ('product_name', 'Standard PC'),
                       ('product_serial', 'secret-serial'), ('product_uuid', 'secret-uuid')):
        put(f'sys/class/dmi/id/{name}', text + '\n')
    put('sys/block/sda/dev', '8:0\n')
    put('sys/block/sda/size', '2048\n')
    put('sys/block/sda/queue/scheduler', 'none [bfq] kyber\n')
    put('sys/block/sda/queue/rotational', '0\n')
    put('sys/block/sda/device/model', 'A disk        \n')
    put('sys/block/sda/device/serial', 'secret-serial\n')
    put('sys/block/sda/device/wwid', 'secret-wwid\n')
    put('sys/block/sda/sda1/dev', '8:1\n')
    put('sys/block/sda/sda1/size', '1024\n')
    put('sys/block/sda/sda1/start', '8\n')
    put('sys/block/sda/sda1/partition', '1\n')
    put('sys/block/loop0/size', '0\n')
    put('sys/block/loop1/size', '8\n')
    put('sys/block/loop1/loop/backing_file', '/secret-directory/image.qcow2\n')
    put('sys/block/dm-0/size', '8\n')
    put('sys/block/dm-0/dm/name', 'secret--host-root\n')
    put('sys/block/dm-0/slaves/sda1/dev', '8:1\n')
    put('proc/self/mountinfo',
        '20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,stripe=4\n'
        '21 20 0:40 /@ /secret-mount\\040point rw - btrfs /dev/mapper/secret--host-root rw\n'
        '22 20 0:41 / /mnt rw - nfs4 secret-host:/x rw,addr=192.0.2.9,clientaddr=192.0.2.8\n'
        '23 20 0:5 / /proc rw - proc proc rw\n')
    put('sys/class/net/enx525400c0ffee/type', '1\n')
    put('sys/class/net/enx525400c0ffee/address', '52:54:00:c0:ff:ee\n')
    put('sys/class/net/bonding_masters', '\n')
    link('sys/class/net/enx525400c0ffee/device/driver', '../../drivers/e1000e')
    pci = 'sys/bus/pci/devices/0000:01:00.0'
    put(f'{pci}/class', '0x030000\n')
    put(f'{pci}/vendor', '0x10de\n')
    put(f'{pci}/device', '0x1eb8\n')
    link(f'{pci}/driver', '../../drivers/nvidia')
    put('sys/bus/pci/devices/0000:02:00.0/class', '0x020000\n')
    put('usr/share/misc/pci.ids', '# ids\n10dd  Another\n\t1eb8  Not this\n10de  NVIDIA Corporation\n'
                                  '\t1eb7  Nor this\n\t1eb8  TU104GL [Tesla T4]\n10df  Emulex\n')
    put('dev/kvm')
    put('run/systemd/container', 'lxc\n')
    put('proc/77/comm', 'qemu-system-x86\n')
    put('proc/77/cmdline', 'qemu\0-name\0guest=secret-guest,debug-threads=on\0')
    for fd, target in enumerate(('/dev/kvm', 'anon_inode:kvm-vm', 'anon_inode:kvm-vcpu:0',
                                 'anon_inode:kvm-vcpu:1')):
        link(f'proc/77/fd/{fd}', target)
    put('proc/78/comm', 'sh\n')
    link('proc/78/fd/0', '/dev/kvm')
    zones = 'usr/share/zoneinfo'
    put(f'{zones}/zone.tab', '# table\nCH\t+4723+00832\tEurope/Zurich\nCI\t+0519-00402\tAfrica/Abidjan\n')
    put(f'{zones}/zone1970.tab', '# table\nDE,DK,NO\t+5230+01322\tEurope/Berlin\tmost of Germany\n')
    put(f'{zones}/iso3166.tab', "CH\tSwitzerland\nCI\tCôte d'Ivoire\nDE\tGermany\n")
    put(f'{zones}/tzdata.zi', '# version 2025b\nL Europe/Zurich Europe/Vaduz\n')
    link('etc/localtime', '/usr/share/zoneinfo/Europe/Zurich')


NUMBERS = (
    'nr_requests', 'logical_block_size', 'physical_block_size', 'minimum_io_size', 'optimal_io_size', 'max_sectors_kb',
    'max_hw_sectors_kb', 'max_segments', 'read_ahead_kb', 'discard_granularity', 'discard_max_bytes',
    'write_zeroes_max_bytes', 'rq_affinity', 'nomerges', 'wbt_lat_usec', 'fua', 'dax', 'iostats', 'io_poll')
FLAGS = {'ro': 'read_only', 'removable': 'removable', 'queue/rotational': 'rotational'}


def disks(root):
    """
    Each field of a disk is what its own file has: all of a disk differ, and of the flags each is set for
    one disk only.
    """
    def put(path, text=''):
        os.makedirs(os.path.dirname(f'{root}/sys/block/{path}'), exist_ok=True)
        with open(f'{root}/sys/block/{path}', 'w', encoding='utf-8') as f:
            f.write(f'{text}\n')
    texts = {'dev': '65:16', 'device/vendor': 'VENDOR', 'device/model': 'MODEL', 'device/rev': 'REVISION',
             'device/firmware_rev': 'FIRMWARE', 'queue/scheduler': 'none [kyber] bfq', 'md/level': 'raid1',
             'loop/backing_file': '/a/file', 'serial': 'SERIAL', 'device/serial': 'OTHER', 'wwid': 'WWID',
             'device/wwid': 'OTHER', 'dm/name': 'MAPPER', 'queue/write_cache': 'write back', 'queue/zoned': 'none',
             'size': '2000', 'part1/dev': '65:17', 'part1/start': '21', 'part1/size': '300', 'slaves/sdy/dev': '',
             'mq/0/cpu_list': '0', 'mq/1/cpu_list': '1', 'mq/2/cpu_list': '2'}
    for path, text in texts.items():
        put('sdq/' + path.replace('part1', 'sdq1'), text)
    for i, name in enumerate(NUMBERS):
        put(f'sdq/queue/{name}', str(1000 + i))
    os.symlink('../../../drivers/driver', f'{root}/sys/block/sdq/device/driver')
    for flag in FLAGS:
        name = 'sd' + flag[-2:]
        put(f'{name}/size', '8')
        for other in FLAGS:
            put(f'{name}/{other}', str(int(other == flag)))
    env = {**os.environ, 'IOTRACER_ROOT': root}
    found = {disk['name']: disk for disk in json.loads(output_of(['iotracer', 'snapshot', 'system'], env))['disks']}
    equal('a disk', found.pop('sdq'), {
        'name': 'sdq', 'device': '65:16', 'size_bytes': 2000 * 512, 'vendor': 'VENDOR', 'model': 'MODEL',
        'firmware': 'FIRMWARE', 'driver': 'driver', 'rotational': None, 'removable': None, 'read_only': None,
        'scheduler': 'kyber', 'raid_level': 'raid1', 'backing_file': '/a/file', 'made_of': ['sdy'], 'mounts': [],
        'serial': 'SERIAL', 'wwid': 'WWID', 'mapper_name': 'MAPPER',
        'queue': {**{name: 1000 + i for i, name in enumerate(NUMBERS)}, 'write_cache': 'write back', 'zoned': 'none',
                  'hardware_queues': 3},
        'partitions': [{'name': 'sdq1', 'device': '65:17', 'start_sector': 21, 'size_bytes': 300 * 512, 'mounts': []}]})
    equal('flags', {name: [key for key in FLAGS.values() if disk[key]] for name, disk in found.items()},
          {'sd' + flag[-2:]: [key] for flag, key in FLAGS.items()})


def output_of(command, env):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=env).stdout


def subvolume(snapshot, root):
    """
    Files of a subvolume of btrfs have the device of their filesystem, as records have, not the number that
    stat(1) makes up for the subvolume.
    """
    rows, _ = table(snapshot)
    device = superblock(root)
    by_path = {unescape(row['path']): row for row in rows}
    numbers = set()
    for name in ('file', 'sub', 'sub/file', 'sub/deeper/file'):
        path = os.fsencode(f'{root}/{name}')
        check_row(by_path[path], path, device, '')
        numbers.add(os.stat(path).st_dev)
    assert len(numbers) == 3, numbers


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
