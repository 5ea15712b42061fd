# Claims a slot with a plain store, even if its state has changed since it was read.
s/cmpxchg(slot, old, iot_ring_busy(index)) == old/(WRITE_ONCE(*slot, iot_ring_busy(index)), true)/
