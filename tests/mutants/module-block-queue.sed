# The time in the queue is not measured.
# in: request_issued()
# tests: fields.py queued requests
s/p->e.queue_latency += iot_clock_since(p->insert, p->issue);/p->e.queue_latency += 0;/
