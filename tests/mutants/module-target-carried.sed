# What was seen before a resize is forgotten.
# in: iot_rings_carry()
# tests: interface.py a change of max_events keeps
/^\t\tto->earlier\[class\] = /d
