# The schema of the module is not compared.
# in: header_matches()
# tests: export.bats record: a module of another schema
s#h->schema == iot_schema_hash()#h->schema != 0#
