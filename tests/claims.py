# SPDX-License-Identifier: GPL-2.0
"""
Which test shows what the documentation promises? Usage: python3 claims.py [check]

tests/claims has the answers, and says at its top how it is written. Without an argument the
table is printed: where a claim stands, the claim, and what shows it. "check" checks that each
claim is in its document, that what shows it exists, and that nothing is left out that needs a
claim: each paragraph, bullet and row of README.md; each command and option of iotracer(8); each
item of the lists of iotracer(4). It prints what is wrong.
"""
import collections
import os
import re
import signal
import sys

import manual

CLAIMS = 'tests/claims'
# Sections of manual pages in which nothing needs a claim: the tests of the manual run examples.
LEFT_OUT = 'NAME', 'SYNOPSIS', 'EXAMPLES', 'SEE ALSO'

# A paragraph, item or row of a document; "needed" if it has to have a claim.
Unit = collections.namedtuple('Unit', 'where text needed')
# A quotation of a unit, and the lines that say what shows it.
Claim = collections.namedtuple('Claim', 'line where text shown_by')


def joined(text):
    return ' '.join(text.split())


# --- units of documents ---------------------------------------------------------

def readme_units():
    """Rows, bullets and paragraphs of README.md, without its examples, pictures and headings."""
    where, lines = 'README.md', []
    text = re.sub(r'<!--.*?-->', '', without_heads(manual.read('README.md')), flags=re.S)
    for line in text.split('\n') + ['']:
        if re.match(r'#|- |\| |    |$', line) and lines:
            yield Unit(where, joined(' '.join(lines)), True)
            lines = []
        if line.startswith('# '):
            where = 'README.md'
        elif line.startswith('## '):
            where = f'README.md, {line[3:]}'
        elif re.fullmatch(r'\|[-|]+', line):
            continue
        elif re.match(r' {4}|$', line):
            lines = []
        else:
            lines.append(re.sub(r'^\| | \|$|^- ', '', line))


def without_heads(text):
    """A text of Markdown without the heads of its tables."""
    return re.sub(r'^\|.*\n(?=\|[-|]+\n)', '', text, flags=re.M)


def roff_sections(page):
    """The sections of a page, each subsection by itself: names and texts."""
    parts = re.split(r'^\.S[HS] "?(.*?)"?\n', manual.read(page), flags=re.M)
    return zip(parts[1::2], parts[2::2])


def roff_text(text):
    """The text of lines of roff, without macros."""
    shown = []
    for line in text.split('\n'):
        if re.match(r'\.(B|I|R[BI])', line):
            shown.append(manual.without_fonts(line))
        elif not line.startswith('.'):
            shown.append(manual.plain(line))
    return joined('\n'.join(shown))


def roff_paragraphs(text):
    """The paragraphs of a section: the macro that begins it, its tag if it has one, its text."""
    text = re.sub(r'^\.(EX|nf|TS)\n.*?^\.(EE|fi|TE)\n', '', text, flags=re.M | re.S)
    # a paragraph that is only indented belongs to the item before it
    text = re.sub(r'^\.IP\n', '', text, flags=re.M)
    for part in re.split(r'^(?=\.(?:TP|PP|IP)\b)', '.PP\n' + text, flags=re.M):
        head, _, rest = part.partition('\n')
        tag = roff_text(rest.partition('\n')[0]) if head.startswith('.TP') else ''
        if roff_text(rest):
            yield head[:3], tag, roff_text(rest)


def tool_units():
    """iotracer(8): each item of a list, the purpose of each command, each option of its usage."""
    page = manual.TOOL
    commands = re.findall(r'^\.SS (.*)', manual.section(page, 'COMMANDS'), re.M)
    for name, text in roff_sections(page):
        if name in LEFT_OUT:
            continue
        where = f'iotracer(8), {name}'
        paragraphs = list(roff_paragraphs(text))
        tagged = ' '.join(tag for _, tag, _ in paragraphs)
        if name in commands:
            usage = paragraphs.pop(0)[2]
            for option in sorted(set(re.findall(r'\[[^\[\]]*--[a-z][^\[\]]*\]|[\w|-]*--[a-z-]+\S*', usage))):
                if set(re.findall('--[a-z-]+', option)) - set(re.findall('--[a-z-]+', tagged)):
                    yield Unit(where, option, True)
        for i, (macro, _, said) in enumerate(paragraphs):
            yield Unit(where, said, macro == '.TP' or name in commands and i == 0)


def module_units():
    """iotracer(4): each item of the lists that are marked as such."""
    page = manual.MODULE
    listed = {said for name in re.findall(r'^\.\\" begin: (.*)', manual.read(page), re.M)
              for macro, _, said in roff_paragraphs(manual.marked(page, name)) if macro == '.TP'}
    for name, text in roff_sections(page):
        if name not in LEFT_OUT:
            for _, _, said in roff_paragraphs(text):
                yield Unit(f'iotracer(4), {name}', said, said in listed)


def other_units(page, name):
    """Of the other pages nothing needs a claim, but they may be quoted."""
    for section, text in roff_sections(page):
        for _, _, said in roff_paragraphs(text):
            yield Unit(f'{name}, {section}', said, False)


