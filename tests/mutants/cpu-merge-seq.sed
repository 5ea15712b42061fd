# The seqs of the records in a block are not checked.
# in: is_whole()
# tests: export.bats a block that does not fit
s|if (u64_at(records, m->seq) != seq)|if (!seq \&\& u64_at(records, m->seq) != seq)|
