# The number of a disk is that of its partition.
# in: note_device()
# tests: export_formats.bats export blktrace: numbers
s/disk->device -= b->partition/disk->device -= 0/
