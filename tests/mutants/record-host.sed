# A merged trace shows the host as the trace.
# in: put_trace()
# tests: traces_merge.bats the rows are those
s#p->source->trace : "?"#p->source->host : "?"#
