# Commits without ordering the fill before the commit.
s/smp_store_release(slot, /WRITE_ONCE(*slot, /