def all_units():
    return [*readme_units(), *tool_units(), *module_units(),
            *other_units(manual.TRACE, 'iotracer-trace(5)'),
            *other_units('tools/iotracer-vm.7', 'iotracer-vm(7)')]


# --- what shows a claim ---------------------------------------------------------

def tests():
    """The names of all tests: {suite: names}."""
    found = {}
    for name in os.listdir(f'{manual.TOP}/tests'):
        if name.endswith('.bats'):
            found[name[:-5]] = re.findall(r'^@test "(.*)" \{', manual.read(f'tests/{name}'), re.M)
    return found


def figures():
    """The tables of make bench: {kernel: {row: figures}}; tables have rows of the same name."""
    found, kernel = {}, None
    for line in manual.read('tests/bench/expected').split('\n'):
        if line.startswith('Kernel '):
            kernel = re.match(r'\d+\.\d+', line.split()[1]).group()
            found[kernel] = collections.defaultdict(list)
        row = line.strip('| ').split(' | ')
        if re.fullmatch(r'[+-]?\d+', row[-1]):
            found[kernel][row[0]] += [int(figure) for figure in row[1:]]
    return found


def bench_fault(claim, rows):
    """What is wrong with a claim that rows of make bench show: its figures have to be there."""
    measured, known = figures(), []
    for row in rows:
        kernel, _, name = row.partition(': ')
        if name not in measured.get(kernel, {}):
            return f'tests/bench/expected has no row {row}'
        known += measured[kernel][name]
    for figure in re.findall(r'(?<![\w.,])\d+(?:,\d{3})*(?![\w%]|[.,]\d)', claim.text):
        number = int(figure.replace(',', ''))
        # as tests/bench/compare: what is less differs by chance
        if not any(abs(number - other) <= max(12, number * 0.05) for other in known):
            return f'tests/bench/expected has no figure near {figure} in these rows'
    return None


def proof_fault(shown_by, known_tests):
    """What is wrong with a line that says what shows a claim."""
    kind, _, name = shown_by.partition(': ')
    if kind == 'no promise':
        return None if name else 'say why it is no promise'
    if kind == 'by hand':
        return None if os.path.exists(f'{manual.TOP}/{name}') else f'there is no {name}'
    if kind.startswith('scripts/'):
        return None if kind in manual.read('scripts/check') else f'scripts/check does not run {kind}'
    if kind not in known_tests:
        return f'there is no suite tests/{kind}.bats'
    pattern = '.*'.join(map(re.escape, name.split('*')))
    if name in known_tests[kind] or '*' in name and any(re.fullmatch(pattern, test)
                                                        for test in known_tests[kind]):
        return None
    return f'tests/{kind}.bats has no test "{name}"'


# --- the claims -----------------------------------------------------------------

def claims():
    """The claims. Several that follow one another are shown by the same."""
    where, waiting, found = None, [], []
    for number, line in enumerate(manual.read(CLAIMS).split('\n'), 1):
        if not line or line.startswith('== '):
            where, waiting = line[3:] or where, []
        elif line.startswith('\t'):
            if not waiting:
                manual.fail(f'{CLAIMS}:{number}: no claim is before this: {line.strip()}')
            for claim in waiting:
                claim.shown_by.append(line.strip())
        elif not line.startswith('#'):
            if waiting and waiting[-1].shown_by:
                waiting = []
            waiting.append(Claim(number, where, joined(line), []))
            found.append(waiting[-1])
    return found


def faults():
    """Yield what is wrong, as lines."""
    units, known_tests, quoted = all_units(), tests(), set()
    places = {unit.where for unit in units}
    for claim in claims():
        at = f'{CLAIMS}:{claim.line}'
        if claim.where not in places:
            yield f'{at}: no such section: {claim.where}'
            continue
        found = [i for i, unit in enumerate(units)
                 if unit.where == claim.where and claim.text in unit.text]
        quoted.update(found)
        if not found:
            yield f'{at}: {claim.where} does not say: {claim.text}'
        if len(found) > 1:
            yield f'{at}: {claim.where} says that {len(found)} times, quote more: {claim.text}'
        if not claim.shown_by:
            yield f'{at}: nothing shows: {claim.text}'
        rows = [line[len('make bench: '):] for line in claim.shown_by
                if line.startswith('make bench: ')]
        why = [proof_fault(line, known_tests) for line in claim.shown_by
               if not line.startswith('make bench: ')] + [bench_fault(claim, rows) if rows else None]
        for fault in filter(None, why):
            yield f'{at}: {claim.text}: {fault}'
    for i, unit in enumerate(units):
        if unit.needed and i not in quoted:
            yield f'{CLAIMS}: {unit.where}: no line for: {unit.text[:90]}'


def check():
    found = list(faults())
    if found:
        manual.fail('\n'.join(found))


def table():
    print('| where | claim | shown by |\n|---|---|---|')
    for claim in claims():
        cells = claim.where, claim.text, '<br>'.join(claim.shown_by)
        print(f'| {" | ".join(cell.replace("|", chr(92) + "|") for cell in cells)} |')


if __name__ == '__main__':
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # scripts/claims | head
    {(): table, ('check',): check}[tuple(sys.argv[1:])]()
