# The first write to a range is the one whose data a request has.
# in: story_call()
# tests: path.bats whose data
s/call->begin >= s->writer.event.begin/call->begin < s->writer.event.begin/
