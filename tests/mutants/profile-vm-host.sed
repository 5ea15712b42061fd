# Offsets are those of the image's file.
# in: add_parts()
# tests: profile_vm.bats hand
s/part->guest, part->guest_length, m)/part->host, part->length, m)/
