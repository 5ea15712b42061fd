# A share of almost all is all.
# file: tools/text.c
# tests: export.bats record: what is lost
s|percent > 99.99|percent > 100.99|
