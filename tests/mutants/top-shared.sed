# A category that is traced already is taken.
# in: control_started()
# tests: top.bats traced already
s/!strncmp(text, "start\\n", 6)/!strncmp(text, "begin\\n", 6)/
