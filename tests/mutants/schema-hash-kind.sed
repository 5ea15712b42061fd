# The kinds of fields are not in the hash of the schema.
# in: iot_schema_hash()
# tests: tool.bats the hash
s#hash = hash_string(hash, e->fields\[j\].kind);##
