# All disks are the first.
# in: add_disk()
# tests: stats.bats amplification
s/if (!strncmp(a->disks\[i\].name, b->disk, sizeof(b->disk)))/if (b)/
