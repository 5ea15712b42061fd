# Sequence numbers of a log start anew after a change of size.
# in: iot_rings_continue()
# tests: category.py stream: gaps are exact after reset
s/^\t\t\tnew->shard\[i\].shift += .*/\t\t\tnew->shard[i].shift += 0;/
