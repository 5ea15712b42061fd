# A bio whose call was printed before is not known to be all of it.
# in: vm/log_image.c
# tests: guest_terms.bats a bio finds its call
s/gone = l->printed - LOG_LOOK_BACK;/gone = l->printed;/
