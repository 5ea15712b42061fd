# What a snapshot shares with the disk is data of the disk.
# file: tools/qcow2_host.c
# tests: vm_images.bats snapshot has
s|return a->use < b->use ? -1 : 1;|return a->use > b->use ? -1 : 1;|
