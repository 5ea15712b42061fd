# Names that differ in an escaped character only are one file of a replay.
# in: is_plain()
# tests: export_formats.bats export fio: names
s/!strchr("!%/!strchr("!/
