# A key of 15 bytes is accepted.
# in: anonymize.c
# tests: export.bats anonymize: 
s|KEY_LEAST 16|KEY_LEAST 4|
