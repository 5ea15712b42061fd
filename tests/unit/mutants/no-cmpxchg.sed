# Claims a slot by a plain store, whatever came since the look at its state.
s/cmpxchg(slot, old, iot_ring_busy(index)) == old/(WRITE_ONCE(*slot, iot_ring_busy(index)), true)/
