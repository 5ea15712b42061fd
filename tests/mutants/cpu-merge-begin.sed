# Events are ordered by their begin instead of their end.
# in: end_of()
# tests: export.bats CSV: order
# tests: export.bats events of many CPUs
s|u64_at(record, m->time) + u64_at(record, m->latency)|u64_at(record, m->time)|
