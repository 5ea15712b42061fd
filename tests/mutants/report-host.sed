# An anonymized trace has the name of the host.
# in: new_document()
# tests: export.bats anonymize: 
s#\*hidden ? hidden : NULL#NULL#
