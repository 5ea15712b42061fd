# SPDX-License-Identifier: GPL-2.0
"""
Reads a Perfetto trace as its trace processor does: protoc and python3-protobuf decode the packets, events are
sorted by time, and the slices of a track nest: an end is that of the last one that began.
"""
import importlib
import os
import subprocess
import sys

MONOTONIC, REALTIME = 3, 1
CLEARED, NEEDED = 1, 2
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def messages(place='.'):
    """The module that protoc makes."""
    here = os.path.dirname(__file__)
    if not os.path.exists(f'{place}/perfetto_pb2.py'):
        subprocess.run(['protoc', f'--proto_path={here}', f'--python_out={place}', 'perfetto.proto'], check=True)
    sys.path.insert(0, place)
    return importlib.import_module('perfetto_pb2')


class Slice:
    def __init__(self, track, time, category, name, arguments, flows, parent):
        self.track, self.time, self.category, self.name = track, time, category, name
        self.arguments, self.flows, self.parent = arguments, flows, parent
        self.duration = 0


def unknown_fields(message, where=''):
    """The numbers of fields that perfetto.proto does not have."""
    from google.protobuf import unknown_fields as module  # pylint: disable=import-outside-toplevel
    for field in module.UnknownFieldSet(message):
        yield f'{where}{field.field_number}'
    for field, value in message.ListFields():
        if field.message_type:
            for one in value if field.label == field.LABEL_REPEATED else [value]:
                yield from unknown_fields(one, f'{where}{field.name}.')


class Trace:
    def __init__(self, data):
        self.trace = messages().Trace.FromString(data)
        self.names = {}     # (namespace, number): text
        self.tracks = {}    # uuid: the last descriptor
        self.slices = []    # with instants, whose duration is 0
        self.counters = {}  # uuid: [(time, value)]
        self.clocks = []    # {clock: time}
        self.system = None
        self.events = []
        self.begun = False
        for packet in self.trace.packet:
            self.packet(packet)
        self.sort()

    def packet(self, packet):
        assert packet.trusted_packet_sequence_id == 1, packet
        if packet.sequence_flags & CLEARED:
            assert not self.begun and packet.trace_packet_defaults.timestamp_clock_id == MONOTONIC, packet
            self.begun = True
        assert self.begun, packet  # a reader leaves out what comes before
        if packet.HasField('clock_snapshot'):
            assert packet.clock_snapshot.primary_trace_clock == MONOTONIC, packet
            self.clocks.append({clock.clock_id: clock.timestamp for clock in packet.clock_snapshot.clocks})
        if packet.HasField('system_info'):
            self.system = packet.system_info
        if packet.HasField('track_descriptor'):
            new = packet.track_descriptor
            assert not new.HasField('parent_uuid') or new.parent_uuid in self.tracks, new
            self.tracks[new.uuid] = new
        for kind, names in packet.interned_data.ListFields():
            for name in names:
                assert (kind.name, name.iid) not in self.names, name
                self.names[kind.name, name.iid] = name.name
        if packet.HasField('track_event'):
            assert packet.timestamp and packet.track_event.track_uuid in self.tracks, packet
            self.events.append((packet.timestamp, packet.track_event, self.arguments(packet.track_event)))

    def arguments(self, event):
        """What numbers stand for is known when the packet comes."""
        found = {}
        for argument in event.debug_annotations:
            (_, name), (kind, value) = argument.ListFields()
            if kind.name == 'string_value_iid':
                value = self.names['debug_annotation_string_values', value]
            name = self.names['debug_annotation_names', name]
            assert name not in found, (name, event)
            found[name] = value
        return found

    def sort(self):
        stacks = {}
        for time, event, arguments in sorted(self.events, key=lambda e: e[0]):
            stack = stacks.setdefault(event.track_uuid, [])
            if event.type == COUNTER:
                self.counters.setdefault(event.track_uuid, []).append((time, event.counter_value))
            elif event.type == END:
                one = stack.pop()
                one.duration = time - one.time
            else:
                category, = event.category_iids
                one = Slice(event.track_uuid, time, self.names['event_categories', category],
                            self.names['event_names', event.name_iid], arguments, list(event.flow_ids),
                            stack[-1] if stack else None)
                self.slices.append(one)
                if event.type == BEGIN:
                    stack.append(one)
        assert not any(stacks.values()), stacks

    def name(self, uuid):
        """The names of a track and of those above it."""
        track = self.tracks[uuid]
        name = track.name or track.thread.thread_name or track.process.process_name
        return (self.name(track.parent_uuid) if track.parent_uuid else ()) + (name,)

    def thread(self, uuid):
        """(pid, tid) of the thread that a track is of, or below of; None if it is of none."""
        track = self.tracks[uuid]
        if track.HasField('thread'):
            return track.thread.pid, track.thread.tid
        return self.thread(track.parent_uuid) if track.parent_uuid else None
