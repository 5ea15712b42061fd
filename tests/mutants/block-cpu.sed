# The CPU that completed a request is shown as the one that submitted it.
# file: tools/category_block.c
# tests: columns.bats
s|.field = "submit_cpu"|.field = "cpu"|
