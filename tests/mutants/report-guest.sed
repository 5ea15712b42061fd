# Positions on drives are those in the image.
# in: add_place()
# tests: report.bats offsets
s/part->guest, part->guest_length/part->host, part->length/
