# If events are missing, nothing is called durable.
# in: state_of()
# tests: durability.bats missing
s/ && !is_sure(env)/ \&\& !env/
