# Reset of a category leaves T0.
# in: iot_log_reset()
# tests: category.py T0 is when the category
s/^\t\tif (new_t0)$/\t\tif (0 \&\& new_t0)/
