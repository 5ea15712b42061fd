# Copies without ordering the first look at the state before the copy.
s/smp_load_acquire(slot)/READ_ONCE(*slot)/
