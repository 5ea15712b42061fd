# A backing file may end before the disk does.
# in: image_chain_map()
# tests: vm_images.bats shorter backing
s|if (piece->length > image->size - guest)|if (0)|
