# A piece that begins within a cluster with subclusters ends where they do.
# in: decode_subclusters()
# tests: vm_images.bats within a cluster
s|piece->length = i \* size - inside;|piece->length = (i - first) * size;|
