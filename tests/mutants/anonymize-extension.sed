# Extensions of any length are kept.
# in: anonymize.c
# tests: export.bats anonymize: 
s|EXTENSION_MAX 7|EXTENSION_MAX 70|
