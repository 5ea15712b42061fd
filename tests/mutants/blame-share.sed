# The rest of a division is lost.
# in: charge()
# tests: blame.bats without a rest
s/behind = .*;/behind = before + wait * inside->count[inside->owners[i]] \/ inside->sum;/
