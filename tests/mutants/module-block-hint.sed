# The hint on the life of written data is not recorded.
# in: note_bio()
# tests: fields.py queued requests
/^\te->hint = iot_bio_write_hint(bio);/d
