# Only the first piece of a key that arrives in pieces is used.
# file: tools/anonymize.c
# tests: export.bats anonymize: 
s|if (!n \|\| (n < 0 \&\& err != EINTR))|if (1)|
