# Spark is given partitions before the options.
# in: put_spark()
# tests: fleet.bats in its language
s/USING CSV/USING/
