# An anonymized trace has the names of threads in plain text.
# in: comm_make()
# tests: export.bats anonymize: names
s|if (p->anonymizer \&\& length)|if (p->anonymizer \&\& !length)|
