# What is called durable stays so when events are missing.
# in: finish_points()
# tests: report.bats durability
s/nr_points \&\& !durability_is_sure(d)/nr_points \&\& false/
