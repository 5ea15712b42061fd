# Two commas in a value stand for one.
# file: tools/qemu_args.c
# tests: vm_images.bats of -drive
s|if (\*text == ',' \&\& text\[1\] != ',')|if (*text == ',')|
