# The kernel takes data from a socket without a receive.
# in: is_wanted()
# tests: net_ways.py NVMe over TCP
s/return iot_category_wants(category, IOT_NET_RECV);/return site->tag != TAG_READ_SOCK \&\& iot_category_wants(category, IOT_NET_RECV);/
