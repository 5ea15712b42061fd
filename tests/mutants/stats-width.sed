# A long name is as wide as it is.
# in: key_text_put_line()
# tests: stats.bats 80 columns
s/width_of(label) <= KEY_TEXT_WIDTH/1/
