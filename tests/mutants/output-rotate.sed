# A file has one row more than --rotate allows.
# file: tools/output.h
# tests: export.bats export -o
s|o->rows >= o->rotate|o->rows > o->rotate|
