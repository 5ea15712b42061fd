# A quote in the path of a tree ends the text.
# in: put_quoted()
# tests: fleet.bats can be anywhere
s/else if (\*text == .*/else if (0)/
