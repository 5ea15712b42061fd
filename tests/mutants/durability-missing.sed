# If events are missing, nothing is called durable.
# in: durability_state()
# tests: durability.bats missing
s/ && !durability_is_sure(d)/ \&\& !d/
