# A call does not make the span of its request narrower.
# in: take()
# tests: join.bats each part
s|^	r->span = allowed(r, c);$||
