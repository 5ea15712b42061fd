# ".." in a path is hashed.
# file: tools/anonymize.c
# tests: export.bats anonymize: 
s/length <= 2 \&\& /length <= 1 \&\& /
