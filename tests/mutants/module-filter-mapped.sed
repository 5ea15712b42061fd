# ::/0 includes the addresses of IPv4.
# in: iot_filter_addr()
# tests: net.py filters: by port
s/v4 == ipv6_addr_v4mapped(&f->addrs\[i\].ip)/(v4 || true)/
