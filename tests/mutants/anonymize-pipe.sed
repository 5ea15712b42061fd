# A key that comes in pieces is its first piece.
# file: tools/anonymize.c
# tests: export.bats anonymize: 
s|if (!n \|\| (n < 0 \&\& err != EINTR))|if (1)|
