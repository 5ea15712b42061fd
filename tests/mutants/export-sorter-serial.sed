# Items of the same time may come out in any order.
# in: compare()
# tests: export_formats.bats do not fit in memory
s/return (a->serial > b->serial) - (a->serial < b->serial)/return (a->serial < b->serial) - (a->serial > b->serial)/
