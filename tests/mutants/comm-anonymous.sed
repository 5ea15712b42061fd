# A hashed trace has the names of threads.
# file: tools/record.c
# tests: export.bats anonymize: names
s|if (p->anonymizer \&\& length)|if (p->anonymizer \&\& !length)|
