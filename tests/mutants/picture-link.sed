# A picture takes the place of a link.
# in: is_taken()
# tests: histogram.bats a picture is a whole file
s/ && S_ISREG(st.st_mode)//
