# Events of a category are sorted by their begin.
# in: compare()
# tests: tool.bats log of a category
s/u64_at(a, o->time) + u64_at(a, o->latency)/u64_at(a, o->time)/
s/u64_at(b, o->time) + u64_at(b, o->latency)/u64_at(b, o->time)/
