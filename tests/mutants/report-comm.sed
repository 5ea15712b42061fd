# An anonymous trace has the name that was filtered by.
# file: tools/report.c
# tests: export.bats anonymize: 
s|s->options->anonymize ? strstr(filter, "comm=") : NULL|NULL|
