# What was overwritten before a resize is forgotten.
# in: ring_replace()
# tests: interface.py a change of max_events keeps
/^\tt->carried += old_end - old->first;/d
