# The kinds of fields are not in the hash of the schema.
# file: module/core/schema.c
# tests: tool.bats the hash
s#hash = hash_string(hash, e->fields\[j\].kind);##
