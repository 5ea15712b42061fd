# The column of the file size shows the size of the event.
# file: tools/category_cache.c
# tests: columns.bats
s|.field = "file_pages"|.field = "pages"|
