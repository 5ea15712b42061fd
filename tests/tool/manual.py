# SPDX-License-Identifier: GPL-2.0
"""
Compare the documentation with the code. Usage: python3 manual.py FUNCTION [ARGUMENT]...

"run PLACE PAGE..." runs the examples of pages that are marked for a place, vm or host. In a
manual page an example is what is between .EX and .EE, in a Markdown page an indented block. The
comment "run: PLACE" before it says where it is run. "vary:" names the words of its output
that differ from run to run; times, numbers with three or more decimals, and the length of
lines of dashes may always differ. A line "..." stands for any lines. A command continues
after a backslash or a "|" at the end of its line, and where the next line begins with the
prompt "> ". It has to exit with status 0, unless "echo $?" follows and shows another one. One
shell runs all examples of a page.

The other functions compare the lists in the pages with those in the sources.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

from lib.places import TOP

TOOL, MODULE, TRACE = 'tools/man/iotracer.8', 'tools/man/iotracer.4', 'tools/man/iotracer-trace.5'
PAGES = TOOL, MODULE, TRACE, 'tools/man/iotracer-vm.7'
PLACES = 'vm', 'host', 'elsewhere'

# Pages in Markdown whose examples are run.
GUIDES = ['README.md'] + sorted(glob.glob('doc/*.md', root_dir=TOP))

# Commands of these pages that are run elsewhere, and what runs them.
ELSEWHERE = {
    'make demo': 'demo_real.bats',
    'make check': '.ci',
    'apt-get install': 'scripts/install-deps',
    'PATH=$PATH:$(scripts/duckdb-get)': 'fleet.bats',
    'make': 'scripts/check',
    'make KVER=': 'scripts/build-all',
    'make tools': 'scripts/check',
    'sudo make install': 'tool.bats',
    'sudo modprobe iotracer': 'dkms.bats',
    'make deb': 'scripts/check-deb',
    'sudo cp -r .': 'scripts/check-dkms',
    'iotracer report': 'report.bats',
    'iotracer top': 'top.bats',
    'iotracer vm show': 'vm_images.bats',
    'iotracer add --vm': 'vm_images.bats',
    'iotracer log --vm': 'vm_images.bats',
    'iotracer record --vm': 'record_images.bats',
    'iotracer record -o': 'record.bats',
    'iotracer export': 'export.bats',
    'iotracer stats': 'stats.bats',
    'iotracer slowest': 'slowest.bats',
    'iotracer path': 'path.bats',
    'iotracer blame': 'blame.bats',
    'iotracer durability': 'durability.bats',
    'iotracer histogram': 'histogram.bats',
    'iotracer profile': 'profile_trace.bats',
    'iotracer cache-sim': 'cache_sim.bats',
    'iotracer findings': 'findings.bats',
    'iotracer diff': 'diff.bats',
    'iotracer sql': 'sql.bats',
    'iotracer doctor': 'doctor.bats',
    'iotracer map': 'vm_images.bats',
    'iotracer join': 'join.bats',
}


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def fail(text):
    print(text)
    sys.exit(1)


def is_same(what, found, wanted):
    """Check that two sets are equal and not empty. Prints what each has and the other lacks."""
    found, wanted = set(found), set(wanted)
    if found != wanted:
        fail(f'{what}: too many: {sorted(found - wanted)}; missing: {sorted(wanted - found)}')
    if not found:
        fail(f'{what}: none was found')


# --- pages ----------------------------------------------------------------------

ESCAPES = {r'\-': '-', r'\e': '\\', r'\(aq': "'", r'\(ga': '`', r'\(ha': '^', r'\(ti': '~'}
ESCAPE = re.compile(r'\\(\(..|f.|.|$)', re.M)
# Characters that have to be escaped: man(1) shows others, which cannot be typed instead.
UNESCAPED = re.compile(r"(?<!\\)[-'`^~]")


def plain(text):
    """The text of lines of roff, without escapes, fonts and comments."""
    text = re.sub(r'^\.\\".*\n', '', text, flags=re.M)
    return ESCAPE.sub(lambda m: ESCAPES.get(m.group(), ''), text)


def section(page, name, kind='SH'):
    """The lines of a section, without its heading."""
    ends = {'SH': r'\.SH ', 'SS': r'\.S[HS] '}[kind]
    found = re.search(rf'^\.{kind} "?{re.escape(name)}"?\n(.*?)(?=^{ends}|\Z)', read(page),
                      re.M | re.S)
    if not found:
        fail(f'{page} has no section {name}')
    return found.group(1)


def marked(page, name):
    """The lines between the comments "begin: name" and "end"."""
    found = re.search(rf'^\.\\" begin: {re.escape(name)}\n(.*?)^\.\\" end$', read(page),
                      re.M | re.S)
    if not found:
        fail(f'{page} has no list "{name}"')
    return found.group(1)


def without_fonts(line):
    """What a line with a macro shows: .BR joins its words, .B has blanks between them."""
    macro, _, rest = line.partition(' ')
    words = [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', rest)]
    return plain((' ' if macro in ('.B', '.I') else '').join(words))


def tags(text):
    """The headings of the paragraphs of a list: the lines after .TP."""
    return [without_fonts(line) for line in re.findall(r'^\.TP\n(.*)', text, re.M)]


def shown(text):
    """The text of a section, without macros."""
    return '\n'.join(without_fonts(line) if re.match(r'\.[BI]', line) else plain(line)
                     for line in text.split('\n'))


# --- examples -------------------------------------------------------------------

class Example:
    """Commands, each with the lines that it prints, and the words in these that may vary."""

    def __init__(self, page, line, place, vary, text):
        self.name = f'{page}:{line}'
        self.place = place
        self.vary = vary
        self.commands = []
        # an example that is run elsewhere has no prompts and no output
        prompt = re.compile('' if place == 'elsewhere' else '[#$] ')
        lines = [line for line in text.split('\n') if line]
        while lines:
            line = lines.pop(0)
            if not prompt.match(line):
                self.commands[-1][1].append(line)
                continue
            command = prompt.sub('', line, count=1)
            while lines and (command.endswith(('\\', '|')) or lines[0].startswith('> ')):
                command += '\n' + re.sub(r'^> ', '', lines.pop(0))
            self.commands.append((command, []))


def roff_examples(page):
    text, place, vary = read(page), None, []
    for block in re.finditer(r'^\.\\" (run|vary): ([^\n]*)$|^\.EX\n(.*?)^\.EE$', text, re.M | re.S):
        line = text[:block.start()].count('\n') + 1
        if block.group(1) == 'run':
            place = block.group(2)
        elif block.group(1) == 'vary':
            vary += block.group(2).split()
        else:
            raw = [part for part in block.group(3).split('\n') if UNESCAPED.search(part)]
            if raw:
                fail(f'{page}:{line}: what is typed has to be escaped: {raw[0]}')
            yield Example(page, line, place, vary, plain(block.group(3)))
            place, vary = None, []


def markdown_examples(page):
    """The examples of a page, without the output of make demo, which demo.bats checks."""
    text = re.sub(r'^<!-- demo: .*?^<!-- end -->$', lambda m: re.sub('.', '', m.group()),
                  read(page), flags=re.M | re.S)
    place, vary = None, []
    for block in re.finditer(r'^<!-- (run|vary): (.*) -->$|((?:^    .*\n(?:\n(?=    ))*)+)', text, re.M):
        line = text[:block.start()].count('\n') + 1
        if block.group(1) == 'run':
            place = block.group(2)
        elif block.group(1) == 'vary':
            vary += block.group(2).split()
        else:
            indented = re.sub(r'^    ', '', block.group(3), flags=re.M)
            if place or re.search(r'^[#$] ', indented, re.M):
                yield Example(page, line, place, vary, indented)
            place, vary = None, []


def examples_of(page):
    found = list((markdown_examples if page.endswith('.md') else roff_examples)(page))
    for example in found:
        if example.place not in PLACES:
            fail(f'{example.name}: a comment before it says where it is run: {PLACES}')
    return found


VARIES = r'\d{4}-\d\d-\d\d[T ][\d:.]+Z?|\d+\.\d{3,}|-{4,}'


def pattern_of(line, vary):
    """The regular expression that a line of output has to match."""
    words = '|'.join(rf'(?<![\w.]){re.escape(word)}(?![\w.])' for word in vary)
    parts = re.split(rf'({VARIES}{"|" + words if words else ""}|\s+)', line.rstrip())
    return ''.join(r'\s+' if part.isspace() else
                   r'[\w.:+-]+' if i % 2 else re.escape(part) for i, part in enumerate(parts))


def differs(example, wanted, found):
    """How the lines of an output differ from those of the example, or an empty string."""
    wanted, found = list(wanted), list(found)
    while wanted:
        line = wanted.pop(0)
        if line == '...':
            later = [differs(example, wanted, found[n:]) for n in range(len(found) + 1)]
            return '' if '' in later else later[-1 if wanted else 0]
        if not found:
            return f'nothing instead of "{line}"'
        if not re.fullmatch(pattern_of(line, example.vary), found[0].rstrip()):
            return f'"{found[0]}" instead of "{line}"'
        found.pop(0)
    return f'"{found[0]}" too much' if found else ''


def run_commands(commands, directory):
    """Run all commands in one shell. Yields the status and the output lines of each."""
    with open(f'{directory}/script', 'w', encoding='utf-8') as f:
        f.write('last=0\n')
        for i, command in enumerate(commands):
            with open(f'{directory}/{i}', 'w', encoding='utf-8') as text:
                text.write(command)
            f.write(f'text=$(cat {directory}/{i}); (exit $last)\n'
                    f'eval "$text" >{directory}/{i}.out 2>&1\n'
                    f'last=$?; echo $last >{directory}/{i}.status\n')
    subprocess.run(['bash', f'{directory}/script'], stdin=subprocess.DEVNULL, check=False)
    for i in range(len(commands)):
        with open(f'{directory}/{i}.status', encoding='utf-8') as f:
            status = int(f.read())
        with open(f'{directory}/{i}.out', encoding='utf-8', errors='backslashreplace') as f:
            # messages of a bash that is not interactive begin with its name and a line number
            yield status, [re.sub(r'^\S+: (eval: )?line \d+: ', '', line)
                           for line in f.read().split('\n') if line]


def run(place, *pages):
    wrong = []
    for page in pages:
        examples = [example for example in examples_of(page) if example.place == place]
        if not examples:
            fail(f'{page} has no example for {place}')
        with tempfile.TemporaryDirectory() as directory:
            commands = [c for example in examples for c, _ in example.commands]
            results = run_commands(commands, directory)
            for example in examples:
                for i, (command, wanted) in enumerate(example.commands):
                    status, found = next(results)
                    shown_next = example.commands[i + 1:i + 2]
                    why = differs(example, wanted, found)
                    if not why and status and (not shown_next or shown_next[0][0] != 'echo $?'):
                        why = f'exit status {status}'
                    print('\n'.join([f'# {command}', *found]))
                    if why:
                        wrong.append(f'{example.name}: {command}: {why}')
    if wrong:
        fail('\n'.join(wrong))


# --- what is in the pages -------------------------------------------------------

def output(*command):
    return subprocess.run([f'{TOP}/tools/iotracer', *command], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def tool_commands():
    return re.findall(r'^  ([\w-]+)  ', output('--help').split('\nCommands ')[1].split('\n\n')[0], re.M)


COMMON = {'--color', '--help', '--usage', '--version', '-C', '-h', '-?', '-V'}


def tool_options(command):
    """Long and short options of a command, without those that all commands have."""
    lines = re.findall(r'^ +((?:-\S, )?--[\w-]+|-\S)(?=[ =[,]|$)', output(command, '--help'), re.M)
    return {word for line in lines for word in line.split(', ')} - COMMON


def options_in(text):
    return set(re.findall(r'(?<![\w-])(--[a-z][a-z-]*|-[A-Za-z?](?![\w-]))', text))


def listed_options(text):
    """The options that the lists of options in a section have."""
    lists = re.findall(r'^\.\\" begin: options of [^\n]*\n(.*?)^\.\\" end$', text, re.M | re.S)
    headings = re.findall(r'^\.TP\n(.*)', ''.join(lists), re.M)
    return options_in(' '.join(map(plain, headings)))


def commands():
    """Commands and options of iotracer(8) are those that the tool has."""
    known = COMMON.union(*map(tool_options, tool_commands()))
    headings = re.findall(r'^\.SS (.*)', section(TOOL, 'COMMANDS'), re.M)
    is_same('commands of iotracer(8)', ', '.join(headings).split(', '), tool_commands())
    for heading in headings:
        text = section(TOOL, heading, 'SS')
        for command in heading.split(', '):
            is_same(f'options of {command}', {*listed_options(text), ''}, {*tool_options(command), ''})
        unknown = options_in(shown(text)) - known
        if unknown:
            fail(f'{heading}: no command has {unknown}')
    is_same('options of all commands', options_in(shown(section(TOOL, 'OPTIONS'))), COMMON)
    synopsis = plain(section(TOOL, 'SYNOPSIS'))
    is_same('commands of SYNOPSIS', '|'.join(re.findall(r'^iotracer ([\w|-]+)', synopsis, re.M)).split('|'),
            tool_commands())
    unknown = options_in(synopsis) - known
    if unknown:
        fail(f'no command has {unknown}')


def environment():
    """iotracer(8) has the variables that the tool reads, and its exit statuses."""
    read_by = set()
    for path in glob.glob('tools/*/*.c', root_dir=TOP):
        read_by.update(re.findall(r'getenv\("(\w+)"\)', read(path)))
    is_same('environment', tags(marked(TOOL, 'environment')), read_by - {'PATH', 'TERM'})
    statuses = re.findall(r'^  (\d)  ', output('--help').split('Exit status:')[1], re.M)
    is_same('exit statuses', tags(marked(TOOL, 'exit status')), statuses)


def listed_files(path):
    return re.findall(r'^(?:static const struct iot_procfile \w+_file = )?\t?\{ "(\w+)", '
                      r'\.(?:show|line|ops)', read(path), re.M)


def files():
    """iotracer(4) has the files that the module makes."""
    made = {f'/proc/iotracer/{where}{name}' for where, path in
            (('', 'control'), ('<target>/', 'target_proc'), ('<category>/', 'category_proc'))
            for name in listed_files(f'module/proc/{path}.c')}
    is_same('files of iotracer(4)', tags(marked(MODULE, 'files')), made)
    named = {re.sub('[^/]+/', '<x>/', name) for page in PAGES for name in
             re.findall(r'/proc/iotracer/([<\w>/]*\w)', plain(read(page)))}
    wrong = named - {re.sub('[^/]+/', '<x>/', name.replace('/proc/iotracer/', '')) for name in made}
    if wrong:
        fail(f'there is no such file: {wrong}')


def strings_of(path, function):
    """The strings that a function compares a line with."""
    body = re.search(rf'^static int {function}\(.*?^}}', read(path), re.M | re.S).group()
    return re.findall(r'str(?:n?cmp)\(line, "([^"]*)"', body)


def control():
    """iotracer(4) has the commands that the control files take."""
    for name, path, function in (('control', 'control', 'run'),
                                 ('a target', 'target_proc', 'control_line'),
                                 ('a category', 'category_proc', 'run')):
        taken = {text.strip() for text in strings_of(f'module/proc/{path}.c', function)}
        in_page = {' '.join(re.findall(r'(?<![\w-])[a-z][a-z-]*\b(?!=)', part))
                   for tag in tags(marked(MODULE, f'commands of {name}'))
                   for part in tag.split(', ')}
        in_page = {re.sub(r'^(mode|filter) .*', r'\1', text) for text in in_page}
        is_same(f'commands of {name}', in_page, taken)


def names_in(path, macro):
    """The first words of the rows of a list of module/uapi."""
    text = re.sub(r'/\*.*?\*/', '', read(f'module/uapi/{path}'), flags=re.S)
    return re.findall(rf'^{macro}\(([^)]*)', text, re.M)


def filters():
    """Keys and the categories that they are not for; kinds; categories and their operations."""
    keys = names_in('filter.def', 'IOT_KEY')
    categories = [row.split(',')[0] for row in names_in('categories.def', 'IOT_CATEGORY')]
    paragraphs = re.split(r'^\.TP\n', marked(MODULE, 'keys'), flags=re.M)[1:]
    in_page = [re.split('[= ]', shown(text))[0] for text in paragraphs]
    if in_page != keys:
        fail(f'keys of iotracer(4): {in_page}; filter.def has {keys}')
    for key, text in zip(keys, paragraphs):
        said = ' '.join(shown(text).split())
        without = [row.split(', ')[0].lower() for row in names_in('categories.def', 'IOT_KEY_WITHOUT')
                   if row.split(', ')[1] == key]
        only = [row.split(', ')[0].lower() for row in names_in('filter.def', 'IOT_KEY_ONLY') if row.split(', ')[1] == key]
        if only:
            without += [c for c in categories if c not in only]
            said = said.replace('Only for ' + ' and '.join(', '.join(only).rsplit(', ', 1)) + '.', 'Only for these.')
        if without and not (f'Not for {without[0]}' in said or re.search('Of fs only|Only for these', said) and only):
            fail(f'{key}: it has no meaning for {without}; the page says: {said}')
        if not without and re.search('Not for|only|Only for', said):
            fail(f'{key}: it has a meaning for all categories; the page says: {said}')
    of_filter = shown(section(TOOL, 'filter', 'SS')).split('The keys are')[1].split(';')[0]
    is_same('keys of iotracer(8)', set(re.findall(r'\w+', of_filter)) - {'and'}, keys)
    kinds = re.findall(r'= "(\w+)"', read('module/core/names.c').split('kinds[] = {')[1].split('}')[0])
    is_same('kinds', ', '.join(tags(marked(MODULE, 'kinds'))).split(', '), kinds)
    for category in categories:
        ops = [row.split(', ')[1] for row in names_in('ops.def', 'IOT_OP')
               if row.split(',')[0] == category.upper()]
        is_same(f'operations of {category}',
                ', '.join(tags(marked(MODULE, f'operations of {category}'))).split(', '), ops)
    accesses = [row.replace("'", '').split(', ') for row in names_in('access.def', 'IOT_ACCESS')]
    in_page = {(letter, name) for letter, _, names in
               (tag.partition(': ') for tag in tags(marked(MODULE, 'operations of targets')))
               for name in names.split(', ')}
    is_same('operations of targets', in_page,
            {(row[2], row[0]) for row in accesses if row[0] not in ('READ', 'WRITE')})
    for category in categories:
        names = re.findall(r'^\t\.name = "(\w+)"', read(f'tools/trace/category_{category}.c'), re.M)
        is_same(f'name in tools/trace/category_{category}.c', names, [category])


def parameters():
    """The names and defaults of parameters, and which of them can be changed."""
    text = read('module/core/param.c')
    modes = dict(re.findall(r'^module_param(?:_cb)?\((\w+),.* (0\d+)\);', text, re.M))
    described = dict(re.findall(r'^MODULE_PARM_DESC\((\w+), "(.*)"\);', text, re.M))
    in_page = dict(re.fullmatch(r'(\w+) \((.*)\)', tag).groups()
                   for tag in tags(marked(MODULE, 'parameters')))
    is_same('parameters of iotracer(4)', in_page, described)
    is_same('parameters of the module', modes, described)
    for name, said in in_page.items():
        default, _, changeable = said.partition(', ')
        if (changeable == 'rw') != (modes[name] == '0644'):
            fail(f'{name}: the page is wrong about whether it can be changed')
        if f'default {default}' not in described[name] and f'{default} (default)' not in described[name]:
            fail(f'{name}: its default is not {default}')


def elsewhere():
    """Each command of the pages is run by something; what they name of make and Debian is there."""
    text = '\n'.join(map(read, [*GUIDES, 'CONTRIBUTING.md', 'tests/README.md']))
    for page in GUIDES:
        for example in examples_of(page):
            for command, _ in example.commands if example.place == 'elsewhere' else ():
                command = command.split(' #')[0].strip()
                if command and not any(command == known or re.match(rf'{re.escape(known)}(?!\w)', command)
                                       for known in ELSEWHERE):
                    fail(f'{example.name}: nothing runs: {command}')
    makefile = read('Makefile')
    for target in re.findall(r'(?:`|^    (?:sudo )?)make ([a-z][a-z-]*)', text, re.M):
        if not re.search(rf'^[a-z -]*\b{target}\b[a-z -]*:', makefile, re.M):
            fail(f'make has no target {target}')
    known = re.findall(r'[\w.+-]+', read('scripts/install-deps'))
    for packages in re.findall(r'apt-get install ((?:.*\\\n)*.*)', text):
        for package in packages.replace('\\\n', ' ').split():
            if package not in known:
                fail(f'scripts/install-deps does not know {package}')
    version = re.search(r'PACKAGE_VERSION="(.*)"', read('dkms.conf')).group(1)
    for other in re.findall(r'\biotracer[-/](\d+(?:\.\d+)+)', text):
        if other != version:
            fail(f'the pages have version {other} instead of {version}')
    for path in ELSEWHERE.values():
        if not os.path.exists(f'{TOP}/{path}') and not is_suite(path):
            fail(f'there is no {path}')


def is_suite(name):
    return bool(glob.glob(f'{TOP}/tests/**/{name}', recursive=True))


def places():
    """The files, pages and sections that the documentation names exist."""
    for page in [*GUIDES, 'CONTRIBUTING.md', 'SECURITY.md', 'tests/README.md']:
        text = read(page)
        for path in [os.path.join(os.path.dirname(page), link) for link in re.findall(r'\]\(([^)#]+)\)', text)] + \
                re.findall(r'`((?:module|tools|tests|scripts)/[\w./-]+)`', text):
            if not os.path.exists(f'{TOP}/{path}'):
                fail(f'{page}: there is no {path}')
        for name in re.findall(r'`(\w+\.(?:py|bats))`', text):
            if not is_suite(name):
                fail(f'{page}: there is no suite {name}')
        long = [line for line in text.split('\n')
                if len(line) > 110 and page != 'SECURITY.md' and not line.startswith('|')]
        if long:
            fail(f'{page}: more than 110 columns: {long[0]}')
    for page in PAGES:
        text = read(page)
        if not section(page, 'EXAMPLES') or not examples_of(page):
            fail(f'{page} has no examples')
        for path in re.findall(r'^\.IR? ((?:module|tools)/[\w./]+)', text, re.M):
            if not os.path.exists(f'{TOP}/{path}'):
                fail(f'{page}: there is no {path}')
        for name, number in re.findall(r'^\.BR (iotracer[\w-]*) \((\d)\)', text, re.M):
            if not os.path.exists(f'{TOP}/tools/man/{name}.{number}'):
                fail(f'{page}: there is no {name}({number})')
        for name in re.findall(r'^See\n\.BR "?([A-Z][A-Za-z ]+?)"? \.$', text, re.M):
            if not re.search(rf'^\.S[HS] "?{name}"?$', text, re.M):
                fail(f'{page}: there is no section {name}')


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
