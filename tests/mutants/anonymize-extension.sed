# Extensions of any length are kept.
# file: tools/anonymize.c
# tests: export.bats anonymize: 
s|EXTENSION_MAX 7|EXTENSION_MAX 70|
