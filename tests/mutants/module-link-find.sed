# Of two files that were added under one path any is removed.
# file: module/proc/link.c
# tests: interface.py paths: a renamed file is removed
s/if (!t || link->t == t) {/if (1) {/
