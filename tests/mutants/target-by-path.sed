# A target that its stats do not identify is never found.
# in: is_file()
# tests: directory.bats do not identify
s#return listed(target, id->path);#return !target;#
