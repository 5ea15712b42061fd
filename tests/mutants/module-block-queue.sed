# The time in the queue is not measured.
# file: module/probe/block.c
# tests: fields.bats queued requests
s/p->e.queue_latency += p->issue - p->insert;/p->e.queue_latency += 0;/
