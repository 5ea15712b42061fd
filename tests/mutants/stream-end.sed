# Events of a category are sorted by their begin.
# in: sort()
# tests: tool.bats log of a category
s/by_end ? /0 ? /
