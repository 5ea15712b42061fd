# The offsets of fields are not in the hash of the schema.
# file: module/core/schema.c
# tests: tool.bats the hash
s#hash = hash_number(hash, e->fields\[j\].offset);##
