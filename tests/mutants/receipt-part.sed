# A trace that has more than the kernel counts is taken for a part of it.
# in: verdict()
# tests: receipt.bats less or equal
s/	if (c->kernel < c->trace)/	if (0)/
