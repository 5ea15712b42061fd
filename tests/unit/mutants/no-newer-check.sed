# Claims a slot that holds a newer record already.
s/ && old < iot_ring_committed(index)//
