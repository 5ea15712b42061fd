# The partition is always the whole disk.
# in: note_bio()
# tests: fields.py second partition
s/^\te->partition = .*;/\te->partition = 0;/
