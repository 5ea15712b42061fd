# What splice(2) takes is not recorded once more as the kernel's own.
# in: is_wanted()
# tests: net.py sendfile and splice
s/args\[2\] == of_splice || //
