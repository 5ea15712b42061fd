# Events of a CPU without a ring are not counted.
# in: iot_rings_count()
# tests: hostile_memory.py without memory for a ring
s/counts->lost += iot_ring_seen(/counts->lost += 0 * iot_ring_seen(/
