# A path is below a directory whose name its own begins with.
# in: rest_below()
# tests: directory.bats not below
s#return name->text\[d->length\] == '/' ? \(.*\) : NULL;#return \1;#
