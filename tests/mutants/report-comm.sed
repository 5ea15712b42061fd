# An anonymized trace contains the thread name of the filter.
# file: tools/report.c
# tests: export.bats anonymize: 
s|s->options->anonymize ? strstr(filter, "comm=") : NULL|NULL|
