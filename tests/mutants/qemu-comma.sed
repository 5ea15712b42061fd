# Two commas in a value stand for one.
# in: next_word()
# tests: vm_images.bats of -drive
s|if (\*text == ',' \&\& text\[1\] != ',')|if (*text == ',')|
