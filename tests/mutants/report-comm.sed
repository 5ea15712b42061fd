# An anonymized trace contains the thread name of the filter.
# in: hidden_filter()
# tests: export.bats anonymize: 
s|const char \*comm = strstr(filter, "comm=");|const char *comm = NULL;|
