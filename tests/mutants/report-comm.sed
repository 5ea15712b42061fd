# An anonymized trace contains the thread name of the filter.
# in: hidden_condition()
# tests: export.bats anonymize: 
s|strlen(hidden\[i\].key) != length|!strcmp(hidden[i].key, "comm") \|\| strlen(hidden[i].key) != length|
