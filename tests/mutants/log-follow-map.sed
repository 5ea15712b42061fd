# A followed log has the places of an image that its first map has.
# in: vm/log_image.c
# tests: guest_terms.bats by the tables that the image has then
/^static void look(/,/^}/s/read_image(l);/l->known = now;/
