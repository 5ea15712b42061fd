# An anonymized trace contains the thread name of the filter.
# file: tools/report.c
# tests: export.bats anonymize: 
s|const char \*comm = strstr(filter, "comm=");|const char *comm = NULL;|
