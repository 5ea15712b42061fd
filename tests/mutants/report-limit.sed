# The limit of --size is not in the metadata.
# in: report_begin()
# tests: export.bats the metadata has the limits
s#json_put(s->metadata, "size_limit", .*#json_put(s->metadata, "size_limit", json_null());#
