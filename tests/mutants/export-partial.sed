# --partial is ignored.
# in: check_judge()
# tests: export.bats no failure with --partial
s#!c->damaged || partial#!c->damaged || (partial \&\& 0)#
