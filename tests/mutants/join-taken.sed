# Bytes of a call are given to each request that asks for them.
# in: try_call()
# tests: join.bats same sector
s|		if (is_taken(j, c, bytes))|		if (0 \&\& is_taken(j, c, bytes))|
