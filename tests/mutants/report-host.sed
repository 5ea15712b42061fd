# An anonymized trace has the name of the host.
# file: tools/report.c
# tests: export.bats anonymize: 
s#\*hidden ? hidden : NULL#NULL#
