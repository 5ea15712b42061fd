# The filter of a reader that was killed stays.
# in: iot_category_abandon()
# tests: record_ends.bats killed while recording all
s/^\tif (stopped && !IS_ERR(f))$/\tif (0)/
