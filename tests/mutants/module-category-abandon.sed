# The filter of a reader that was killed stays.
# file: module/record/category.c
# tests: record.bats killed while recording all
s/^\tif (iot_category_set_filter(c, none, &why))/\tif (0 \&\& iot_category_set_filter(c, none, \&why))/
