# A file has a row more than --rotate says.
# file: tools/output.h
# tests: export.bats export -o
s|o->rows >= o->rotate|o->rows > o->rotate|
