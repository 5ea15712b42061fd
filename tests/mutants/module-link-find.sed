# Of two files that were added under one path any is removed.
# in: iot_link_find()
# tests: interface.py paths: a renamed file is removed
s/if (!t || link->t == t) {/if (1) {/
