# What is not selected is missing.
# in: timeline_put()
# tests: ctf.bats --filter
# tests: perfetto.bats --filter
s/__u64 missing = /if (!wanted)\n\t\treturn true;\n\t__u64 missing = /
