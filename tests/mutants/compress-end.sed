# A trace is not compressed in the end.
# in: finish()
# tests: export.bats the metadata has the limits
s#s->options->compress == COMPRESS_END \&\&#0 \&\&#
