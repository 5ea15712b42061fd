# Of a list of users only the last is kept.
# in: numbers_of()
# tests: tool.bats filter: names of users
s/all ? all : "", all ? "," : "", one/"", "", one/
