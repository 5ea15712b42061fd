# A file is prepared as large as the last read that is exported.
# in: set_range()
# tests: export_formats.bats export fio: fio moves
s/ \&\& offset + length > s->files\[item->file\]\.size//
