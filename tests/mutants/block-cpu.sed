# The processor that completed a request stands for the one that made it.
# file: tools/category_block.c
# tests: columns.bats
s|.field = "submit_cpu"|.field = "cpu"|
