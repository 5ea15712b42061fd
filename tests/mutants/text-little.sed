# A share of less than 0.01 % is shown as a number.
# in: text_share()
# tests: export.bats record: what is lost
s|percent < 0.01)|percent < 0.0)|
