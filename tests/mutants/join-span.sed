# A call does not make the span of its request narrower.
# file: tools/join_match.c
# tests: join.bats each part
s|^	r->span = allowed(r, c);$||
