# Of two files that were added under one path any is removed.
# in: iot_target_path_find()
# tests: interface.py paths: a renamed file is removed
s/if (!t || tp->t == t) {/if (1) {/
