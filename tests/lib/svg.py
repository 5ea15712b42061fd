# SPDX-License-Identifier: GPL-2.0
"""What tests ask of a picture: it is well-formed, for a program that is not ours, and has these values."""
import subprocess
import xml.etree.ElementTree as tree

NAMESPACE = '{http://www.w3.org/2000/svg}'
ELEMENTS = {'svg', 'title', 'desc', 'rect', 'line', 'text', 'polyline'}


class Picture:
    def __init__(self, file):
        subprocess.run(['xmllint', '--noout', '--nonet', file], check=True)
        with open(file, encoding='utf-8') as f:
            self.source = f.read()
        self.root = tree.fromstring(self.source)
        elements = list(self.root.iter())
        names = {e.tag.removeprefix(NAMESPACE) for e in elements}
        # nothing runs, and nothing is fetched
        assert names <= ELEMENTS, names
        for e in elements:
            assert not any('href' in name or name.startswith('on') for name in e.attrib), e.attrib
        width, height = float(self.root.get('width')), float(self.root.get('height'))
        for e in self.root.iter(NAMESPACE + 'rect'):
            x, y, w, h = (float(e.get(name, 0)) for name in ('x', 'y', 'width', 'height'))
            assert -1 <= x and x + w <= width + 1 and -1 <= y and y + h <= height + 1, (e.attrib, width, height)
            assert w > 0 and h > 0, e.attrib

    def texts(self):
        return [e.text for e in self.root.iter(NAMESPACE + 'text')]

    def titles(self):
        return [e.text for e in self.root.iter(NAMESPACE + 'title')]

    def lines(self):
        """The points of each line of values."""
        return [e.get('points').split() for e in self.root.iter(NAMESPACE + 'polyline')]

    def marks(self, *names):
        """The data of each bar, cell and point that has all of these, in the order of the picture; as text."""
        for e in self.root.iter(NAMESPACE + 'rect'):
            data = {name.removeprefix('data-'): value for name, value in e.attrib.items() if name.startswith('data-')}
            if data and all(name in data for name in names):
                yield {**data, **{name: float(e.get(name)) for name in ('x', 'y', 'width', 'height')}}
