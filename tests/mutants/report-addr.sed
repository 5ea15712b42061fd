# An address in the filter of an anonymized trace stays.
# in: hidden_addr()
# tests: export.bats anonymize: addresses, ports and paths
s/^\t\tanonymize_address(a/\t\tif (!a) anonymize_address(a/
