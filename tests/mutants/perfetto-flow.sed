# A request's slice has another flow than the moment at which it was made.
# in: put_request()
# tests: perfetto.bats worked out by hand
s/s->flow = ++p->flows;/s->flow = ++p->flows; ++p->flows;/; s/EVENT_FLOW, s->flow))$/EVENT_FLOW, p->flows))/
