# Sequence numbers of a category start anew after size.
# in: iot_rings_continue()
# tests: category.py stream: gaps are exact after reset
s/^\t\t\tnew->shard\[cpu\].shift += .*/\t\t\tnew->shard[cpu].shift += 0;/
