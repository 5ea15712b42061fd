# What a snapshot shares with the disk is data of the disk.
# in: compare()
# tests: vm_images.bats snapshot has
s|return a->use < b->use ? -1 : 1;|return a->use > b->use ? -1 : 1;|
