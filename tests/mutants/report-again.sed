# Damage is reported each time that a category is read.
# in: pass_reader_open_again()
# tests: report.bats missing
s/reader.quiet = true/reader.quiet = false/
