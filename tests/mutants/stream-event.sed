# Any category's records are taken for those of fs.
# in: find_event()
# tests: directory.bats cannot read
s#s->event->id == s->category->event_id#1#
