# The filter of a reader that was killed stays.
# in: iot_category_abandon()
# tests: record_ends.bats killed while recording all
s/old = replace_filter(c, none, &why);/old = 0 ? replace_filter(c, none, \&why) : NULL;/
