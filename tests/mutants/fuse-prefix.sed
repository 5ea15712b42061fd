# A path is below a directory whose name its own begins with.
# file: tools/fuse.c
# tests: directory.bats not below
s#return name->text\[d->length\] == '/' ? \(.*\) : NULL;#return \1;#
