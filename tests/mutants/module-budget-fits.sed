# To ask whether memory suffices takes it.
# file: module/core/budget.c
# tests: category.py memory: a size above a limit
s/^\tif (fits)$/\tif (0 \&\& fits)/
