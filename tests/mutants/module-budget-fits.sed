# To ask whether memory suffices takes it.
# in: iot_budget_fits()
# tests: category.py memory: a size above a limit
s/^\tif (fits)$/\tif (0 \&\& fits)/
