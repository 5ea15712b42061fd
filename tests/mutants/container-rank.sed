# The first digits of an ID go before a name.
# in: container.c
# tests: tasks_host.bats goes before a name
s#BY_FIRST_DIGITS, BY_NAME#BY_NAME, BY_FIRST_DIGITS#
