# A send that is an answer counts as one behind another.
# in: add_net()
# tests: findings.bats sockets: each rule
s/if (c->sent && /if (/
