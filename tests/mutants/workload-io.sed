# What a process did whose parent ended before it is not in the receipt.
# in: reap()
# tests: receipt.bats it waited for or not
s/w->io_unknown |= !kernel_io_add(\&w->io, info.si_pid);/if (info.si_pid == w->pid) &/
