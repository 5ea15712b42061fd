# A stream may have several cursors, of which each gets some records.
# in: check_categories()
# tests: library.bats a stream is read
s|&& t->live.is_read|\&\& false|
