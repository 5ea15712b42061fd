# A trace is not compressed in the end.
# file: tools/session.c
# tests: export.bats the metadata has the limits
s#s->options->compress == COMPRESS_END \&\&#0 \&\&#
