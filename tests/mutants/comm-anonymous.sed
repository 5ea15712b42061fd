# An anonymized trace has the names of threads in plain text.
# file: tools/record.c
# tests: export.bats anonymize: names
s|if (p->anonymizer \&\& length)|if (p->anonymizer \&\& !length)|
