# SPDX-License-Identifier: GPL-2.0
"""
Reads the traces of iotracer record, and streams of the loaded module: libiotracer for Python.

    import iotracer
    with iotracer.Trace('trace') as trace:
        for record in trace.records('fs'):
            print(record.time, record.op, record.text('path'), record['result'])

iotracer.h of libiotracer-dev is the manual: what is said there of errors, lifetime and threads holds
here. A record is valid until the next one is read. An error is raised as iotracer.Error.

    python3 -m iotracer TRACE CATEGORY...

prints records as JSON, one a line.
"""
import collections
import ctypes
import os
import sys

STATES = 'RUNNING', 'COMPLETE', 'LOSSY', 'ERROR', 'LIVE'
CODES = ('NO_MEMORY', 'INVALID', 'NOT_FOUND', 'DENIED', 'NO_MODULE', 'FOREIGN', 'UNREADABLE', 'GONE', 'BROKEN')

Field = collections.namedtuple('Field', 'name type kind unit text offset size')
Counts = collections.namedtuple('Counts', 'events lost missed')
Losses = collections.namedtuple('Losses', 'events lost missing damages')
Time = collections.namedtuple('Time', 'monotonic wall')


def _structure(fields):
    return type('Structure', (ctypes.Structure,), {'_fields_': [(f, ctypes.c_uint64) for f in fields._fields]})


_Counts, _Losses, _Time = _structure(Counts), _structure(Losses), _structure(Time)
_Report = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


def _library():
    """In a checkout the library is beside this directory; else the system finds it."""
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'libiotracer.so.0')
    return ctypes.CDLL(beside if os.path.exists(beside) else 'libiotracer.so.0')


_lib = _library()
_P, _S, _Z, _U = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64
_to = ctypes.POINTER

for _names, _result, _arguments in (
        ('version', _S, ()),
        ('error_code', ctypes.c_int, (_P,)),
        ('error_text', _S, (_P,)),
        ('error_free', None, (_P,)),
        ('event_at', _P, (_Z,)),
        ('event_find', _P, (_S,)),
        ('event_name event_text', _S, (_P,)),
        ('event_id', ctypes.c_uint, (_P,)),
        ('event_size', _Z, (_P,)),
        ('event_op', _S, (_P, ctypes.c_uint)),
        ('field_at', _P, (_P, _Z)),
        ('field_name field_type field_kind field_unit field_text', _S, (_P,)),
        ('field_offset field_size', _Z, (_P,)),
        ('trace_open trace_live', _P, (_S, _to(_P))),
        ('trace_close', None, (_P,)),
        ('trace_report', None, (_P, _Report, _P)),
        ('trace_state', ctypes.c_int, (_P,)),
        ('trace_reason trace_host trace_kernel', _S, (_P,)),
        ('trace_is_recorded trace_is_damaged', ctypes.c_bool, (_P,)),
        ('trace_begin trace_end', _Time, (_P,)),
        ('trace_wall', _U, (_P, _U)),
        ('trace_category', _S, (_P, _Z)),
        ('trace_counts', _P, (_P, _S, _to(_Counts))),
        ('trace_path', _P, (_P, _U, _to(_S))),
        ('cursor_open', _P, (_P, _to(_S), _Z, _to(_P))),
        ('cursor_close', None, (_P,)),
        ('cursor_limit', None, (_P, _U, _U)),
        ('cursor_next', _P, (_P, _to(_P))),
        ('cursor_losses', _Losses, (_P,)),
        ('cursor_header', _P, (_P, _S, _to(_S), _to(_Z))),
        ('record_event record_data', _P, (_P,)),
        ('record_category record_op', _S, (_P,)),
        ('record_time record_end', _U, (_P,)),
        ('record_command', _P, (_P, _to(_Z))),
        ('record_u64', ctypes.c_bool, (_P, _S, _to(_U))),
        ('record_s64', ctypes.c_bool, (_P, _S, _to(ctypes.c_int64))),
        ('record_text', _P, (_P, _S, _to(_S))),
        ('record_csv record_json', _P, (_P, _to(_S), _to(_Z)))):
    for _name in _names.split():
        _function = getattr(_lib, 'iotracer_' + _name)
        _function.restype, _function.argtypes = _result, _arguments


class Error(Exception):
    """What an iotracer_error says. @code: a name of CODES"""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def _check(error):
    if error:
        code, text = _lib.iotracer_error_code(error), _lib.iotracer_error_text(error)
        _lib.iotracer_error_free(error)
        raise Error(CODES[code - 1] if code <= len(CODES) else str(code), text.decode())


def _count(at):
    """The results of at(0), at(1) and so on, until one is None."""
    found = []
    while (one := at(len(found))) is not None:
        found.append(one)
    return found


class Event:
    """A kind of record: name, id, size, text, and fields, by their names."""

    def __init__(self, event):
        self._event = event
        self.name, self.text = (get(event).decode() for get in (_lib.iotracer_event_name, _lib.iotracer_event_text))
        self.id, self.size = _lib.iotracer_event_id(event), _lib.iotracer_event_size(event)
        self.fields = {}
        for field in _count(lambda i: _lib.iotracer_field_at(event, i)):
            values = [getattr(_lib, 'iotracer_field_' + name)(field) for name in Field._fields]
            described = Field(*(v.decode() if isinstance(v, bytes) else v for v in values))
            self.fields[described.name] = described

    def op(self, number):
        """The name of an operation, or None."""
        name = _lib.iotracer_event_op(self._event, number)
        return name and name.decode()

    def unpack(self, data, field):
        """A field of the bytes of a record: a number, the bytes before the first NUL, or all of an address of IP."""
        f = self.fields[field]
        part = data[f.offset:f.offset + f.size]
        if f.kind == 'ipaddr':
            return part
        return part.split(b'\0')[0] if f.type == 'char' else int.from_bytes(part, sys.byteorder, signed=f.type[0] == 's')


