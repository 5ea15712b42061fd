# Of several numbers only the first counts.
# in: iot_numbers_search()
# tests: category.py filters: by process
# tests: category.py filters: by file
s/return true/return false/
