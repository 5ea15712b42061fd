# A block for which there is no memory keeps its frame.
# in: hand_out()
# tests: library.bats each allocation may fail
s|^\t\t\tput_frame(m, f);$||
