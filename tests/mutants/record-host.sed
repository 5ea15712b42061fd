# A merged trace shows the host as the trace.
# file: tools/record.c
# tests: traces_merge.bats the rows are those
s#p->source->trace : "?"#p->source->host : "?"#
