# A record has the note of the same seq of another CPU.
# in: notes_find()
# tests: export.bats notes of a frame
s/n->entries\[low\].cpu != cpu || //
