# A request of which calls have a part is matched.
# file: tools/join_match.c
# tests: join.bats no call
s|if (covered == j->extents.needed) {|if (covered \|\| !j->extents.needed) {|
