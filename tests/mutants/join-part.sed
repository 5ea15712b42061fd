# A request of which calls have a part is matched.
# in: match_data()
# tests: join.bats no call
s|if (covered == j->extents.needed) {|if (covered \|\| !j->extents.needed) {|
