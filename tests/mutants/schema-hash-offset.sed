# The offsets of fields are not in the hash of the schema.
# in: iot_schema_hash()
# tests: tool.bats the hash
s#hash = hash_number(hash, e->fields\[j\].offset);##
