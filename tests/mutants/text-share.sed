# A share just below 100 % is shown as 100 %.
# in: text_share()
# tests: export.bats record: what is lost
s|percent > 99.99|percent > 100.99|
