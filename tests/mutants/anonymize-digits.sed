# An extension may begin with a digit.
# in: extension()
# tests: export.bats anonymize: 
s|return n > 1 \&\& is_letter(name\[length - n + 1\]) ? n : 0;|return n > 1 ? n : 0;|
