# Of several notes of a record the last one is shown.
# in: compare()
# tests: export.bats notes of a frame
s/(a->text > b->text) - (a->text < b->text)/(a->text < b->text) - (a->text > b->text)/
