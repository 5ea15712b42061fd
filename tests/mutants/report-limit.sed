# The limit of --size is not in the metadata.
# file: tools/report.c
# tests: export.bats the metadata has the limits
s#json_put(s->metadata, "size_limit", .*#json_put(s->metadata, "size_limit", json_null());#
