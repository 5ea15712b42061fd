# A file has one row more than --rotate allows.
# in: output_is_full()
# tests: export.bats export -o
s|o->rows >= o->rotate|o->rows > o->rotate|
