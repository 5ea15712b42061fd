# Claims a slot with a plain store, even if its state has changed since it was read.
s/try_cmpxchg(slot, &old, iot_ring_busy(index))/(WRITE_ONCE(*slot, iot_ring_busy(index)), true)/
