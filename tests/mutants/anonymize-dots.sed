# ".." in a path is hashed.
# in: component()
# tests: export.bats anonymize: 
s/length <= 2 \&\& /length <= 1 \&\& /
