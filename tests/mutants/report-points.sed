# What is called durable stays so when events are missing.
# in: finish_points()
# tests: report.bats durability
s/!durability_is_sure(d)/false/
