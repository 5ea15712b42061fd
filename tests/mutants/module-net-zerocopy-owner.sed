# A notification is the sender's, not of the task that an interrupt has interrupted.
# in: record()
# tests: net_ways.py MSG_ZEROCOPY: a notification that comes later
s/iot_net_record_owner(&r, &owner, /iot_net_record(\&r, /
