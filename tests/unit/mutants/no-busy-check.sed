# Claims a slot that an overtaken writer is still filling.
s/!(old & 1) && //
