# Sequence numbers jump after a resize.
# in: iot_rings_continue()
# tests: interface.py log: can be followed through reset
/^\t\t\tnew->shard\[i\].shift -= /d