EVENTS = {event.name: event for event in map(Event, _count(_lib.iotracer_event_at))}


class Record:
    """record[FIELD] is a number, or bytes; text(FIELD) what export shows."""

    def __init__(self, record):
        self._record = record

    category = property(lambda self: _lib.iotracer_record_category(self._record).decode())
    op = property(lambda self: _lib.iotracer_record_op(self._record).decode())
    time = property(lambda self: _lib.iotracer_record_time(self._record))
    end = property(lambda self: _lib.iotracer_record_end(self._record))
    event = property(lambda self: EVENTS[_lib.iotracer_event_name(_lib.iotracer_record_event(self._record)).decode()])

    @property
    def data(self):
        return ctypes.string_at(_lib.iotracer_record_data(self._record), self.event.size)

    @property
    def command(self):
        length = _Z()
        at = _lib.iotracer_record_command(self._record, length)
        return at and ctypes.string_at(at, length.value)

    def __getitem__(self, field):
        value, below = _U(), ctypes.c_int64()
        if _lib.iotracer_record_u64(self._record, field.encode(), value):
            return value.value
        if _lib.iotracer_record_s64(self._record, field.encode(), below):
            return below.value
        return self.event.unpack(self.data, field)

    def text(self, field):
        text = _S()
        _check(_lib.iotracer_record_text(self._record, field.encode(), text))
        return text.value.decode()

    def _row(self, get):
        text, length = _S(), _Z()
        _check(get(self._record, text, length))
        return text.value.decode()

    def csv(self):
        return self._row(_lib.iotracer_record_csv)

    def json(self):
        return self._row(_lib.iotracer_record_json)


class Cursor:
    """Iterates over records. That of a stream ends when there is none now, and can be iterated again."""

    def __init__(self, trace, categories, begin, end):
        names = (_S * len(categories))(*(name.encode() for name in categories))
        self._cursor, self._trace = _P(), trace
        _check(_lib.iotracer_cursor_open(trace.handle(), names, len(names), self._cursor))
        trace.cursors.append(self)
        _lib.iotracer_cursor_limit(self._cursor, begin, end)

    def __iter__(self):
        return self

    def __next__(self):
        record = _P()
        _check(_lib.iotracer_cursor_next(self._handle(), record))
        if not record.value:
            raise StopIteration
        return Record(record)

    def _handle(self):
        if not self._cursor:
            raise ValueError('the cursor is closed')
        return self._cursor

    def header(self, category):
        text, length = _S(), _Z()
        _check(_lib.iotracer_cursor_header(self._handle(), category.encode(), text, length))
        return text.value.decode()

    @property
    def losses(self):
        found = _lib.iotracer_cursor_losses(self._handle())
        return Losses(*(getattr(found, name) for name in Losses._fields))

    def close(self):
        _lib.iotracer_cursor_close(self._cursor)
        self._cursor = _P()


class Trace:
    """
    A trace in a directory, or, if @live, the stream of a category or target of that name. @report is
    called with each line about what is missing.
    """

    def __init__(self, name, live=False, report=None):
        self._trace, self.cursors = _P(), []
        _check((_lib.iotracer_trace_live if live else _lib.iotracer_trace_open)(os.fsencode(name), self._trace))
        self._report = _Report(lambda _, line: report(line.decode())) if report else _Report()
        _lib.iotracer_trace_report(self._trace, self._report, None)

    def handle(self):
        if not self._trace:
            raise ValueError('the trace is closed')
        return self._trace

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the cursors, too."""
        for cursor in self.cursors:
            cursor.close()
        _lib.iotracer_trace_close(self._trace)
        self._trace, self.cursors = _P(), []

    state = property(lambda self: STATES[_lib.iotracer_trace_state(self.handle())])
    reason = property(lambda self: _lib.iotracer_trace_reason(self.handle()).decode())
    host = property(lambda self: _lib.iotracer_trace_host(self.handle()).decode())
    kernel = property(lambda self: _lib.iotracer_trace_kernel(self.handle()).decode())
    is_damaged = property(lambda self: _lib.iotracer_trace_is_damaged(self.handle()))
    is_recorded = property(lambda self: _lib.iotracer_trace_is_recorded(self.handle()))
    begin = property(lambda self: self._time(_lib.iotracer_trace_begin))
    end = property(lambda self: self._time(_lib.iotracer_trace_end))

    def _time(self, get):
        found = get(self.handle())
        return Time(found.monotonic, found.wall)

    @property
    def categories(self):
        return [name.decode() for name in _count(lambda i: _lib.iotracer_trace_category(self.handle(), i))]

    def wall(self, monotonic):
        return _lib.iotracer_trace_wall(self.handle(), monotonic)

    def counts(self, category):
        found = _Counts()
        _check(_lib.iotracer_trace_counts(self.handle(), category.encode(), found))
        return Counts(*(getattr(found, name) for name in Counts._fields))

    def path(self, number):
        """The path with an id, '' for 0, None if it is not known."""
        path = _S()
        _check(_lib.iotracer_trace_path(self.handle(), number, path))
        return None if path.value is None else path.value.decode()

    def records(self, *categories, begin=0, end=2**64 - 1):
        """A Cursor for these categories, or all, of events that began from wall time @begin on and before @end."""
        return Cursor(self, categories, begin, end)


def main(name, *categories):
    with Trace(name, report=lambda line: print(line, file=sys.stderr)) as trace:
        for record in trace.records(*categories):
            sys.stdout.write(record.json())


if __name__ == '__main__':
    main(*sys.argv[1:])
