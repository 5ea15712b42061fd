# The byte in the file is that of the page before.
# in: note_buffered()
# tests: directories.py the bios of its files
s/e->offset = iot_bio_offset(bio, folio);/e->offset = iot_bio_offset(bio, folio) - PAGE_SIZE;/
