# The blocks that were touched are those that were written.
# in: add_pages()
# tests: stats.bats working sets
s/file.owner++;/;/
