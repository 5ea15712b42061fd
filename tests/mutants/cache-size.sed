# The size of the file is that of the event.
# file: tools/category_cache.c
# tests: columns.bats
s|.field = "file_pages"|.field = "pages"|
