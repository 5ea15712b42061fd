# Of a list of users only the last is kept.
# in: numbers_of()
# tests: tool.bats filter: names of users
s/text_append(all, ",", one)/text_append(NULL, ",", one)/
