# A FLUSH does not have the file whose fsync it is made for.
# in: note_cause()
# tests: operations.py a FLUSH of category block names the file
s/^\t\t\tnote_file(e, &p->synced, p->synced_size);/\t\t\t;/
