# Any category's records are taken for those of fs.
# in: blocks_open()
# tests: directory.bats cannot read
s#b->stream.event->id != category->event_id#0#
