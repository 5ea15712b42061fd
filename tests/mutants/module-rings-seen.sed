# Of the two counts of a ring only the first is added to seen.
# in: iot_rings_count()
# tests: category.py modes: the newest
s/^\t\tadd(&stats->all, counts);/\t\tif (!class)\n\t\t\tadd(\&stats->all, counts);/
