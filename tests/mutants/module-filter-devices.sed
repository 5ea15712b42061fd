# Of several devices only the first counts.
# in: iot_filter_has_dev()
# tests: category.py filters: by file
s/i < f->nr_devs; i++/i < 1; i++/
