# SPDX-License-Identifier: GPL-2.0
"""The categories, read from the module's lists, so that a new one needs no edit in a suite."""
import re

from lib.places import UAPI


def entries(file, macro, arguments):
    """The arguments of each use of a macro in a list."""
    with open(f'{UAPI}/{file}', encoding='ascii') as f:
        found = re.findall(rf'^{macro}\({arguments},\s*"', f.read(), re.M)
    if not found:
        raise AssertionError(f'{file} has no {macro}')
    return found


LIST = entries('categories.def', 'IOT_CATEGORY', r'(\w+),\s*\w+,\s*([^,]*),\s*([^,]*)')
CATEGORIES = tuple(name for name, _, _ in LIST)
# Those whose events have a kind of file, and those with a file "dirty".
WITH_KINDS = tuple(name for name, kinds, _ in LIST if kinds != '0')
WITH_WRITEBACK = tuple(name for name, _, traits in LIST if 'IOT_TRAIT_WRITEBACK' in traits)
# Those of whose calls some sleep without bound, and which have a file "waiting".
WITH_WAITING = 'net', 'conn', 'epoll'
# The ids of their records.
EVENTS = {name: int(number)
          for name, number in entries('events.def', 'IOT_EVENT', r'(\w+),\s*\w+,\s*(\d+)')
          if name in CATEGORIES}
