# A driver's own requests count.
# file: tools/sums.c
# tests: receipt.bats requests and sectors
s/if (b->op == IOT_BLOCK_DRV_IN || b->op == IOT_BLOCK_DRV_OUT)/if (0)/
