# A driver's own requests count.
# in: add_block()
# tests: receipt.bats requests and sectors
s/if (b->op == IOT_BLOCK_DRV_IN || b->op == IOT_BLOCK_DRV_OUT)/if (0)/
